/// Finds where the types and bodies of a record's columns begin, for records that have all columns of their table.
///
/// Source of the rule: SQLite, "Database File Format", section 2.1. Made for records that are copied in runs of
/// columns: nothing is decoded but lengths.
public final class RecordLocator {
  /// Columns that a record must have.
  @exclusivity(unchecked) public private(set) var columnCount: Int
  // Plain pointers: this runs for every row, and the compiler can prove access to them exclusive.
  @exclusivity(unchecked) private var offsets: UnsafeMutablePointer<RecordDecoder.Place>
  @exclusivity(unchecked) private var base: UnsafeRawPointer?
  /// Whether the record located last may hold references to long values. Its first byte is the mark then.
  @exclusivity(unchecked) private var mayRefer = false
  var refers: Bool { mayRefer }

  /// The rowid of the record located last, and a number beside it, for recipes that ask for them.
  @exclusivity(unchecked) private(set) var rowid: Int64 = 0
  @exclusivity(unchecked) private(set) var given: Int64 = 0

  /// Sets the rowid of the record located last.
  public func set(rowid: Int64) { self.rowid = rowid }

  /// Gives recipes a number beside the record.
  public func give(_ number: Int64) { given = number }

  /// Lengths of the types below 128, 255 for the two reserved ones.
  private let lengths: UnsafeMutablePointer<UInt8>

  /// Prepares for records of that many columns.
  public init(columnCount: Int) {
    self.columnCount = columnCount
    offsets = .allocate(capacity: columnCount + 1)
    lengths = .allocate(capacity: 128)
    for type in 0..<128 { lengths[type] = SerialType.length(UInt64(type)).map { UInt8($0) } ?? 255 }
  }

  /// Prepares for records of another table.
  public func prepare(columnCount: Int) {
    guard columnCount != self.columnCount else { return }
    self.columnCount = columnCount
    offsets.deallocate()
    offsets = .allocate(capacity: columnCount + 1)
    base = nil
  }

  deinit {
    offsets.deallocate()
    lengths.deallocate()
  }

  /// Locates the columns of a record, whose memory must stay until the next call. False when the record has another
  /// number of columns, is damaged, or has a type that is not written in its shortest form.
  public func locate(_ record: UnsafeRawBufferPointer) -> Bool {
    guard let base = record.baseAddress, record.count > 1 else { return false }
    mayRefer = base.load(as: UInt8.self) == LongValue.mark
    let start = refers ? 1 : 0
    var position = start
    guard let size = Varint.read(record, at: &position), size <= UInt64(record.count - start) else { return false }
    let headerEnd = Int(size) + start
    var body = headerEnd
    for column in 0..<columnCount {
      guard position < headerEnd else { return false }
      offsets[column] = RecordDecoder.Place(type: position, body: body)
      let first = base.load(fromByteOffset: position, as: UInt8.self)
      if first < 0x80 {
        var length = Int(lengths[Int(first)])
        if length == 255 {
          guard refers, UInt64(first) == LongValue.serialType else { return false }
          length = LongValue.length
        }
        body += length
        position += 1
      } else {
        guard let length = longType(base, position: &position, end: headerEnd), length <= record.count else {
          return false
        }
        body += length
      }
    }
    offsets[columnCount] = RecordDecoder.Place(type: position, body: body)
    self.base = base
    return position == headerEnd && body <= record.count
  }

  /// The length of a body whose type takes two bytes or more.
  @inline(__always)
  private func longType(_ base: UnsafeRawPointer, position: inout Int, end: Int) -> Int? {
    guard position + 1 < end else { return nil }
    let (high, low) = (
      base.load(fromByteOffset: position, as: UInt8.self), base.load(fromByteOffset: position + 1, as: UInt8.self)
    )
    if low < 0x80, high > 0x80 {
      position += 2
      return (Int(high & 0x7f) << 7 + Int(low) - 12) / 2
    }
    return longerType(UnsafeRawBufferPointer(start: base, count: end), &position)
  }

  @inline(never)
  private func longerType(_ header: UnsafeRawBufferPointer, _ position: inout Int) -> Int? {
    let start = position
    guard let type = Varint.read(header, at: &position), Varint.length(type) == position - start else { return nil }
    return SerialType.length(type)
  }

  /// Lets a decoder continue with the record located last, as long as that is the last.
  public func lend(to decoder: RecordDecoder) {
    guard let base else { return decoder.forget() }
    decoder.take(base, offsets, count: columnCount, refers: refers)
  }

  /// The integer in a column of the record located last; nil when it holds something else.
  public func integer(_ column: Int) -> Int64? {
    guard let base else { return nil }
    let (type, body) = (offsets[column].type, offsets[column].body)
    let serial = UInt64(base.load(fromByteOffset: type, as: UInt8.self))
    guard SerialType.isInteger(serial) else { return nil }
    return SerialType.readInteger(serial, base + body)
  }

  /// Whether the integer in a column has the smallest type that holds it.
  @inline(__always)
  func isShortest(_ column: Int, _ value: Int64) -> Bool {
    base.map { UInt64($0.load(fromByteOffset: offsets[column].type, as: UInt8.self)) == SerialType.integer(value) }
      ?? false
  }

  /// The integer in one of the first columns of another record, found without a look at those after it; nil if the
  /// record has something else there, or where that takes a longer look.
  @inline(__always)
  public func integer(_ column: Int, of record: UnsafeRawBufferPointer) -> Int64? {
    guard let base = record.baseAddress, record.count > column + 1 else { return nil }
    let size = base.load(as: UInt8.self)
    guard size < 0x80, Int(size) > column + 1, Int(size) <= record.count else { return nil }
    var body = Int(size)
    for before in 0..<column {
      let type = base.load(fromByteOffset: before + 1, as: UInt8.self)
      guard type < 0x80, lengths[Int(type)] != 255 else { return nil }
      body += Int(lengths[Int(type)])
    }
    let type = UInt64(base.load(fromByteOffset: column + 1, as: UInt8.self))
    guard SerialType.isInteger(type), let length = SerialType.length(type), body + length <= record.count else {
      return nil
    }
    return SerialType.readInteger(type, base + body)
  }

  /// The text in a column of another record that has all columns, found without a look at those after it; nil if the
  /// record has something else there, or where that takes a longer look.
  public func text(_ column: Int, of record: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard let base = record.baseAddress, record.count > column + 1, base.load(as: UInt8.self) < 0x80 else { return nil }
    let end = Int(base.load(as: UInt8.self))
    guard end > column + 1, end <= record.count else { return nil }
    var (position, body) = (1, end)
    for before in 0...column {
      guard position < end else { return nil }
      let first = base.load(fromByteOffset: position, as: UInt8.self)
      var length = Int(lengths[Int(first & 0x7f)])
      if first >= 0x80 {
        guard let long = longType(base, position: &position, end: end), long <= record.count else { return nil }
        length = long
      } else {
        guard length != 255 else { return nil }
        position += 1
      }
      if before == column {
        let isText =
          first >= 0x80
          ? base.load(fromByteOffset: position - 1, as: UInt8.self) & 1 == 1 : first >= 13 && first & 1 == 1
        return isText && body + length <= record.count
          ? UnsafeRawBufferPointer(start: base + body, count: length) : nil
      }
      body += length
    }
    return nil
  }

  /// Whether every value of the record located last lies within it.
  public func isWhole() -> Bool { !mayRefer }

  /// Whether a record was located.
  var hasRecord: Bool { base != nil }

  /// Whether the column of the record located last is NULL.
  public func isNull(_ column: Int) -> Bool {
    base.map { $0.load(fromByteOffset: offsets[column].type, as: UInt8.self) == 0 } ?? true
  }

  /// The serial types of the record located last, where each takes a byte; nil if one takes more, or if fewer bytes
  /// than `padded` can be read from there on.
  @inline(__always)
  func shortTypes(padded: Int) -> UnsafeRawPointer? {
    guard let base else { return nil }
    let (first, last) = (offsets[0].type, offsets[columnCount])
    guard last.type &- first == columnCount, first &+ padded <= last.body else { return nil }
    return base + first
  }

  /// Whether the column of the record located last is a text.
  public func isText(_ column: Int) -> Bool { hasRecord && SerialType.isText(self.column(column).type) }

  /// The serial type and the bytes of a column of the record located last, which must be there.
  public func column(_ column: Int) -> (type: UInt64, body: UnsafeRawBufferPointer) {
    let places = places(column, 1)
    var position = 0
    let type = Varint.read(
      UnsafeRawBufferPointer(start: places.base + places.types.lowerBound, count: places.types.count), at: &position)
    return (
      type ?? 0, UnsafeRawBufferPointer(start: places.base + places.bodies.lowerBound, count: places.bodies.count)
    )
  }

  /// Where the types and the bodies of some columns of the record located last are, each in one piece.
  @inline(__always)
  func places(_ column: Int, _ count: Int) -> (base: UnsafeRawPointer, types: Range<Int>, bodies: Range<Int>) {
    // Called only if `hasRecord`.
    let (first, last) = (offsets[column], offsets[column &+ count])
    return (
      base.unsafelyUnwrapped, Range(uncheckedBounds: (first.type, last.type)),
      Range(uncheckedBounds: (first.body, last.body))
    )
  }
}
