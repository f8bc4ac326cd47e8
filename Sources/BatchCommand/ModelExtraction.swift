import Batch
import Foundation

/// Versions of models, written as packages that Xcode opens.
struct ModelExtraction {
  /// One version.
  struct Package: Encodable {
    var path: String
    var version: String
    /// What the XML of a package has no place for.
    var leftOut: [String]

    var text: String {
      (["\(path): written"] + leftOut.map { "  not in it: \($0.replacing("\n", with: " "))" }).joined(separator: "\n")
    }
  }

  private(set) var packages: [Package] = []

  /// Writes the versions into a folder, which is made if it is not there, or the only version as the package of that
  /// name. Nothing is written unless every name is free.
  init(_ bundles: [ModelBundle], to path: String) throws {
    let versions = bundles.flatMap(\.versions)
    let isPackage = (path as NSString).pathExtension == "xcdatamodel"
    guard !isPackage || versions.count == 1 else {
      throw BatchError(
        .refused, "there are \(versions.count) versions, and this is one package", hint: "Name a folder", path: path)
    }
    let names = versions.map { isPackage ? path : (path as NSString).appendingPathComponent("\($0.name).xcdatamodel") }
    for (index, name) in names.enumerated() {
      guard !names[..<index].contains(name), !FileManager.default.fileExists(atPath: name) else {
        throw BatchError(
          .refused, "something is there already, or two versions have this name", hint: "Name another folder",
          path: name)
      }
    }
    if !isPackage { try Self.make(path) }
    for (model, name) in zip(versions, names) {
      try ModelPackageWriter.write(model, to: name)
      try Self.check(model, name)
      packages.append(Package(path: name, version: model.name, leftOut: ModelXMLWriter.omissions(of: model)))
    }
  }

  private static func make(_ folder: String) throws {
    do { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) } catch {
      throw BatchError(.failed, "the folder cannot be made", path: folder, cause: error)
    }
  }

  /// A package that is another version would be worse than none.
  private static func check(_ model: ManagedObjectModel, _ path: String) throws {
    let read = try ModelReader.read(path: path).first?.versions.first?.versionHashes ?? [:]
    guard let entity = model.versionHashes.first(where: { read[$0.key] != $0.value })?.key else { return }
    try? FileManager.default.removeItem(atPath: path)
    throw BatchError(
      .badModel, "the version cannot be written as a package: its version hash would change",
      hint: "Use the store or the compiled model itself as the model", path: path, entity: entity)
  }
}
