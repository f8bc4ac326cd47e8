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
  private static let greatestDepth = 32

  /// Reads an `.xcdatamodeld`, an `.xcdatamodel`, or every one of them below a folder, in sorted order.
  ///
  /// Throws ``BatchError`` with the code `badModel` when a model cannot be read or none is found. Nothing is
  /// validated beyond the file format: see ``ManagedObjectModel/validate()``.
  public static func read(path: String) throws -> [ModelBundle] {
    guard isFolder(path) else {
      throw BatchError(
        .badModel, "there is no data model here", hint: "Name an .xcdatamodeld or a folder that holds one", path: path)
    }
    let bundles = try bundles(below: path, depth: 0)
    guard !bundles.isEmpty else {
      throw BatchError(
        .badModel, "the folder holds no .xcdatamodeld and no .xcdatamodel", hint: "Name another folder", path: path)
    }
    return bundles
  }

  private static func bundles(below path: String, depth: Int) throws -> [ModelBundle] {
    switch (path as NSString).pathExtension {
    case "xcdatamodeld": return [try bundle(path)]
    case "xcdatamodel": return [ModelBundle(path: path, name: stem(path), versions: [try version(path)])]
    default: break
    }
    guard depth < greatestDepth else {
      throw BatchError(.badModel, "folders are nested more than \(greatestDepth) deep", path: path)
    }
    return try folders(in: path).flatMap { try bundles(below: $0, depth: depth + 1) }
  }

  private static func bundle(_ path: String) throws -> ModelBundle {
    let folders = try folders(in: path).filter { ($0 as NSString).pathExtension == "xcdatamodel" }
    guard !folders.isEmpty else {
      throw BatchError(.badModel, "the model holds no version (.xcdatamodel)", path: path)
    }
    let versions = try folders.map(version).sorted { NaturalOrder.precedes($0.name, $1.name) }
    return ModelBundle(path: path, name: stem(path), versions: versions, currentVersion: try currentVersion(path))
  }

  private static func version(_ path: String) throws -> ManagedObjectModel {
    let file = path + "/contents"
    if FileManager.default.fileExists(atPath: file) { return try ModelXMLReader.read(file, name: stem(path)) }
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
      return try PropertyListDecoder().decode(CurrentVersion.self, from: data).name.map(stem)
    } catch {
      throw BatchError(
        .badModel, "the file that names the current version is damaged", hint: "Choose the current version in Xcode",
        path: path, cause: error)
    }
  }

  /// Visible folders, sorted. Links to folders are not followed: they could form a ring.
  private static func folders(in path: String) throws -> [String] {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
      throw BatchError(.badModel, "the folder cannot be read", path: path, cause: error)
    }
    return names.filter { !$0.hasPrefix(".") }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      .map { (path as NSString).appendingPathComponent($0) }
      .filter { FileManager.default.fileType($0) == .typeDirectory }
  }

  private static func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }

  private static func stem(_ path: String) -> String {
    ((path as NSString).lastPathComponent as NSString).deletingPathExtension
  }
}

extension FileManager {
  /// The type of what the path names, without following a link.
  func fileType(_ path: String) -> FileAttributeType? {
    (try? attributesOfItem(atPath: path))?[.type] as? FileAttributeType
  }
}
