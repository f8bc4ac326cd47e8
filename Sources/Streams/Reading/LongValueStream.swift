/// Reads a long value from its first byte to its last, as much at a time as is asked for. One thread at a time.
public final class LongValueStream {
  /// Bytes of the value, without those that are skipped.
  public let length: Int
  private let value: LongValue
  private let reader: LongValueReader
  private let skipped: Int
  private var position = 0
  private var cursor: PayloadCursor?

  /// Prepares reading; so many bytes at the beginning are left out. Other streams of the same reader may be read before
  /// or after, but not between.
  public init(_ value: LongValue, _ reader: LongValueReader, skipping skipped: Int = 0) {
    (self.value, self.reader) = (value, reader)
    self.skipped = min(skipped, value.byteCount)
    length = value.byteCount - self.skipped
  }

  /// Copies the next bytes, no more than are left.
  ///
  /// - Throws: ``StreamsError``: `damagedDatabase`.
  public func read(into target: UnsafeMutableRawPointer, _ count: Int) throws {
    // The source's row may have another rowid than the one at hand; its page and cell are named.
    var cursor = try cursor ?? begin()
    try reader.copy(count, from: &cursor, to: target)
    self.cursor = cursor
    position += count
    if position == length { try reader.finish(value, cursor) }
  }

  private func begin() throws -> PayloadCursor {
    var cursor = try reader.begin(value, rowid: 0)
    guard skipped > 0 else { return cursor }
    try withUnsafeTemporaryAllocation(byteCount: skipped, alignment: 1) { bytes in
      if let base = bytes.baseAddress { try reader.copy(skipped, from: &cursor, to: base) }
    }
    return cursor
  }
}
