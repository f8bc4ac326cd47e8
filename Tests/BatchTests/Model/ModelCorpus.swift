import Foundation

@testable import CoreDataModel
@testable import RunSupport

/// Real models, mapping models and stores made by others. They are no part of the repository: tests that need them are
/// enabled only where they are found, by the variable GODWIT_CORPUS or above this file.
enum ModelCorpus {
  static let missing = "no corpus of real models: set GODWIT_CORPUS to its folder"

  static let root: String? = {
    if let path = ProcessInfo.processInfo.environment["GODWIT_CORPUS"] { return path }
    var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    while folder.path != "/" {
      let candidate = folder.appendingPathComponent("shared/corpus").path
      if FileManager.default.fileExists(atPath: candidate) { return candidate }
      folder = folder.deletingLastPathComponent()
    }
    return nil
  }()

  static var isPresent: Bool { root != nil }

  static func path(_ relative: String) throws -> String {
    guard let root else { throw BatchError(.failed, missing) }
    return root + "/" + relative
  }

  /// The rows of a table, by column name.
  static func table(_ path: String) throws -> [[String: String]] {
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    guard let header = lines.first else { return [] }
    let names = header.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    return lines.dropFirst().map { line in
      let values = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      return Dictionary(zip(names, values), uniquingKeysWith: { first, _ in first })
    }
  }

  /// Folders with this extension, relative to the folder `below`, sorted.
  static func folders(_ pathExtension: String, below: String) throws -> [String] {
    let base = try path(below)
    let names = FileManager.default.enumerator(atPath: base)?.compactMap { $0 as? String } ?? []
    return names.filter { ($0 as NSString).pathExtension == pathExtension }.sorted().map { "\(below)/\($0)" }
  }

  /// Every version in XML, by `owner+name/Bundle.xcdatamodeld/Version.xcdatamodel`.
  static let versions: [String: ManagedObjectModel] = {
    var found: [String: ManagedObjectModel] = [:]
    for folder in (try? folders("xcdatamodel", below: "models")) ?? [] {
      guard let path = try? path(folder), FileManager.default.fileExists(atPath: path + "/contents"),
        let model = try? ModelReader.read(path: path).first?.versions.first
      else { continue }
      found[String(folder.dropFirst("models/".count))] = model
    }
    return found
  }()

  /// Hashes of every version, by the same keys.
  static let hashes: [String: [String: [UInt8]]] = versions.mapValues(\.versionHashes)
}
