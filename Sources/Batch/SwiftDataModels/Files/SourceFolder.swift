import CoreDataModel
import Foundation
import RunSupport

/// The files of Swift in a folder.
enum SourceFolder {
  private static let greatestDepth = 32
  /// What others made: packages, and what a build leaves.
  private static let left: Set<String> = ["Pods", "Carthage", "DerivedData", "Tests"]

  /// The files below a folder, sorted; of a package neither its tests nor its manifest.
  static func files(below path: String) throws -> [String] {
    var files: [String] = []
    let isPackage = FileManager.default.fileExists(atPath: path + "/Package.swift")
    try add(path, depth: 0, isPackage: isPackage, to: &files)
    return files
  }

  private static func add(_ path: String, depth: Int, isPackage: Bool, to files: inout [String]) throws {
    guard depth < greatestDepth else {
      throw BatchError(.badModel, "folders are nested more than \(greatestDepth) deep", path: path)
    }
    files += try PackageFolders.files(in: path, code: .badModel).filter { isSource($0, isPackage: isPackage) }
    guard files.count <= SourceText.mostFiles else {
      throw BatchError(
        .badModel, "the folder holds more than \(SourceText.mostFiles.grouped) files of Swift",
        hint: "Name the folder of the models alone", path: path)
    }
    for folder in try PackageFolders.folders(in: path, code: .badModel) where isWanted(folder, isPackage: isPackage) {
      try add(folder, depth: depth + 1, isPackage: isPackage, to: &files)
    }
  }

  /// Whether a path inside a folder is one of its sources.
  static func isSource(_ path: String, isPackage: Bool) -> Bool {
    let name = (path as NSString).lastPathComponent
    return name.hasSuffix(".swift") && !(isPackage && name.hasPrefix("Package") && !path.contains("Sources/"))
  }

  /// Whether the folders of a path may hold sources.
  static func isWanted(_ path: String, isPackage: Bool) -> Bool {
    let name = (path as NSString).lastPathComponent
    return !name.hasPrefix(".") && !(left.contains(name) && (isPackage || name != "Tests"))
  }

  /// Whether there is a file of Swift in it or below.
  static func holdsSwift(_ path: String) -> Bool { (try? files(below: path))?.isEmpty == false }
}
