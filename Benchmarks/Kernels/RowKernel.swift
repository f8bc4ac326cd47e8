import Streams

/// What a row of W1 costs at least, without any engine around it: taking the record apart, changing it, putting it
/// together.
///
/// The records are those of the entity Row in the model Plain: 13 columns of version 1 become 14 of version 2.
/// `ZAMOUNT` moves and becomes a double, `ZSTATE` is new, all else keeps its bytes.
public final class RowKernel {
  /// The position of ZAMOUNT before, and where it and ZSTATE stand then, counted in columns of the source.
  private static let amount = 3
  private static let newPlace = 7

  private let decoder = RecordDecoder()
  private let encoder = RecordEncoder()
  private static let capacity = 1 << 16
  private let buffer = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)

  /// Makes a kernel.
  public init() {}

  deinit { buffer.deallocate() }

  /// Takes a record apart; the number of its columns.
  public func decode(_ record: UnsafeRawBufferPointer) -> Int {
    precondition(decoder.decode(record))
    return decoder.columnCount
  }

  /// Puts a record of the same values together again; its bytes. ``decode(_:)`` comes before.
  public func encode() -> UnsafeRawBufferPointer {
    encoder.reset()
    for column in 0..<decoder.columnCount { encoder.append(type: decoder.type(column), body: decoder.body(column)) }
    return finished()
  }

  /// Takes a record apart, changes it and puts the new one together; its bytes.
  public func transform(_ record: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    precondition(decoder.decode(record))
    encoder.reset()
    for column in 0..<decoder.columnCount where column != Self.amount {
      if column == Self.newPlace { appendChanged() }
      encoder.append(type: decoder.type(column), body: decoder.body(column))
    }
    return finished()
  }

  /// A whole number is stored as an integer in a column of doubles as well ("Datatypes In SQLite", section 3).
  private func appendChanged() {
    encoder.append(Int64(7))
    if let amount = decoder.integer(Self.amount) { encoder.append(amount) } else { encoder.appendNull() }
  }

  private func finished() -> UnsafeRawBufferPointer {
    let length = encoder.length
    precondition(length <= Self.capacity)
    encoder.write(to: buffer)
    return UnsafeRawBufferPointer(start: buffer, count: length)
  }
}
