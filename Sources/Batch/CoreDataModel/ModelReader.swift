import Codecs
import Foundation
import RunSupport

/// All versions of one data model: an `.xcdatamodeld` or `.momd` folder, or a single `.xcdatamodel` or `.mom`.
public struct ModelBundle: Sendable, Equatable {
  /// The folder or file it was read from.
  public var path: String
  /// The folder's name without extension.
  public var name: String
  /// The versions: first the one that has the bundle's name, as the first that Xcode makes has, then by name, numbers
  /// compared by value: "Model 2" before "Model 10".
  public var versions: [ManagedObjectModel]
  /// The version that `.xccurrentversion` or `VersionInfo.plist` names, without extension; nil when there is no such
  /// file.
  public var currentVersion: String?
  /// What in a compiled model contradicts itself, such as version hashes in `VersionInfo.plist` that do not follow from
  /// the version; each names version and entities.
  public var warnings: [String] = []
  /// What the sources say about steps between the versions.
  package var migrations = DeclaredMigrations()
  /// What commands name after `--models` to read the bundle again.
  package var paths: [String]
  /// Their options besides `--models` that it needs.
  package var options: [String] = []

  /// Makes a bundle.
  public init(path: String, name: String, versions: [ManagedObjectModel], currentVersion: String? = nil) {
    self.path = path
    paths = [path]
    self.name = name
    self.versions = versions
    self.currentVersion = currentVersion
  }

  /// What is wrong if the current version is none of the versions; nil if it is one, or if no file names one.
  package var lostVersion: String? {
    guard let currentVersion, !versions.contains(where: { $0.name == currentVersion }) else { return nil }
    return "the current version \(currentVersion) is not in the model"
  }
}

/// Reads the data models that Xcode writes, sources and compiled ones.
public enum ModelReader {
  /// What is a model: folders of versions and single versions, as sources and compiled.
  package static let extensions: Set<String> = ["xcdatamodeld", "xcdatamodel", "momd", "mom"]

  /// Reads an `.xcdatamodeld`, an `.xcdatamodel`, a `.momd`, a `.mom`, or every one of them below a folder, in sorted
  /// order.
  ///
  /// Nothing is validated beyond the file format: see ``ManagedObjectModel/validate()``.
  ///
  /// - Throws: ``BatchError`` with the code `badModel` when a model cannot be read or none is found.
  public static func read(path: String) throws -> [ModelBundle] { try documents(below: path).map(bundle) }

  /// The paths of the models that ``read(path:)`` reads.
  package static func documents(below path: String) throws -> [String] {
    let isFile = (path as NSString).pathExtension == "mom" && FileManager.default.fileExists(atPath: path)
    guard PackageFolders.isFolder(path) || isFile else {
      try PackageFolders.refuseMissing(path)
      throw BatchError(
        .badModel, "there is no data model here",
        hint: "Name an .xcdatamodeld, a .momd, a .mom, a folder that holds one, or a store that carries its model",
        path: path)
    }
    let documents = try PackageFolders.find(extensions, below: path, code: .badModel)
    guard !documents.isEmpty else {
      throw BatchError(
        .badModel, "the folder holds no .xcdatamodeld, .xcdatamodel, .momd or .mom", hint: "Name another folder",
        path: path)
    }
    return documents
  }

  /// Reads the model at a path that ``documents(below:)`` gives.
  package static func bundle(_ path: String) throws -> ModelBundle {
    switch (path as NSString).pathExtension {
    case "xcdatamodel":
      return ModelBundle(path: path, name: PackageFolders.stem(path), versions: [try version(path)])
    case "mom":
      return ModelBundle(path: path, name: PackageFolders.stem(path), versions: [try CompiledModelFile.read(path)])
    case "momd": return try CompiledModelFile.readBundle(path)
    default: break
    }
    let folders = try PackageFolders.folders(in: path, code: .badModel)
      .filter { ($0 as NSString).pathExtension == "xcdatamodel" }
    guard !folders.isEmpty else {
      throw BatchError(.badModel, "the model holds no version (.xcdatamodel)", path: path)
    }
    let texts = EntityTexts()
    let name = PackageFolders.stem(path)
    let versions = NaturalOrder.versions(
      try folders.concurrentMap { try version($0, texts) }, of: name, name: \.name)
    return ModelBundle(path: path, name: name, versions: versions, currentVersion: try currentVersion(path))
  }

  private static func version(_ path: String, _ texts: EntityTexts? = nil) throws -> ManagedObjectModel {
    let file = path + "/contents"
    if FileManager.default.fileExists(atPath: file) {
      return try ModelXMLReader.read(file, name: PackageFolders.stem(path), texts: texts)
    }
    // What Xcode wrote before version 4: the graph of its own objects.
    let elements = path + "/elements"
    guard FileManager.default.fileExists(atPath: elements) else {
      throw BatchError(.badModel, "this version has no file named contents", path: path)
    }
    do {
      return try EmbeddedModelReader.read(
        KeyedArchive(PropertyListFile.read(elements)), name: PackageFolders.stem(path))
    } catch var error as BatchError {
      error.path = error.path ?? elements
      error.hint = error.hint ?? "Open it in Xcode and save it, so that it gets a file named contents"
      throw error
    }
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
      // What Foundation says of it is for programmers.
      throw BatchError(
        .badModel, "the file that names the current version is no property list",
        hint: "Choose the current version in Xcode", path: path)
    }
  }
}
