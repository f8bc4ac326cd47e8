/// Puts a record together column by column; reused from row to row.
///
/// Values keep SQLite's smallest encoding. The finished bytes are valid until the next ``reset()``.
public final class RecordEncoder {
  /// The types, as they are written.
  @exclusivity(unchecked) private var types: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var typeCapacity = 256
  @exclusivity(unchecked) private var body: UnsafeMutableRawPointer
  /// Bytes of the values so far.
  @exclusivity(unchecked) public private(set) var bodyLength = 0
  @exclusivity(unchecked) private var bodyCapacity = 4096
  @exclusivity(unchecked) private var headerLength = 0
  @exclusivity(unchecked) private var refers = false

  /// Makes an encoder.
  public init() {
    body = .allocate(byteCount: bodyCapacity, alignment: 8)
    types = .allocate(byteCount: typeCapacity, alignment: 8)
  }

  deinit {
    body.deallocate()
    types.deallocate()
  }

  /// Begins a new record.
  public func reset() {
    bodyLength = 0
    headerLength = 0
    refers = false
  }

  private func room(_ count: Int) -> UnsafeMutableRawPointer {
    if bodyLength + count > bodyCapacity { growBody(to: bodyLength + count) }
    let start = body + bodyLength
    bodyLength += count
    return start
  }

  private func growBody(to needed: Int) {
    bodyCapacity = max(bodyCapacity * 2, needed)
    body.grow(bodyLength, to: bodyCapacity)
  }

  @inline(__always)
  private func add(_ type: UInt64) {
    if headerLength + Varint.maximumLength > typeCapacity { growTypes() }
    if type < 0x80 {
      types.storeBytes(of: UInt8(truncatingIfNeeded: type), toByteOffset: headerLength, as: UInt8.self)
      headerLength += 1
    } else {
      headerLength += Varint.write(type, to: types + headerLength)
    }
  }

  private func growTypes() {
    typeCapacity *= 2
    types.grow(headerLength, to: typeCapacity)
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

  /// Appends a value that another record holds, bytes as they are; a reference stays one.
  public func append(type: UInt64, body bytes: UnsafeRawBufferPointer) {
    if type == LongValue.serialType { refers = true }
    add(type)
    if let base = bytes.baseAddress, bytes.count > 0 {
      room(bytes.count).copyMemory(from: base, byteCount: bytes.count)
    }
  }

  /// Appends several columns of another record, their types and their bodies each in one piece.
  func append(types more: UnsafeRawBufferPointer, bodies: UnsafeRawBufferPointer, mayRefer: Bool) {
    if mayRefer { refers = true }
    while headerLength + more.count > typeCapacity { growTypes() }
    if let from = more.baseAddress { (types + headerLength).copyShort(from, more.count) }
    headerLength += more.count
    if let from = bodies.baseAddress { room(bodies.count).copyShort(from, bodies.count) }
  }

  /// Appends a reference to a long value.
  func append(_ value: LongValue) {
    refers = true
    add(LongValue.serialType)
    value.write(to: room(LongValue.length))
  }

  /// Appends a value's type and returns where its bytes go, which the caller writes before the next call.
  func append(type: UInt64, length: Int) -> UnsafeMutableRawPointer {
    add(type)
    return room(length)
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
  public var length: Int { headerSize + bodyLength + (refers ? 1 : 0) }

  private var headerSize: Int {
    // The header's own length counts itself.
    let size = headerLength + 1
    return size < 0x80 ? size : headerLength + Varint.length(UInt64(headerLength + 2))
  }

  /// Writes the finished record; the caller has made room for ``length`` bytes.
  public func write(to target: UnsafeMutableRawPointer) {
    var position = 0
    if refers {
      target.storeBytes(of: LongValue.mark, as: UInt8.self)
      position = 1
    }
    position += Varint.write(UInt64(headerSize), to: target + position)
    (target + position).copyMemory(from: types, byteCount: headerLength)
    position += headerLength
    (target + position).copyMemory(from: body, byteCount: bodyLength)
  }
}
