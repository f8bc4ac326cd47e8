import CoreDataStore
import RunSupport
import Streams

/// A reference of an entity's rows that may lead to objects of entities that nothing carries: it is cleared then.
struct GoneTarget {
  /// How such a reference is known.
  enum Leading {
    /// By the number of the object's entity in the row itself.
    case column(Int, gone: Set<Int>)
    /// By the object, which is looked up.
    case object(KeyMap.Owners, gone: Set<Int>)

    /// Nil where a mapping carries all of them.
    init?(_ map: KeyMap) {
      if let owners = map.owners {
        let gone = owners.gone(map.byNumber)
        guard !gone.isEmpty else { return nil }
        self = .object(owners, gone: gone)
      } else {
        guard let position = map.entityPosition, !map.gone.isEmpty else { return nil }
        self = .column(position, gone: map.gone)
      }
    }
  }

  /// The Z_ENT of the rows, and their table.
  var number: Int
  var table: Int
  /// Where the key is.
  var position: Int
  var leading: Leading
  var place: KeyPlace

  /// Whether a row's key leads to an object that goes.
  func isCleared(in row: RecordDecoder) throws -> Bool {
    guard let key = row.integer(position) else { return false }
    switch leading {
    case .column(let position, let gone):
      return row.integer(position).map { gone.contains(Int(truncatingIfNeeded: $0)) } ?? false
    case .object(let owners, let gone):
      return try owners.graph.object(owners.number, key: key).map { gone.contains($0.entity.number) } ?? false
    }
  }
}

/// What was counted of a version's objects: the other half of an account. Layout in checkpoints: FORMAT.md, section
/// 8.5.
struct ContentTally: Equatable {
  /// All objects.
  private(set) var rows = RowCounts()
  /// By `Entity.attribute`: converted values that are not the same number after it.
  private(set) var changed: [String: UInt64] = [:]
  /// By join table, in the layout's order: links.
  private(set) var links: [Int: UInt64] = [:]
  /// Objects that no mapping took, and those that could not be migrated.
  private(set) var leftOut = RowCounts()
  private(set) var rejected = RowCounts()
  /// By join table: links that were carried; none of a table that nothing carries.
  private(set) var carriedLinks: [Int: UInt64] = [:]
  /// Keys and links of carried objects that lead to an object which is not, by their places in the next version.
  private(set) var cleared: [KeyPlace: UInt64] = [:]

  /// By ``AccountLines/Split/path``: values and keys of objects that no mapping took which carries them.
  private(set) var lost: [String: UInt64] = [:]

  init() {}

  mutating func add(_ number: Int, _ found: UnsafeBufferPointer<UInt64>) { rows.add(number, found) }

  mutating func add(changed: [String: UInt64]) { self.changed.merge(changed, uniquingKeysWith: &+) }

  mutating func add(lost: [String: UInt64]) { self.lost.merge(lost, uniquingKeysWith: &+) }

  mutating func add(leftOut number: Int, _ found: UnsafeBufferPointer<UInt64>) { leftOut.add(number, found) }

  mutating func add(rejected number: Int, _ found: UnsafeBufferPointer<UInt64>) { rejected.add(number, found) }

  mutating func add(links count: UInt64, of join: Int) { links[join, default: 0] &+= count }

  mutating func add(carriedLinks count: UInt64, of join: Int) { carriedLinks[join, default: 0] &+= count }

  mutating func add(cleared count: UInt64 = 1, at place: KeyPlace) { cleared[place, default: 0] &+= count }

  mutating func add(_ other: ContentTally) {
    rows.add(other.rows)
    add(changed: other.changed)
    add(lost: other.lost)
    leftOut.add(other.leftOut)
    rejected.add(other.rejected)
    links.merge(other.links, uniquingKeysWith: &+)
    carriedLinks.merge(other.carriedLinks, uniquingKeysWith: &+)
    cleared.merge(other.cleared, uniquingKeysWith: &+)
  }

  func encode(into writer: inout ByteWriter) {
    rows.encode(into: &writer)
    writer.writeCounts(changed)
    let untaken = leftOut.byNumber.merging(rejected.byNumber, uniquingKeysWith: &+)
    for counts in [untaken, links] { Self.encode(counts, into: &writer) }
  }

  /// The rest, which states of earlier versions lack.
  func encodeRest(into writer: inout ByteWriter) {
    leftOut.encode(into: &writer)
    rejected.encode(into: &writer)
    Self.encode(carriedLinks, into: &writer)
    writer.writeArray(
      cleared.sorted { ($0.key.table, $0.key.column, $0.key.number) < ($1.key.table, $1.key.column, $1.key.number) }
    ) {
      for part in [$1.key.table, $1.key.column, $1.key.number] { $0.writeInt(part) }
      $0.writeUInt64($1.value)
    }
  }

  /// What nobody carries, which states of earlier versions lack, too.
  func encodeLost(into writer: inout ByteWriter) { writer.writeCounts(lost) }

  private static func encode(_ counts: [Int: UInt64], into writer: inout ByteWriter) {
    writer.writeArray(counts.sorted { $0.key < $1.key }) {
      $0.writeInt($1.key)
      $0.writeUInt64($1.value)
    }
  }

  init(from reader: inout ByteReader) throws {
    rows = try RowCounts(from: &reader)
    changed = try reader.readCounts()
    leftOut = RowCounts(objects: try Self.counts(from: &reader))
    links = try Self.counts(from: &reader)
  }

  /// Reads what ``encodeRest(into:)`` wrote.
  mutating func readRest(from reader: inout ByteReader) throws {
    (leftOut, rejected) = (try RowCounts(from: &reader), try RowCounts(from: &reader))
    carriedLinks = try Self.counts(from: &reader)
    let found = try reader.readArray(elementSize: 32) {
      (KeyPlace(table: try $0.readInt(), column: try $0.readInt(), number: try $0.readInt()), try $0.readUInt64())
    }
    cleared = Dictionary(found) { $1 }
  }

  /// Takes over what an earlier version kept among ``changed``, with a word behind its path.
  mutating func moveLost() {
    for (path, count) in changed where path.hasSuffix(Self.earlierMark) {
      lost[String(path.dropLast(Self.earlierMark.count))] = count
      changed[path] = nil
    }
  }

  private static let earlierMark = " lost"

  /// Reads what ``encodeLost(into:)`` wrote.
  mutating func readLost(from reader: inout ByteReader) throws { lost = try reader.readCounts() }

  private static func counts(from reader: inout ByteReader) throws -> [Int: UInt64] {
    Dictionary(try reader.readArray(elementSize: 16) { (try $0.readInt(), try $0.readUInt64()) }) { $1 }
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
