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
}
