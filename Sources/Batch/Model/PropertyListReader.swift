import Foundation

/// A value of a binary property list. Keyed archives use `uid` to point into their table of objects.
indirect enum PropertyList: Sendable, Equatable {
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  /// Seconds since 2001.
  case date(Double)
  case data([UInt8])
  case string(String)
  case uid(Int)
  case array([PropertyList])
  case dictionary([String: PropertyList])
}

/// Reads binary property lists (`bplist00`), which Foundation cannot do where they are keyed archives.
///
/// The bytes come from files of strangers: every position is checked, depth and number of objects are limited, rings
/// are refused, and each object is read once, however often it is referred to.
struct PropertyListReader {
  private static let greatestDepth = 128
  private static let mostObjects = 4_000_000

  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  private var objectCount = 0
  private var tableStart = 0
  private var known: [PropertyList?] = []
  private var active: [Bool] = []

  /// Reads the top object.
  static func read(_ bytes: [UInt8]) throws -> PropertyList {
    guard bytes.count >= 40, bytes.starts(with: "bplist00".utf8) else {
      throw damaged("it is no binary property list")
    }
    var reader = try PropertyListReader(bytes)
    return try reader.object(try reader.integer(at: bytes.count - 16, size: 8), depth: 0)
  }

  private init(_ bytes: [UInt8]) throws {
    self.bytes = bytes
    let trailer = bytes.count - 32
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    let count = try integer(at: trailer + 8, size: 8)
    let table = try integer(at: trailer + 24, size: 8)
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), count > 0, count <= Self.mostObjects,
      table >= 8, table <= trailer, (trailer - table) / offsetSize >= count
    else { throw Self.damaged("its table of objects does not fit the file") }
    objectCount = count
    tableStart = table
    known = Array(repeating: nil, count: count)
    active = Array(repeating: false, count: count)
  }

  private mutating func object(_ reference: Int, depth: Int) throws -> PropertyList {
    guard reference >= 0, reference < objectCount else { throw Self.damaged("an object refers to none") }
    if let object = known[reference] { return object }
    guard !active[reference], depth < Self.greatestDepth else { throw Self.damaged("objects hold themselves") }
    active[reference] = true
    let object = try read(at: try integer(at: tableStart + reference * offsetSize, size: offsetSize), depth: depth)
    active[reference] = false
    known[reference] = object
    return object
  }

  private mutating func read(at start: Int, depth: Int) throws -> PropertyList {
    guard start >= 8, start < tableStart else { throw Self.damaged("an object lies outside the file") }
    let low = Int(bytes[start] & 0x0F)
    switch bytes[start] >> 4 {
    case 0x0 where low == 8 || low == 9: return .boolean(low == 9)
    case 0x0 where low == 0: return .string("")
    case 0x1 where low <= 4: return try number(at: start + 1, size: 1 << low)
    case 0x2 where low == 2:
      return .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: try word(at: start + 1, size: 4)))))
    case 0x2 where low == 3: return .real(Double(bitPattern: try word(at: start + 1, size: 8)))
    case 0x3 where low == 3: return .date(Double(bitPattern: try word(at: start + 1, size: 8)))
    case 0x8: return .uid(try integer(at: start + 1, size: low + 1))
    case 0x4: return .data(Array(try payload(start, low, unit: 1)))
    case 0x5, 0x7: return .string(String(decoding: try payload(start, low, unit: 1), as: UTF8.self))
    case 0x6: return .string(utf16(try payload(start, low, unit: 2)))
    case 0xA, 0xB, 0xC:
      return .array(try references(start, low, times: 1).map { try object($0, depth: depth + 1) })
    case 0xD: return try dictionary(start, low, depth: depth)
    default: throw Self.damaged("an object has an unknown type")
    }
  }

  private mutating func dictionary(_ start: Int, _ low: Int, depth: Int) throws -> PropertyList {
    let both = try references(start, low, times: 2)
    var entries: [String: PropertyList] = [:]
    for (key, value) in zip(both.prefix(both.count / 2), both.suffix(both.count / 2)) {
      guard case .string(let name) = try object(key, depth: depth + 1) else {
        throw Self.damaged("a key is no text")
      }
      entries[name] = try object(value, depth: depth + 1)
    }
    return .dictionary(entries)
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
        throw Self.damaged("a length is no number")
      }
      let size = 1 << Int(bytes[position] & 0x0F)
      count = try integer(at: position + 1, size: size)
      position += 1 + size
    }
    guard position <= tableStart, count <= (tableStart - position) / unit else {
      throw Self.damaged("an object reaches past the end")
    }
    return bytes[position..<(position + count * unit)]
  }

  private func number(at start: Int, size: Int) throws -> PropertyList {
    guard size == 16 else {
      let value = try word(at: start, size: size)
      // Numbers of one, two and four bytes have no sign.
      return .integer(size == 8 ? Int64(bitPattern: value) : Int64(value))
    }
    let (high, value) = (try word(at: start, size: 8), try word(at: start + 8, size: 8))
    if high == 0 { return Int64(exactly: value).map(PropertyList.integer) ?? .real(Double(value)) }
    return .integer(Int64(bitPattern: value))
  }

  private func utf16(_ payload: ArraySlice<UInt8>) -> String {
    let bytes = Array(payload)
    let units = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    return String(decoding: units, as: UTF16.self)
  }

  private func integer(at start: Int, size: Int) throws -> Int {
    guard let value = Int(exactly: try word(at: start, size: size)) else { throw Self.damaged("a number is too large") }
    return value
  }

  private func word(at start: Int, size: Int) throws -> UInt64 {
    guard size <= 8, start >= 0, start <= bytes.count - size else { throw Self.damaged("it ends too early") }
    return bytes[start..<(start + size)].reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func damaged(_ reason: String) -> BatchError {
    BatchError(.badModel, "the binary property list is damaged: \(reason)")
  }
}
