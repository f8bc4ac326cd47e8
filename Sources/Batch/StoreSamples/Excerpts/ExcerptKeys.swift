import CoreDataStore
import Migrations
import RunSupport
import StoreExports
import Streams

/// Which objects an excerpt takes: the first ones that are asked for, and all that to-ones of these lead to.
final class ExcerptKeys {
  private let shape: ExcerptShape
  private let memory: MemoryBudget
  /// By table.
  let taken: [KeySet]
  /// Objects that were asked for, by Z_ENT.
  private(set) var asked: [Int64: UInt64] = [:]
  private let decoder: RecordDecoder
  private var lookups: [RowLookup?]

  init(_ shape: ExcerptShape, memory: MemoryBudget) {
    (self.shape, self.memory) = (shape, memory)
    taken = shape.tables.map { _ in KeySet() }
    lookups = shape.tables.map { _ in nil }
    decoder = RecordDecoder(
      longValues: LongValueReader(snapshot: shape.reader.snapshot, limit: memory.rowLimit))
  }

  /// The number of objects.
  var count: UInt64 { taken.reduce(0) { $0 + $1.count } }

  // MARK: What is asked for

  /// Takes the first objects of each table, or of an entity and its sub-entities those for which a condition holds.
  func ask(_ options: StoreExcerpt.Options, progress: (Double) -> Void) throws {
    var wanted = ExportOptions(format: .jsonLines, entity: options.entity)
    wanted.condition = options.condition
    let planner = ExportPlanner(graph: shape.graph, options: wanted, uuid: shape.reader.metadata.uuid)
    let model = shape.layout.model
    let members = shape.graph.byNumber.compactMap { $0 }.filter { member in
      options.entity.map { model.isKind(member.name, of: $0) } ?? true
    }
    for (place, table) in Set(members.map(\.table)).sorted().enumerated() {
      progress(Double(place) / Double(shape.tables.count))
      var filters: [Int64: ExportFilter?] = [:]
      for member in members where member.table == table {
        filters.updateValue(try planner.filter(member), forKey: Int64(member.number))
      }
      try ask(table, filters, limit: options.limit)
    }
  }

  /// `filters` are by Z_ENT; an entity without one there is not asked for.
  private func ask(_ table: Int, _ filters: [Int64: ExportFilter?], limit: UInt64) throws {
    let (scan, page, all) = (shape.scan(table), RowPage(), taken[table])
    while all.count < limit, try scan.next(into: page) {
      for row in 0..<page.count where all.count < limit {
        let (key, record) = (page.rowid(row), page.record(row))
        let number = try shape.decode(record, key: key, table: table, into: decoder)
        guard let filter = filters[number], let entity = shape.graph.byNumber[Int(number)] else { continue }
        let isTaken = try filter?.takes(decoder, key: key) { shape.graph.missing(entity, $0) } ?? true
        guard isTaken else { continue }
        all.insert(key)
        asked[number, default: 0] += 1
      }
      try checkMemory([])
    }
  }

  // MARK: What that leads to

  /// Takes what to-ones lead to, and what those objects' lead to, until nothing is added. Keys that lead nowhere are
  /// not taken.
  func follow(progress: (UInt64) -> Void) throws {
    var pending = taken
    while pending.contains(where: { !$0.isEmpty }) {
      let next = shape.tables.map { _ in KeySet() }
      for (table, keys) in pending.enumerated() where !keys.isEmpty {
        try follow(keys, of: table, into: next)
        progress(count)
      }
      // Not before: the first round reads what is taken.
      for (table, keys) in next.enumerated() { keys.forEach { taken[table].insert($0) } }
      pending = next
    }
  }

  private func follow(_ keys: KeySet, of table: Int, into next: [KeySet]) throws {
    let lookup = lookups[table] ?? shape.lookup(table)
    lookups[table] = lookup
    let gone = KeySet()
    var done = 0
    try keys.forEach { key in
      let isThere = try lookup.withRecord(key) { record in
        let number = try shape.decode(record, key: key, table: table, into: decoder)
        for toOne in shape.toOnes(number) {
          guard let target = decoder.integer(toOne.position), !taken[toOne.table].contains(target) else { continue }
          next[toOne.table].insert(target)
        }
        return true
      }
      if isThere == nil { gone.insert(key) }
      done += 1
      if done & 0x3FF == 0 { try checkMemory(next) }
    }
    gone.forEach { taken[table].remove($0) }
    try checkMemory(next)
  }

  private func checkMemory(_ next: [KeySet]) throws {
    let bytes = (taken + next).reduce(0) { $0 + $1.byteCount }
    guard bytes > 2 * memory.lookupBytes else { return }
    throw StreamsError(
      .tooLarge, "the keys of the objects do not fit into the memory: there are \(count.grouped), and more to come",
      path: shape.reader.path, hint: "Run again with a larger --memory, or a smaller --limit")
  }
}
