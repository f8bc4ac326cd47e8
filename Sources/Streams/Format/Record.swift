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

  // Plain pointers and private counters: this runs for every row, and the compiler can prove access to them exclusive.
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var columns: UnsafeMutablePointer<Column>
  @exclusivity(unchecked) private var base: UnsafeRawPointer?
  @exclusivity(unchecked) private var capacity: Int

  /// Makes a decoder.
  public init() {
    capacity = 64
    columns = .allocate(capacity: capacity)
  }

  deinit { columns.deallocate() }

  /// The number of values in the record.
  public var columnCount: Int { count }

  /// The serial type of a column; NULL's for a column that the record does not hold.
  public func type(_ column: Int) -> UInt64 { column < count ? columns[column].type : SerialType.null }

  /// The bytes of a column's value; valid as long as the record's memory.
  public func body(_ column: Int) -> UnsafeRawBufferPointer {
    guard column < count, let base else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    let found = columns[column]
    return UnsafeRawBufferPointer(start: base + found.offset, count: SerialType.length(found.type) ?? 0)
  }

  /// Decodes a record; false when its header or a length contradicts its size.
  public func decode(_ record: UnsafeRawBufferPointer) -> Bool {
    count = 0
    base = record.baseAddress
    var position = 0
    guard let size = Varint.read(record, at: &position), size <= UInt64(record.count), size >= 1 else { return false }
    let headerEnd = Int(size)
    var bodyOffset = headerEnd
    var found = 0
    while position < headerEnd {
      guard let type = Varint.read(record, at: &position), let length = SerialType.length(type) else { return false }
      guard length <= record.count - bodyOffset, found < Self.maximumColumns else { return false }
      if found == capacity { grow() }
      columns[found] = Column(type: type, offset: bodyOffset)
      bodyOffset += length
      found += 1
    }
    count = found
    return position == headerEnd
  }

  /// Decodes the columns whose bodies lie within the beginning of a record; false when not even its header does.
  public func decodeBeginning(_ record: UnsafeRawBufferPointer) -> Bool {
    count = 0
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
    let found = columns[column]
    guard SerialType.isInteger(found.type) else { return nil }
    return SerialType.readInteger(found.type, base + found.offset)
  }

  /// The value of a column, copied. Text that is not UTF-8 is repaired with replacement characters.
  public func value(_ column: Int) -> Value {
    let type = type(column)
    let body = body(column)
    switch type {
    case SerialType.null: return .null
    case SerialType.real:
      return body.baseAddress.map { .real(Double(bitPattern: $0.bigEndian64(0))) } ?? .null
    case _ where SerialType.isInteger(type): return integer(column).map { .integer($0) } ?? .null
    case _ where SerialType.isText(type): return .text(String(decoding: body, as: UTF8.self))
    default: return .blob([UInt8](body))
    }
  }
}

/// Puts a record together column by column; reused from row to row.
///
/// Values keep SQLite's smallest encoding. The finished bytes are valid until the next ``reset()``.
public final class RecordEncoder {
  @exclusivity(unchecked) private var types: UnsafeMutablePointer<UInt64>
  @exclusivity(unchecked) private var typeCount = 0
  @exclusivity(unchecked) private var typeCapacity = 64
  @exclusivity(unchecked) private var body: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var bodyLength = 0
  @exclusivity(unchecked) private var bodyCapacity = 4096
  @exclusivity(unchecked) private var headerLength = 0

  /// Makes an encoder.
  public init() {
    body = .allocate(byteCount: bodyCapacity, alignment: 8)
    types = .allocate(capacity: typeCapacity)
  }

  deinit {
    body.deallocate()
    types.deallocate()
  }

  /// Begins a new record.
  public func reset() {
    typeCount = 0
    bodyLength = 0
    headerLength = 0
  }

  private func room(_ count: Int) -> UnsafeMutableRawPointer {
    if bodyLength + count > bodyCapacity { growBody(to: bodyLength + count) }
    let start = body + bodyLength
    bodyLength += count
    return start
  }

  private func growBody(to needed: Int) {
    let capacity = max(bodyCapacity * 2, needed)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    larger.copyMemory(from: body, byteCount: bodyLength)
    body.deallocate()
    (body, bodyCapacity) = (larger, capacity)
  }

  private func add(_ type: UInt64) {
    if typeCount == typeCapacity { growTypes() }
    types[typeCount] = type
    typeCount += 1
    headerLength += Varint.length(type)
  }

  private func growTypes() {
    let larger = UnsafeMutablePointer<UInt64>.allocate(capacity: typeCapacity * 2)
    larger.update(from: types, count: typeCount)
    types.deallocate()
    types = larger
    typeCapacity *= 2
  }

  /// Appends NULL.
  public func appendNull() { add(SerialType.null) }

  /// Appends an integer.
  public func append(_ value: Int64) {
    let type = SerialType.integer(value)
    add(type)
    if type < 8 {
      let length = type == 5 ? 6 : type == 6 ? 8 : Int(type)
      SerialType.writeInteger(value, length: length, to: room(length))
    }
  }

  /// Appends a double as a column without affinity stores it: always as eight bytes.
  public func append(_ value: Double) {
    add(SerialType.real)
    room(8).storeBigEndian(value.bitPattern, at: 0)
  }

  /// Appends a value that another record holds, bytes as they are.
  public func append(type: UInt64, body bytes: UnsafeRawBufferPointer) {
    add(type)
    if let base = bytes.baseAddress, bytes.count > 0 { room(bytes.count).copyMemory(from: base, byteCount: bytes.count) }
  }

  /// Appends a value as it is: integers in the smallest form, doubles as doubles.
  public func append(_ value: Value) {
    switch value {
    case .null: appendNull()
    case .integer(let integer): append(integer)
    case .real(let double): append(double)
    case .text(var text):
      text.withUTF8 { append(type: SerialType.text(length: $0.count), body: UnsafeRawBufferPointer($0)) }
    case .blob(let bytes):
      bytes.withUnsafeBytes { append(type: SerialType.blob(length: $0.count), body: $0) }
    }
  }

  /// Bytes of the finished record.
  public var length: Int { headerSize + bodyLength }

  private var headerSize: Int {
    // The header's own length counts itself.
    let size = headerLength + 1
    return size < 0x80 ? size : headerLength + Varint.length(UInt64(headerLength + 2))
  }

  /// Writes the finished record; the caller has made room for ``length`` bytes.
  public func write(to target: UnsafeMutableRawPointer) {
    var position = Varint.write(UInt64(headerSize), to: target)
    for index in 0..<typeCount { position += Varint.write(types[index], to: target + position) }
    (target + position).copyMemory(from: body, byteCount: bodyLength)
  }
}
