/// A value of Thrift's compact protocol.
struct ThriftValue {
  var integer: Int64 = 0
  var text = ""
  var list: [ThriftValue] = []
  var fields: [Int: ThriftValue] = [:]

  subscript(field: Int) -> ThriftValue { fields[field] ?? ThriftValue() }
}

struct ThriftReader {
  private let bytes: [UInt8]
  private(set) var place: Int

  init(_ bytes: [UInt8], at place: Int) { (self.bytes, self.place) = (bytes, place) }

  mutating func byte() -> UInt8 {
    defer { place += 1 }
    return bytes[place]
  }

  mutating func varint() -> UInt64 {
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while true {
      let next = byte()
      value |= UInt64(next & 0x7F) << shift
      shift += 7
      if next < 0x80 { return value }
    }
  }

  private mutating func number() -> Int64 {
    let value = varint()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  mutating func structure() throws -> ThriftValue {
    var (result, last) = (ThriftValue(), 0)
    while true {
      let head = byte()
      if head == 0 { return result }
      last = head >> 4 == 0 ? Int(number()) : last + Int(head >> 4)
      result.fields[last] = try value(head & 15)
    }
  }

  private mutating func value(_ kind: UInt8) throws -> ThriftValue {
    switch kind {
    case 1, 2: return ThriftValue(integer: kind == 1 ? 1 : 0)
    case 3: return ThriftValue(integer: Int64(Int8(bitPattern: byte())))
    case 4, 5, 6: return ThriftValue(integer: number())
    case 8:
      let count = Int(varint())
      defer { place += count }
      return ThriftValue(text: String(decoding: bytes[place..<place + count], as: UTF8.self))
    case 9:
      let head = byte()
      let count = head >> 4 == 15 ? Int(varint()) : Int(head >> 4)
      return ThriftValue(list: try (0..<count).map { _ in try value(head & 15) })
    case 12: return try structure()
    default: throw ParquetDocument.Damage(what: "a field of kind \(kind)")
    }
  }
}

/// Blocks of LZ4.
enum LZ4Text {
  static func plain(_ block: ArraySlice<UInt8>) throws -> [UInt8] {
    var (rest, output) = (block, [UInt8]())
    func length(_ start: UInt8, _ rest: inout ArraySlice<UInt8>) -> Int {
      var length = Int(start)
      guard start == 15 else { return length }
      while let next = rest.popFirst() {
        length += Int(next)
        if next < 255 { break }
      }
      return length
    }
    while let token = rest.popFirst() {
      let literals = length(token >> 4, &rest)
      output += rest.prefix(literals)
      rest = rest.dropFirst(literals)
      guard let low = rest.popFirst(), let high = rest.popFirst() else { break }
      let distance = Int(low) | Int(high) << 8
      guard distance > 0, distance <= output.count else { throw ParquetDocument.Damage(what: "a block of LZ4") }
      for _ in 0..<length(token & 15, &rest) + 4 { output.append(output[output.count - distance]) }
    }
    return output
  }
}
