import Batch
import Streams

/// A path at which there is no store, where nothing is known of it either.
enum MissingStore {
  /// Throws `noSuchFile` if nothing is there, and `badStore` for a file that is none of a store.
  static func refuse(_ path: String) throws {
    try refuse(path, "store")
    guard !CommandLineWords.isOfList else { return }
    try SourceStore.refuseNoFile(path, LocalFileSystem())
    guard let kind = try FileKind.other(path, LocalFileSystem()) else { return }
    throw kind.refusal(of: path)
  }

  /// Throws `noSuchFile` if nothing is there.
  static func refuse(_ path: String, _ what: String) throws {
    guard !CommandLineWords.isOfList, try LocalFileSystem().statusOfName(path) == nil else { return }
    throw NearName.noSuchFile(path, what)
  }
}
