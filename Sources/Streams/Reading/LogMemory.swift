import Synchronization

/// Remembers the `-wal` file that was read last, for a program that opens one database several times: all its frames
/// are checked when it is read, and it may be large.
///
/// It is taken for the same as long as its size, its time of change and its header are the same, the header of its last
/// committed frame, whose checksum runs over all before it ("WAL-mode File Format", section 4.2), and what stands where
/// the next commit would begin.
public final class LogMemory: Sendable {
  struct Known: Sendable {
    var status: FileStatus
    var header: [UInt8]
    /// The headers of the last committed frame and of what is after it.
    var ends: [[UInt8]]
    var pageCount: UInt32
    var frameCount: Int
    var entries: [UInt64]
  }

  private let known = Mutex<Known?>(nil)

  /// Remembers nothing yet.
  public init() {}

  func find(_ status: FileStatus, _ header: [UInt8]) -> Known? {
    known.withLock { $0.flatMap { $0.status == status && $0.header == header ? $0 : nil } }
  }

  func keep(_ new: Known) { known.withLock { $0 = new } }
}
