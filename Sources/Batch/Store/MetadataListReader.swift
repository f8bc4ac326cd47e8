/// Reads binary property lists (`bplist00`). The bytes are hostile: every offset is checked, depth and total work are
/// capped.
struct MetadataListReader {
  struct Damage: Error, CustomStringConvertible {
    let description: String
  }

  private static let maximumDepth = 64
  /// Shared objects let a small file describe a huge tree: this many values are read at most.
  private static let maximumValues = 1_000_000

  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  private let count: Int
  private let tableStart: Int
  private var remaining = MetadataListReader.maximumValues
  private var copied: Int

  static func read(_ bytes: [UInt8]) throws -> PropertyListValue {
    var reader = try MetadataListReader(bytes)
    return try reader.value(at: reader.integer(at: bytes.count - 16, size: 8), depth: 0)
  }

  /// Layout of the trailer: 6 unused bytes, size of offsets and of references, then three big-endian 64-bit numbers:
  /// the count of objects, the top object, the start of the offset table.
  private init(_ bytes: [UInt8]) throws {
    guard bytes.count >= 40, bytes.starts(with: Array("bplist0".utf8)) else {
      throw Damage(description: "no binary plist")
    }
    self.bytes = bytes
    copied = bytes.count.multipliedReportingOverflow(by: 8).partialValue
    let trailer = bytes.count - 32
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    let numbers = [8, 24].map { at in
      bytes[(trailer + at)..<(trailer + at + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), let count = Int(exactly: numbers[0]),
      let start = Int(exactly: numbers[1]), count > 0, start >= 8, start < trailer,
      count <= (trailer - start) / offsetSize
    else { throw Damage(description: "the plist's trailer is damaged") }
    self.count = count
    tableStart = start
  }

  private func integer(at position: Int, size: Int) throws -> Int {
    guard position >= 0, position <= bytes.count - size else { throw Damage(description: "an offset leaves the plist") }
    let number = bytes[position..<(position + size)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard let value = Int(exactly: number) else { throw Damage(description: "a number is out of range") }
    return value
  }

  private mutating func value(at reference: Int, depth: Int) throws -> PropertyListValue {
    guard reference >= 0, reference < count else { throw Damage(description: "a reference leaves the plist") }
    guard depth <= Self.maximumDepth else { throw Damage(description: "the plist nests too deeply") }
    remaining -= 1
    guard remaining > 0 else { throw Damage(description: "the plist holds too many values") }
    let start = try integer(at: tableStart + reference * offsetSize, size: offsetSize)
    guard start >= 8, start < tableStart else { throw Damage(description: "an offset leaves the plist") }
    let (kind, low) = (bytes[start] >> 4, bytes[start] & 0x0F)
    switch kind {
    case 0x0 where low == 8 || low == 9: return .boolean(low == 9)
    case 0x1 where low <= 4: return try number(at: start + 1, size: 1 << Int(low))
    case 0x2 where low == 2:
      return .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: try integer(at: start + 1, size: 4)))))
    case 0x2 where low == 3: return .real(Double(bitPattern: try bits(at: start + 1)))
    case 0x3 where low == 3: return .date(Double(bitPattern: try bits(at: start + 1)))
    default: return try container(kind: kind, start: start, depth: depth)
    }
  }

  private mutating func container(kind: UInt8, start: Int, depth: Int) throws -> PropertyListValue {
    let (length, body) = try length(at: start)
    switch kind {
    case 0x4: return .data(Array(try slice(body, length)))
    case 0x5: return .string(String(decoding: try slice(body, length), as: UTF8.self))
    case 0x6:
      guard length <= bytes.count / 2 else { throw Damage(description: "a text leaves the plist") }
      let units = Array(try slice(body, length * 2))
      return .string(
        String(decoding: (0..<length).map { UInt16(units[2 * $0]) << 8 | UInt16(units[2 * $0 + 1]) }, as: UTF16.self))
    case 0xA: return .array(try references(body, length).map { try value(at: $0, depth: depth + 1) })
    case 0xD:
      guard length <= bytes.count / 2 else { throw Damage(description: "a dictionary leaves the plist") }
      let all = try references(body, length * 2)
      var dictionary: [String: PropertyListValue] = [:]
      for position in 0..<length {
        guard case .string(let key) = try value(at: all[position], depth: depth + 1) else {
          throw Damage(description: "a key is no text")
        }
        let entry = try value(at: all[length + position], depth: depth + 1)
        guard dictionary.updateValue(entry, forKey: key) == nil else { throw Damage(description: "a key occurs twice") }
      }
      return .dictionary(dictionary)
    default: throw Damage(description: "the plist holds an object of unknown type \(kind)")
    }
  }

  /// Integers of 1, 2 and 4 bytes are unsigned, of 8 signed; 16 bytes hold what is above `Int64.max`.
  private func number(at position: Int, size: Int) throws -> PropertyListValue {
    guard position <= bytes.count - size else { throw Damage(description: "a number leaves the plist") }
    if size < 8 { return .integer(Int64(try integer(at: position, size: size))) }
    if size == 8 { return .integer(Int64(bitPattern: try bits(at: position))) }
    let (high, low) = (try bits(at: position), try bits(at: position + 8))
    if high == 0 { return low > UInt64(Int64.max) ? .unsigned(low) : .integer(Int64(low)) }
    guard high == UInt64.max, low > UInt64(Int64.max) else { throw Damage(description: "a number is out of range") }
    return .integer(Int64(bitPattern: low))
  }

  private func bits(at position: Int) throws -> UInt64 {
    guard position >= 0, position <= bytes.count - 8 else { throw Damage(description: "a number leaves the plist") }
    return bytes[position..<(position + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  }

  private func length(at start: Int) throws -> (length: Int, body: Int) {
    let low = Int(bytes[start] & 0x0F)
    guard low == 0x0F else { return (low, start + 1) }
    guard start + 1 < bytes.count, bytes[start + 1] >> 4 == 1, bytes[start + 1] & 0x0F <= 3 else {
      throw Damage(description: "a length is damaged")
    }
    let size = 1 << Int(bytes[start + 1] & 0x0F)
    return (try integer(at: start + 2, size: size), start + 2 + size)
  }

  /// Copies bytes, at most eight times the file in all: shared objects are cheap to write and dear to read.
  private mutating func slice(_ start: Int, _ length: Int) throws -> ArraySlice<UInt8> {
    guard length >= 0, start >= 0, start <= tableStart, length <= tableStart - start, length <= copied else {
      throw Damage(description: "an object leaves the plist")
    }
    copied -= length
    return bytes[start..<(start + length)]
  }

  private mutating func references(_ start: Int, _ length: Int) throws -> [Int] {
    guard length <= bytes.count / referenceSize else { throw Damage(description: "a list leaves the plist") }
    _ = try slice(start, length * referenceSize)
    return try (0..<length).map { try integer(at: start + $0 * referenceSize, size: referenceSize) }
  }
}
