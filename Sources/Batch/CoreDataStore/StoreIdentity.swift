import CoreDataModel
import RunSupport
import Streams

/// Which store a file is, and at which version: what of it stays the same as long as an application only writes
/// objects.
public struct StoreIdentity: Sendable, Codable, Equatable {
  /// Z_UUID, which migrations keep.
  public var uuid: String
  /// ``ManagedObjectModel/versionHashesDigest`` of its version.
  public var version: String

  /// Looks at a store, without a lock. Nothing is written.
  ///
  /// - Throws: ``BatchError`` as ``SourceStore`` does: `badStore` where the file is no store.
  public init(_ path: String, _ fileSystem: any FileSystem = LocalFileSystem()) throws {
    do {
      let reader = try SourceStore.opened(path, fileSystem, locking: .none)
      defer { reader.close() }
      self.init(reader.metadata)
    } catch { throw BatchError(wrapping: error) }
  }

  package init(_ metadata: StoreMetadata) {
    (uuid, version) = (metadata.uuid, ManagedObjectModel.versionHashesDigest(metadata.versionHashes))
  }
}
