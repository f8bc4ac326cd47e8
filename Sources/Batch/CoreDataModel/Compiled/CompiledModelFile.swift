import Codecs
import Foundation
import RunSupport

/// Reads `.mom` and `.momd`.
enum CompiledModelFile {
  private static let versionInfo = "VersionInfo.plist"

  /// Reads a `.mom`; its name without extension is the version's. Throws ``BatchError`` with code `badModel` and path.
  static func read(_ path: String) throws -> ManagedObjectModel {
    do {
      return try CompiledModelReader.read(
        KeyedArchive(PropertyListFile.read(path)), name: PackageFolders.stem(path))
    } catch var error as BatchError {
      error.path = error.path ?? path
      error.hint = error.hint ?? "Compile the model again, or name its .xcdatamodeld"
      throw error
    }
  }

  /// Reads a `.momd`, all of its versions.
  static func readBundle(_ path: String) throws -> ModelBundle {
    let files = try PackageFolders.files(in: path, code: .badModel).filter { ($0 as NSString).pathExtension == "mom" }
    guard !files.isEmpty else { throw BatchError(.badModel, "the model holds no version (.mom)", path: path) }
    let name = PackageFolders.stem(path)
    let versions = NaturalOrder.versions(try files.map(read), of: name, name: \.name)
    var bundle = ModelBundle(path: path, name: name, versions: versions)
    let info = path + "/" + versionInfo
    guard FileManager.default.fileExists(atPath: info) else { return bundle }
    let described = try VersionInfo(info)
    bundle.warnings = described.contradictions(versions)
    bundle.currentVersion = described.currentVersion
    return bundle
  }
}
