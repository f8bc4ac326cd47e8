import Streams

/// Objects by entity number, and how many of them have NULL in each column of their table.
struct RowCounts: Equatable {
  /// By Z_ENT: objects, then the NULLs of each column.
  private var numbers: [Int: [UInt64]] = [:]

  init() {}

  /// Objects of which nothing but their number is known.
  init(objects: [Int: UInt64]) { numbers = objects.mapValues { [$0] } }

  /// Objects of all entities.
  var objects: UInt64 { numbers.values.reduce(0) { $0 &+ $1[0] } }

  /// Objects by Z_ENT.
  var byNumber: [Int: UInt64] { numbers.mapValues { $0[0] } }

  /// Objects of an entity; 0 where none was seen.
  func objects(_ number: Int) -> UInt64 { numbers[number]?[0] ?? 0 }

  /// Values of an entity's column that are not null.
  func values(_ number: Int, column: Int) -> UInt64 {
    guard let found = numbers[number], column + 1 < found.count else { return 0 }
    return found[0] &- found[column + 1]
  }

  mutating func add(_ number: Int, _ found: UnsafeBufferPointer<UInt64>) {
    guard var sums = numbers[number] else {
      numbers[number] = Array(found)
      return
    }
    // Objects of which only their number is known have no values.
    let missing = found.count - sums.count
    if missing > 0 { sums += Array(repeating: sums[0], count: missing) }
    for index in sums.indices { sums[index] &+= index < found.count ? found[index] : found[0] }
    numbers[number] = sums
  }

  mutating func add(_ other: RowCounts) {
    for (number, found) in other.numbers { found.withUnsafeBufferPointer { add(number, $0) } }
  }

  func encode(into writer: inout ByteWriter) {
    writer.writeArray(numbers.sorted { $0.key < $1.key }) {
      $0.writeInt($1.key)
      $0.writeArray($1.value) { $0.writeUInt64($1) }
    }
  }

  init(from reader: inout ByteReader) throws {
    let found = try reader.readArray(elementSize: 8) {
      (try $0.readInt(), try $0.readArray(elementSize: 8) { try $0.readUInt64() })
    }
    guard found.allSatisfy({ !$0.1.isEmpty }) else { throw reader.damaged("the account") }
    numbers = Dictionary(found) { $1 }
  }
}
