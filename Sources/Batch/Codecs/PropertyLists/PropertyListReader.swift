/// Reads binary property lists (`bplist00`), keyed archives among them, which Foundation cannot read on Linux.
///
/// The bytes come from files of strangers: every position is checked, depth and number of objects are limited, rings
/// are refused, and each object is read once, however often it is referred to. Since shared objects let a small file
/// describe a huge tree, the size of the tree is limited as well.
package struct PropertyListReader {
  /// What is wrong with a property list.
  struct Damage: Error, CustomStringConvertible {
    let description: String
    init(_ reason: String) { description = "the property list is damaged: \(reason)" }
  }

  private static let greatestDepth = 64
  private static let mostObjects = 1 << 21
  /// A tree may weigh this much and eight times its file: a value weighs eight and its bytes.
  package static let greatestWeight = 1 << 26
  private let greatestWeight: Int

  private struct Known {
    var value: PropertyListValue
    var weight: Int
  }

  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  private var objectCount = 0
  private var tableStart = 0
  private var known: [Known?] = []
  private var active: [Bool] = []

  static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.starts(with: "bplist0".utf8) }

  /// Reads the top object, whose tree may weigh so much and eight times the file. Throws ``Damage``.
  package static func read(_ bytes: [UInt8], greatestWeight: Int = greatestWeight) throws -> PropertyListValue {
    guard bytes.count >= 40, isBinary(bytes) else { throw Damage("it is no binary property list") }
    var reader = try PropertyListReader(bytes, greatestWeight: greatestWeight)
    return try reader.object(try reader.integer(at: bytes.count - 16, size: 8), depth: 0).value
  }

  /// Layout of the trailer: 6 unused bytes, size of offsets and of references, then three big-endian 64-bit numbers:
  /// the count of objects, the top object, the start of the table of offsets.
  private init(_ bytes: [UInt8], greatestWeight: Int) throws {
    (self.bytes, self.greatestWeight) = (bytes, greatestWeight)
    let trailer = bytes.count - 32
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    // Of a file that was cut off the last bytes are any.
    guard let count = try? integer(at: trailer + 8, size: 8), let table = try? integer(at: trailer + 24, size: 8),
      (1...8).contains(offsetSize), (1...8).contains(referenceSize), count > 0, count <= Self.mostObjects,
      table >= 8, table <= trailer, (trailer - table) / offsetSize >= count
    else { throw Damage("it is cut off, or its end is damaged") }
    objectCount = count
    tableStart = table
    known = Array(repeating: nil, count: count)
    active = Array(repeating: false, count: count)
  }

  private mutating func object(_ reference: Int, depth: Int) throws -> Known {
    guard reference >= 0, reference < objectCount else { throw Damage("an object refers to none") }
    if let object = known[reference] { return object }
    guard !active[reference] else { throw Damage("objects hold themselves") }
    guard depth < Self.greatestDepth else { throw Damage("objects nest more than \(Self.greatestDepth) deep") }
    active[reference] = true
    let object = try read(at: try integer(at: tableStart + reference * offsetSize, size: offsetSize), depth: depth)
    guard object.weight <= greatestWeight + 8 * bytes.count else {
      throw Damage("shared objects make it too large")
    }
    active[reference] = false
    known[reference] = object
    return object
  }

  private mutating func read(at start: Int, depth: Int) throws -> Known {
    guard start >= 8, start < tableStart else { throw Damage("an object lies outside the file") }
    let low = Int(bytes[start] & 0x0F)
    switch bytes[start] >> 4 {
    case 0xA, 0xB, 0xC: return try collection(start, low, depth: depth)
    case 0xD: return try dictionary(start, low, depth: depth)
    case 0x4: return try leaf(start, low: low, unit: 1) { .data(Array($0)) }
    case 0x5, 0x7: return try leaf(start, low: low, unit: 1) { .string(String(decoding: $0, as: UTF8.self)) }
    case 0x6: return try leaf(start, low: low, unit: 2) { .string(Self.utf16(Array($0))) }
    default: return Known(value: try scalar(at: start, low), weight: 8)
    }
  }

  private func scalar(at start: Int, _ low: Int) throws -> PropertyListValue {
    switch bytes[start] >> 4 {
    case 0x0 where low == 8 || low == 9: return .boolean(low == 9)
    case 0x0 where low == 0: return .null
    case 0x1 where low <= 4: return try number(at: start + 1, size: 1 << low)
    case 0x2 where low == 2:
      return .float(Float(bitPattern: UInt32(truncatingIfNeeded: try word(at: start + 1, size: 4))))
    case 0x2 where low == 3: return .real(Double(bitPattern: try word(at: start + 1, size: 8)))
    case 0x3 where low == 3: return .date(Double(bitPattern: try word(at: start + 1, size: 8)))
    case 0x8 where low < 8: return .uid(try integer(at: start + 1, size: low + 1))
    default: throw Damage("an object has an unknown type")
    }
  }

  private func leaf(
    _ start: Int, low: Int, unit: Int, make: (ArraySlice<UInt8>) -> PropertyListValue
  ) throws -> Known {
    let payload = try payload(start, low, unit: unit)
    return Known(value: make(payload), weight: 8 + payload.count)
  }

  private mutating func collection(_ start: Int, _ low: Int, depth: Int) throws -> Known {
    var members: [PropertyListValue] = []
    var weight = 8
    for reference in try references(start, low, times: 1) {
      let member = try object(reference, depth: depth + 1)
      members.append(member.value)
      weight += member.weight
    }
    switch bytes[start] >> 4 {
    case 0xB: return Known(value: .orderedSet(members), weight: weight)
    case 0xC: return Known(value: .set(members), weight: weight)
    default: return Known(value: .array(members), weight: weight)
    }
  }

  private mutating func dictionary(_ start: Int, _ low: Int, depth: Int) throws -> Known {
    let both = try references(start, low, times: 2)
    var entries: [String: PropertyListValue] = [:]
    var weight = 8
    for (key, value) in zip(both.prefix(both.count / 2), both.suffix(both.count / 2)) {
      let key = try object(key, depth: depth + 1)
      let value = try object(value, depth: depth + 1)
      guard case .string(let name) = key.value else { throw Damage("a key is no text") }
      guard entries.updateValue(value.value, forKey: name) == nil else { throw Damage("a key is there twice") }
      weight += key.weight + value.weight
    }
    return Known(value: .dictionary(entries), weight: weight)
  }

  /// The numbers of the objects that a collection holds.
  private func references(_ start: Int, _ low: Int, times: Int) throws -> [Int] {
    let payload = try payload(start, low, unit: referenceSize * times)
    return try stride(from: payload.startIndex, to: payload.endIndex, by: referenceSize).map {
      try integer(at: $0, size: referenceSize)
    }
  }

  /// The bytes after a marker; a low half of 15 means that a number with the length follows.
  private func payload(_ start: Int, _ low: Int, unit: Int) throws -> ArraySlice<UInt8> {
    var position = start + 1
    var count = low
    if low == 15 {
      guard position < bytes.count, bytes[position] >> 4 == 1, bytes[position] & 0x0F <= 3 else {
        throw Damage("a length is no number")
      }
      let size = 1 << Int(bytes[position] & 0x0F)
      count = try integer(at: position + 1, size: size)
      position += 1 + size
    }
    guard position <= tableStart, count <= (tableStart - position) / unit else {
      throw Damage("an object reaches past the end")
    }
    return bytes[position..<(position + count * unit)]
  }

  /// Numbers of one, two and four bytes have no sign.
  private func number(at start: Int, size: Int) throws -> PropertyListValue {
    guard size == 16 else {
      let value = try word(at: start, size: size)
      return .integer(size == 8 ? Int64(bitPattern: value) : Int64(value))
    }
    let (high, low) = (try word(at: start, size: 8), try word(at: start + 8, size: 8))
    let sign: UInt64 = low > UInt64(Int64.max) ? .max : 0
    if high == sign { return .integer(Int64(bitPattern: low)) }
    return high == 0 ? .unsigned(low) : .wide(high: high, low: low)
  }

  private static func utf16(_ bytes: [UInt8]) -> String {
    let units = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    return String(decoding: units, as: UTF16.self)
  }

  private func integer(at start: Int, size: Int) throws -> Int {
    guard let value = Int(exactly: try word(at: start, size: size)) else { throw Damage("a number is too large") }
    return value
  }

  private func word(at start: Int, size: Int) throws -> UInt64 {
    guard size <= 8, start >= 0, start <= bytes.count - size else { throw Damage("it ends too early") }
    return bytes[start..<(start + size)].reduce(0) { $0 << 8 | UInt64($1) }
  }
}
