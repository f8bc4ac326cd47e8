import Batch
import Streams

/// What tells the version of a store.
enum StoreHashes {
  /// Its entity hashes, without its rows.
  static func read(_ store: String) throws -> [String: [UInt8]] {
    let reader = try SourceStore.open(store, LocalFileSystem(), locking: .shared)
    defer { reader.close() }
    return reader.metadata.versionHashes
  }

  /// The model that it carries, if it carries one.
  static func model(_ store: String) -> ManagedObjectModel? {
    guard let reader = try? SourceStore.open(store, LocalFileSystem(), locking: .shared) else { return nil }
    defer { reader.close() }
    return try? StoreModel.find(of: reader, in: nil)
  }
}
