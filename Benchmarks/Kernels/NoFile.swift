import Streams

/// A file that takes every write and keeps nothing: what is measured is the building, not the disk.
public final class NoFile: File {
  /// Of no use.
  public let path = "nowhere"

  /// Makes a file.
  public init() {}

  /// Gives zeros.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
    buffer.initializeMemory(as: UInt8.self, repeating: 0)
    return buffer.count
  }
  /// Forgets the bytes.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {}
  /// Nothing to do.
  public func sync() throws {}
  /// Nothing to do.
  public func truncate(to length: UInt64) throws {}
  /// Larger than all that is written.
  public func size() throws -> UInt64 { 1 << 40 }
  /// Nobody else is there.
  public func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool { true }
  /// Nothing to do.
  public func close() {}
}
