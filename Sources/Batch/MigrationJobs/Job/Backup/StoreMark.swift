import CoreDataModel
import CoreDataStore
import Foundation
import Streams

/// Which store it is, and of which version: what a look at its metadata shows.
struct StoreMark: Codable, Equatable {
  var uuid: String
  /// The digest of its version hashes.
  var hashes: String

  init(uuid: String, hashes: String) { (self.uuid, self.hashes) = (uuid, hashes) }

  init(_ metadata: StoreMetadata) {
    self.init(uuid: metadata.uuid, hashes: ManagedObjectModel.versionHashesDigest(metadata.versionHashes))
  }

  /// Looks at a store; its `-wal` counts. Nil if it is none that can be read. Nothing is written.
  init?(of path: String, _ fileSystem: any FileSystem) {
    guard let reader = try? StoreReader(path: path, fileSystem: fileSystem, locking: .none) else { return nil }
    defer { reader.close() }
    self.init(reader.metadata)
  }
}
