import CoreDataStore
import RunSupport
import Streams

/// What was counted of a version's objects: the other half of an account. Layout in checkpoints: FORMAT.md, section
/// 8.5.
struct ContentTally: Equatable {
  /// By Z_ENT: objects, then for each column of their table how many have NULL in it.
  private(set) var numbers: [Int: [UInt64]] = [:]
  /// By `Entity.attribute`: converted values that are not the same number after it.
  private(set) var changed: [String: UInt64] = [:]
  /// By Z_ENT: objects that no mapping took.
  private(set) var leftOut: [Int: UInt64] = [:]
  /// By join table, in the layout's order: links.
  private(set) var links: [Int: UInt64] = [:]

  init() {}

  /// Objects of all entities.
  var objects: UInt64 { numbers.values.reduce(0) { $0 &+ $1[0] } }

  /// Objects of an entity; 0 where none was seen.
  func objects(_ number: Int) -> UInt64 { numbers[number]?[0] ?? 0 }

  /// Values of an entity's column that are not null.
  func values(_ number: Int, column: Int) -> UInt64 {
    guard let found = numbers[number], column + 1 < found.count else { return 0 }
    return found[0] &- found[column + 1]
  }

  mutating func add(_ number: Int, _ found: UnsafeBufferPointer<UInt64>) {
    guard var sums = numbers[number], sums.count == found.count else {
      numbers[number] = Array(found)
      return
    }
    for index in sums.indices { sums[index] &+= found[index] }
    numbers[number] = sums
  }

  mutating func add(changed: [String: UInt64]) { self.changed.merge(changed, uniquingKeysWith: &+) }

  mutating func add(leftOut count: UInt64, of number: Int) { leftOut[number, default: 0] &+= count }

  mutating func add(links count: UInt64, of join: Int) { links[join, default: 0] &+= count }

  mutating func add(_ other: ContentTally) {
    for (number, found) in other.numbers { found.withUnsafeBufferPointer { add(number, $0) } }
    add(changed: other.changed)
    leftOut.merge(other.leftOut, uniquingKeysWith: &+)
    links.merge(other.links, uniquingKeysWith: &+)
  }

  func encode(into writer: inout ByteWriter) {
    writer.writeArray(numbers.sorted { $0.key < $1.key }) {
      $0.writeInt($1.key)
      $0.writeArray($1.value) { $0.writeUInt64($1) }
    }
    writer.writeArray(changed.sorted { $0.key < $1.key }) {
      $0.writeString($1.key)
      $0.writeUInt64($1.value)
    }
    for counts in [leftOut, links] {
      writer.writeArray(counts.sorted { $0.key < $1.key }) {
        $0.writeInt($1.key)
        $0.writeUInt64($1.value)
      }
    }
  }

  init(from reader: inout ByteReader) throws {
    let found = try reader.readArray(elementSize: 8) {
      (try $0.readInt(), try $0.readArray(elementSize: 8) { try $0.readUInt64() })
    }
    guard found.allSatisfy({ !$0.1.isEmpty }) else { throw reader.damaged("the account") }
    numbers = Dictionary(found) { $1 }
    changed = Dictionary(try reader.readArray { (try $0.readString(), try $0.readUInt64()) }) { $1 }
    let counts = try [leftOut, links].map { _ in
      Dictionary(try reader.readArray(elementSize: 16) { (try $0.readInt(), try $0.readUInt64()) }) { $1 }
    }
    (leftOut, links) = (counts[0], counts[1])
  }
}

extension ContentTally {
  /// Counts what a store holds: the objects of these tables, each of which is read once, and all links.
  init(
    _ reader: StoreReader, binding: StoreBinding, tables: some Sequence<Int>, conversions: [AccountLines.Conversion]
  )
    throws
  {
    for table in tables {
      let tally = try TableTally(binding, table: table, conversions)
      let (page, scan) = (RowPage(), try RowScan.whole(binding.tables[table].schema.rootPage, reader.snapshot))
      while try scan.next(into: page) { try tally.count(page, into: &self, path: reader.path) }
    }
    for (index, join) in binding.joins.enumerated() {
      add(links: try TreeCount.rows(root: join.schema.rootPage, in: reader.snapshot), of: index)
    }
  }
}

extension RowScan {
  /// All rows of a table, long values by reference.
  static func whole(_ root: UInt32, _ snapshot: DatabaseSnapshot, isWithoutRowid: Bool = false) throws -> RowScan {
    try RowScan(
      snapshot: snapshot, root: root, isWithoutRowid: isWithoutRowid, after: nil, rowLimit: .max,
      longValuesFrom: MemoryBudget.longValueBytes)
  }
}
