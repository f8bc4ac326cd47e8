/// Takes a record apart without copying values: serial types and body offsets of its columns. Reused from row to row.
///
/// Source of the rule: SQLite, "Database File Format", section 2.1. A record may hold fewer values than its table has
/// columns (columns added later); missing ones are the column's default, which the caller knows.
public final class RecordDecoder {
  /// SQLite's limit of columns in a record.
  static let maximumColumns = 32767

  private struct Column {
    var type: UInt64
    var offset: Int
  }

  /// Where a column's type and body begin in a record.
  struct Place {
    var type: Int
    var body: Int
  }

  // Plain pointers and private counters: this runs for every row, and the compiler can prove access to them exclusive.
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var columns: UnsafeMutablePointer<Column>
  @exclusivity(unchecked) private var base: UnsafeRawPointer?
  @exclusivity(unchecked) private var capacity: Int
  /// Where the columns lie, and after them the record's end, where others have found that; types are read when they are
  /// asked for.
  @exclusivity(unchecked) private var places: UnsafePointer<Place>?
  /// Whether the record decoded last may hold references to long values.
  @exclusivity(unchecked) private(set) var refers = false
  private let longValues: (any LongValues)?

  /// Makes a decoder with room for that many columns; records of more make it grow. Long values that records refer to
  /// are read through `longValues`; without it they are errors.
  public init(longValues: (any LongValues)? = nil, columns count: Int = 24) {
    self.longValues = longValues
    capacity = max(1, count)
    columns = .allocate(capacity: capacity)
  }

  deinit { columns.deallocate() }

  /// Releases the record, whose memory may vanish: there are no columns then.
  public func forget() { (count, base, places) = (0, nil, nil) }

  /// Takes a record whose columns were found already, and checked to lie in it. Record and places stay until the next
  /// one.
  func take(_ record: UnsafeRawPointer, _ places: UnsafePointer<Place>, count: Int, refers: Bool) {
    (base, self.places, self.count, self.refers) = (record, places, count, refers)
  }

  /// The number of values in the record.
  public var columnCount: Int { count }

  /// The serial type of a column; NULL's for a column that the record does not hold.
  public func type(_ column: Int) -> UInt64 { column < count ? known(column).type : SerialType.null }

  /// A column that the record holds.
  @inline(__always)
  private func known(_ column: Int) -> Column {
    guard let places, let base else { return columns[column] }
    let place = places[column]
    var type = UInt64(base.load(fromByteOffset: place.type, as: UInt8.self))
    if type >= 0x80 {
      var position = place.type
      let header = UnsafeRawBufferPointer(start: base, count: places[column + 1].type)
      type = Varint.read(header, at: &position) ?? SerialType.null
    }
    return Column(type: type, offset: place.body)
  }

  /// The bytes of a column's value; valid as long as the record's memory.
  public func body(_ column: Int) -> UnsafeRawBufferPointer {
    guard column < count, let base else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    if let places {
      return UnsafeRawBufferPointer(
        start: base + places[column].body, count: places[column + 1].body - places[column].body)
    }
    let found = columns[column]
    return UnsafeRawBufferPointer(start: base + found.offset, count: length(found.type) ?? 0)
  }

  /// The length of a body; that of a reference too, in a record that may hold references.
  @inline(__always)
  private func length(_ type: UInt64) -> Int? {
    SerialType.length(type) ?? (refers && type == LongValue.serialType ? LongValue.length : nil)
  }

  /// The reference in a column; nil if the column's value is in the record.
  public func longValue(_ column: Int) -> LongValue? {
    type(column) == LongValue.serialType ? LongValue(body(column)) : nil
  }

  /// Decodes a record; false when its header or a length contradicts its size.
  public func decode(_ record: UnsafeRawBufferPointer) -> Bool {
    (count, places) = (0, nil)
    base = record.baseAddress
    var position = 0
    guard let headerEnd = headerEnd(record, &position) else { return false }
    var bodyOffset = headerEnd
    var found = 0
    while position < headerEnd {
      let (type, length): (UInt64, Int)
      let first = record[position]
      if first < 0x80, let short = SerialType.length(short: first) {
        (type, length) = (UInt64(first), short)
        position += 1
      } else {
        guard let long = Varint.read(record, at: &position), let longLength = self.length(long) else { return false }
        (type, length) = (long, longLength)
      }
      guard length <= record.count - bodyOffset, found < Self.maximumColumns else { return false }
      if found == capacity { grow() }
      columns[found] = Column(type: type, offset: bodyOffset)
      bodyOffset += length
      found += 1
    }
    count = found
    return position == headerEnd
  }

  /// Reads where a record's header ends, and whether the record may hold references.
  @inline(__always)
  private func headerEnd(_ record: UnsafeRawBufferPointer, _ position: inout Int) -> Int? {
    guard var size = Varint.read(record, at: &position) else { return nil }
    refers = size == 0
    if refers {
      guard let behindMark = Varint.read(record, at: &position), behindMark >= 1, behindMark < UInt64(record.count)
      else {
        return nil
      }
      size = behindMark + 1
    }
    return size <= UInt64(record.count) ? Int(size) : nil
  }

  /// Decodes the columns whose bodies lie within the beginning of a record of a file; false when not even its header
  /// does.
  public func decodeBeginning(_ record: UnsafeRawBufferPointer) -> Bool {
    (count, refers, places) = (0, false, nil)
    base = record.baseAddress
    var position = 0
    guard let size = Varint.read(record, at: &position), size <= UInt64(record.count), size >= 1 else { return false }
    var bodyOffset = Int(size)
    while position < Int(size) {
      guard let type = Varint.read(record, at: &position), let length = SerialType.length(type) else { return false }
      guard length <= record.count - bodyOffset, count < Self.maximumColumns else { return true }
      if count == capacity { grow() }
      columns[count] = Column(type: type, offset: bodyOffset)
      bodyOffset += length
      count += 1
    }
    return position == Int(size)
  }

  private func grow() {
    let larger = UnsafeMutablePointer<Column>.allocate(capacity: capacity * 2)
    larger.update(from: columns, count: capacity)
    columns.deallocate()
    columns = larger
    capacity *= 2
  }

  /// The integer in a column; nil when the column holds something else.
  public func integer(_ column: Int) -> Int64? {
    guard column < count, let base else { return nil }
    let found = known(column)
    guard SerialType.isInteger(found.type) else { return nil }
    return SerialType.readInteger(found.type, base + found.offset)
  }

  /// The double in a column; nil when the column holds something else.
  public func real(_ column: Int) -> Double? {
    guard type(column) == SerialType.real else { return nil }
    return body(column).baseAddress.map { Double(bitPattern: $0.bigEndian64(0)) }
  }

  /// The value of a column, copied. Text that is not UTF-8 is repaired with replacement characters.
  ///
  /// - Throws: ``StreamsError`` only if the record refers to a long value that is larger than may be read, or whose
  ///   chain is damaged.
  public func value(_ column: Int) throws -> Value {
    let type = type(column)
    let body = body(column)
    switch type {
    case SerialType.null: return .null
    case LongValue.serialType: return try long(longValue(column))
    case SerialType.real: return real(column).map { .real($0) } ?? .null
    case _ where SerialType.isInteger(type): return integer(column).map { .integer($0) } ?? .null
    case _ where SerialType.isText(type): return .text(String(decoding: body, as: UTF8.self))
    default: return .blob([UInt8](body))
    }
  }

  /// A value that a record refers to.
  ///
  /// - Throws: as ``value(_:)`` does.
  public func long(_ value: LongValue?) throws -> Value {
    guard let longValues, let value else { throw StreamsError(.unsupported, "a long value is not at hand here") }
    let bytes = try longValues.bytes(of: value)
    return SerialType.isText(value.type) ? .text(String(decoding: bytes, as: UTF8.self)) : .blob(bytes)
  }
}
