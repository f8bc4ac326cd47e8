/// Structures in Thrift's compact protocol, which Parquet's headers are written in.
///
/// Source of the rule: "Thrift Compact protocol encoding", and parquet.thrift for the numbers of fields.
struct ThriftWriter {
  /// Types of fields and elements.
  private enum Kind {
    static let yes: UInt8 = 1
    static let no: UInt8 = 2
    static let byte: UInt8 = 3
    static let int16: UInt8 = 4
    static let int32: UInt8 = 5
    static let int64: UInt8 = 6
    static let binary: UInt8 = 8
    static let list: UInt8 = 9
    static let structure: UInt8 = 12
  }

  private(set) var bytes: [UInt8] = []
  private var last = 0

  /// A structure, with the byte that ends it.
  static func structure(_ body: (inout ThriftWriter) -> Void) -> [UInt8] {
    var writer = ThriftWriter()
    body(&writer)
    return writer.bytes + [0]
  }

  mutating func byte(_ field: Int, _ value: UInt8) {
    begin(field, Kind.byte)
    bytes.append(value)
  }

  mutating func int16(_ field: Int, _ value: Int) { number(field, as: Kind.int16, Int64(value)) }
  mutating func int32(_ field: Int, _ value: Int) { number(field, as: Kind.int32, Int64(value)) }
  mutating func int64(_ field: Int, _ value: Int) { number(field, as: Kind.int64, Int64(value)) }
  mutating func flag(_ field: Int, _ value: Bool) { begin(field, value ? Kind.yes : Kind.no) }

  mutating func text(_ field: Int, _ value: String) {
    begin(field, Kind.binary)
    append(value)
  }

  /// A structure that is written already.
  mutating func structure(_ field: Int, _ value: [UInt8]) {
    begin(field, Kind.structure)
    bytes += value
  }

  /// A structure without fields: what a union of empty structures is.
  mutating func choice(_ field: Int) { structure(field, [0]) }

  /// So many structures that are written already, one after the other.
  mutating func structures(_ field: Int, count: Int, _ values: some Sequence<UInt8>) {
    list(field, of: Kind.structure, count: count)
    bytes += values
  }

  mutating func texts(_ field: Int, _ values: [String]) {
    list(field, of: Kind.binary, count: values.count)
    for value in values { append(value) }
  }

  mutating func int32s(_ field: Int, _ values: [Int]) {
    list(field, of: Kind.int32, count: values.count)
    for value in values { Self.append(zigzag: Int64(value), to: &bytes) }
  }

  private mutating func number(_ field: Int, as kind: UInt8, _ value: Int64) {
    begin(field, kind)
    Self.append(zigzag: value, to: &bytes)
  }

  private mutating func append(_ value: String) {
    Self.append(varint: UInt64(value.utf8.count), to: &bytes)
    bytes += value.utf8
  }

  private mutating func list(_ field: Int, of kind: UInt8, count: Int) {
    begin(field, Kind.list)
    guard count >= 15 else { return bytes.append(UInt8(count) << 4 | kind) }
    bytes.append(0xF0 | kind)
    Self.append(varint: UInt64(count), to: &bytes)
  }

  /// Fields come in the order of their numbers, fewer than 16 apart.
  private mutating func begin(_ field: Int, _ kind: UInt8) {
    bytes.append(UInt8(field - last) << 4 | kind)
    last = field
  }

  static func append(varint value: UInt64, to bytes: inout [UInt8]) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private static func append(zigzag value: Int64, to bytes: inout [UInt8]) {
    append(varint: UInt64(bitPattern: value << 1 ^ value >> 63), to: &bytes)
  }
}
