import Batch
import Foundation
import Streams

/// The models of this package, as text.
enum Trips {
  /// The package: the tests lie in it, or a link to them beside it.
  private static let root: String = {
    var folder = URL(fileURLWithPath: #filePath)
    let known = { FileManager.default.fileExists(atPath: folder.path + $0) }
    while folder.path != "/", !known("/schema.lock"), !known("/Examples/SchemaGuard") {
      folder.deleteLastPathComponent()
    }
    return folder.path + (known("/schema.lock") ? "" : "/Examples/SchemaGuard")
  }()
  static let sources = root + "/Sources/Trips"
  static let mappings = root + "/Mappings"

  /// Whether this build reads Swift.
  static let areReadable: Bool = {
    guard let reader = try? SwiftDataReader() else { return false }
    ModelFormats.register(reader)
    return (try? ModelLibrary(paths: [sources])) != nil
  }()

  /// A made-up store of a version.
  static func store(of version: String, rows: UInt64) throws -> String {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("trips-\(UUID().uuidString).store").path
    let model = try ModelLibrary(paths: [sources]).target(named: version)
    try StoreSampler(model: model, rows: rows, seed: 1).write(
      to: path, fileSystem: LocalFileSystem(), progress: { _ in })
    return path
  }
}
