import Foundation

/// All versions of one data model: an `.xcdatamodeld` folder, or a single `.xcdatamodel`.
public struct ModelBundle: Sendable, Equatable {
  /// The folder it was read from.
  public var path: String
  /// The folder's name without extension.
  public var name: String
  /// The versions, by name, numbers compared by value: "Model 2" before "Model 10".
  public var versions: [ManagedObjectModel]
  /// The version that `.xccurrentversion` names, without extension; nil when there is no such file.
  public var currentVersion: String?

  /// Makes a bundle.
  public init(path: String, name: String, versions: [ManagedObjectModel], currentVersion: String? = nil) {
    self.path = path
    self.name = name
    self.versions = versions
    self.currentVersion = currentVersion
  }
}

/// Reads the data models that Xcode writes.
public enum ModelReader {
  /// Reads an `.xcdatamodeld`, an `.xcdatamodel`, or every one of them below a folder, in sorted order.
  ///
  /// Throws ``BatchError`` with the code `badModel` when a model cannot be read or none is found. Nothing is
  /// validated beyond the file format: see ``ManagedObjectModel/validate()``.
  public static func read(path: String) throws -> [ModelBundle] {
    guard PackageFolders.isFolder(path) else {
      throw BatchError(
        .badModel, "there is no data model here", hint: "Name an .xcdatamodeld or a folder that holds one", path: path)
    }
    let folders = try PackageFolders.find(["xcdatamodeld", "xcdatamodel"], below: path, code: .badModel)
    guard !folders.isEmpty else {
      throw BatchError(
        .badModel, "the folder holds no .xcdatamodeld and no .xcdatamodel", hint: "Name another folder", path: path)
    }
    return try folders.map(bundle)
  }

  private static func bundle(_ path: String) throws -> ModelBundle {
    if (path as NSString).pathExtension == "xcdatamodel" {
      return ModelBundle(path: path, name: PackageFolders.stem(path), versions: [try version(path)])
    }
    let folders = try PackageFolders.folders(in: path, code: .badModel)
      .filter { ($0 as NSString).pathExtension == "xcdatamodel" }
    guard !folders.isEmpty else {
      throw BatchError(.badModel, "the model holds no version (.xcdatamodel)", path: path)
    }
    let versions = try folders.map(version).sorted { NaturalOrder.precedes($0.name, $1.name) }
    return ModelBundle(
      path: path, name: PackageFolders.stem(path), versions: versions, currentVersion: try currentVersion(path))
  }

  private static func version(_ path: String) throws -> ManagedObjectModel {
    let file = path + "/contents"
    if FileManager.default.fileExists(atPath: file) {
      return try ModelXMLReader.read(file, name: PackageFolders.stem(path))
    }
    if FileManager.default.fileExists(atPath: path + "/elements") {
      throw BatchError(
        .badModel, "this version is in the binary format that Xcode wrote before version 4",
        hint: "Open it in Xcode and save it, so that it gets a file named contents", path: path)
    }
    throw BatchError(.badModel, "this version has no file named contents", path: path)
  }

  private struct CurrentVersion: Decodable {
    var name: String?
    enum CodingKeys: String, CodingKey { case name = "_XCCurrentVersionName" }
  }

  private static func currentVersion(_ bundle: String) throws -> String? {
    let path = bundle + "/.xccurrentversion"
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    let data = try XMLFile.contents(of: path, code: .badModel)
    do {
      return try PropertyListDecoder().decode(CurrentVersion.self, from: data).name.map(PackageFolders.stem)
    } catch {
      throw BatchError(
        .badModel, "the file that names the current version is damaged", hint: "Choose the current version in Xcode",
        path: path, cause: error)
    }
  }
}
