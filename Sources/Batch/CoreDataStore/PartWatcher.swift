import Streams

/// Hears what a step has finished in its file, while it continues to write.
package protocol PartWatcher: Sendable {
  /// A file is begun or continued; what was said of another one is worth nothing now.
  func begin(_ path: String, pageSize: Int, hasPointerMap: Bool) throws
  /// Parts of tables and indexes are in the file, and stay as they are. Never waits.
  func take(_ parts: [ProofPart])
}
