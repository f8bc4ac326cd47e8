import Foundation

/// Reads a Parquet file of flat columns: an own reader, which shares nothing with the writer.
///
/// Source of the rule: "Apache Parquet file format", parquet.thrift, "Thrift Compact protocol", "LZ4 Block Format".
struct ParquetDocument {
  struct Damage: Error { let what: String }

  struct Column {
    var name = ""
    var type = 0
    var logical: ThriftValue?
    var isOptional = false
    var values: [Value?] = []
  }

  enum Value: Equatable {
    case flag(Bool)
    case number(Int64)
    case real(Double)
    case bytes([UInt8])
  }

  private let bytes: [UInt8]
  private(set) var columns: [Column] = []
  let groups: Int
  let rows: Int

  init(_ path: String) throws {
    bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let mark = Array("PAR1".utf8)
    guard bytes.count > 12, bytes.starts(with: mark), bytes.suffix(4).elementsEqual(mark) else {
      throw Damage(what: "no mark")
    }
    let length = Self.word(bytes, bytes.count - 8)
    var reader = ThriftReader(bytes, at: bytes.count - 8 - length)
    let footer = try reader.structure()
    guard reader.place == bytes.count - 8 else { throw Damage(what: "the footer has another length") }
    rows = Int(footer[3].integer)
    groups = footer[4].list.count
    let elements = footer[2].list
    guard Int(elements[0][5].integer) == elements.count - 1 else { throw Damage(what: "another number of columns") }
    for element in elements.dropFirst() {
      columns.append(
        Column(
          name: element[4].text, type: Int(element[1].integer), logical: element.fields[10],
          isOptional: element[3].integer == 1))
    }
    for group in footer[4].list { try read(group) }
    guard columns.allSatisfy({ $0.values.count == rows }) else { throw Damage(what: "columns of several lengths") }
  }

  private static func word(_ bytes: [UInt8], _ place: Int) -> Int {
    (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
  }

  private mutating func read(_ group: ThriftValue) throws {
    for (index, chunk) in group[1].list.enumerated() {
      let data = chunk[3]
      guard data[3].list.map(\.text) == [columns[index].name] else { throw Damage(what: "columns in another order") }
      let (start, before) = (Int(data[9].integer), columns[index].values.count)
      var place = start
      while columns[index].values.count - before < Int(data[5].integer) { place = try readPage(place, index) }
      guard place - start == Int(data[7].integer) else { throw Damage(what: "a chunk of another length") }
      let nulls = columns[index].values[before...].count { $0 == nil }
      guard nulls == Int(data[12][3].integer) else { throw Damage(what: "another number of NULLs") }
    }
  }

  private mutating func readPage(_ place: Int, _ index: Int) throws -> Int {
    var reader = ThriftReader(bytes, at: place)
    let header = try reader.structure()
    let end = reader.place + Int(header[3].integer)
    let body = try LZ4Text.plain(bytes[reader.place..<end])
    guard body.count == Int(header[2].integer) else { throw Damage(what: "a page of another length") }
    let count = Int(header[5][1].integer)
    var levels = Array(repeating: true, count: count)
    var start = 0
    if columns[index].isOptional {
      start = 4 + Self.word(body, 0)
      levels = try Self.levels(Array(body[4..<start]), count)
    }
    var values = ParquetValues(type: columns[index].type, bytes: body, place: start)
    for isPresent in levels { columns[index].values.append(isPresent ? values.next() : nil) }
    guard values.isAtEnd else { throw Damage(what: "bytes after the last value") }
    return end
  }

  /// Runs, and packed bits, of levels of one bit.
  private static func levels(_ bytes: [UInt8], _ count: Int) throws -> [Bool] {
    var (levels, reader) = ([Bool](), ThriftReader(bytes, at: 0))
    while levels.count < count {
      let header = Int(reader.varint())
      if header & 1 == 0 {
        levels += repeatElement(reader.byte() == 1, count: header >> 1)
      } else {
        for _ in 0..<header >> 1 {
          let byte = reader.byte()
          levels += (0..<8).map { byte >> $0 & 1 == 1 }
        }
      }
    }
    return Array(levels.prefix(count))
  }

  subscript(name: String) -> [Value?] { columns.first { $0.name == name }?.values ?? [] }
}

/// PLAIN values of a page.
private struct ParquetValues {
  let type: Int
  let bytes: [UInt8]
  var place: Int
  private var bit = 0

  init(type: Int, bytes: [UInt8], place: Int) { (self.type, self.bytes, self.place) = (type, bytes, place) }

  var isAtEnd: Bool { place + (bit > 0 ? 1 : 0) == bytes.count }

  private mutating func number(_ length: Int) -> UInt64 {
    defer { place += length }
    return (0..<length).reduce(0) { $0 | UInt64(bytes[place + $1]) << (8 * $1) }
  }

  private mutating func take(_ count: Int) -> ParquetDocument.Value {
    defer { place += count }
    return .bytes(Array(bytes[place..<place + count]))
  }

  mutating func next() -> ParquetDocument.Value {
    switch type {
    case 0:
      let flag = bytes[place] >> bit & 1 == 1
      bit = (bit + 1) & 7
      if bit == 0 { place += 1 }
      return .flag(flag)
    case 1: return .number(Int64(Int32(truncatingIfNeeded: number(4))))
    case 2: return .number(Int64(bitPattern: number(8)))
    case 4: return .real(Double(Float(bitPattern: UInt32(number(4)))))
    case 5: return .real(Double(bitPattern: number(8)))
    case 7: return take(16)
    default: return take(Int(number(4)))
    }
  }
}
