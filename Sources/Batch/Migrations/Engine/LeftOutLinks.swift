import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// Keys of objects that filters and removals leave out, by table, and those of entities that are told apart.
struct LeftOutKeys {
  /// Whether there were more than fit into memory: then those that are here say nothing.
  private(set) var isFull = false
  /// Each ascending.
  private var byTable: [Int: [Int64]] = [:]
  private var byNumber: [Int: [Int64]] = [:]
  private var room: Int

  /// Takes as many as fit into so many bytes.
  init(bytes: Int) { room = bytes / MemoryLayout<Int64>.size }

  /// Adds the key of an object that is left out; larger than all before of its table.
  mutating func add(_ key: Int64, of table: Int) { if takes() { byTable[table, default: []].append(key) } }

  /// Adds the key of an object of an entity that is told apart, by Z_ENT; larger than all before.
  mutating func add(_ key: Int64, number: Int) { if takes() { byNumber[number, default: []].append(key) } }

  private mutating func takes() -> Bool {
    room -= 1
    if room < 0 { (isFull, byTable, byNumber) = (true, [:], [:]) }
    return !isFull
  }

  /// Whether an object is left out.
  func has(_ key: Int64, in table: Int) -> Bool { Self.contains(byTable[table], key) }

  /// Whether a key is that of an object of one of these entities.
  func has(_ key: Int64, of numbers: Set<Int>) -> Bool { numbers.contains { Self.contains(byNumber[$0], key) } }

  private static func contains(_ keys: [Int64]?, _ key: Int64) -> Bool {
    guard let keys else { return false }
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < keys.count && keys[low] == key
  }
}

/// Counts the links of objects that do not go along, and the links that lead to such or to those that a relationship no
/// longer takes.
struct LeftOutLinks {
  let keys: LeftOutKeys
  let binding: StoreBinding
  let snapshot: DatabaseSnapshot
  let fates: LinkFates

  /// The keys of one relationship in the rows of a table.
  private struct Column {
    var line: Int
    /// The Z_ENT of the rows; nil where they are those of the objects that the links lead to.
    var number: Int64?
    var position: Int
    /// The table of the objects whose keys these are.
    var other: Int
    /// Of the entities at the end that the links lead to.
    var targets: (gone: Set<Int>, unfit: Set<Int>)
    /// Of those at the other end, where the rows are not theirs.
    var owners: Set<Int> = []

    /// Whether the row's object, to which the link leads, goes as a whole.
    func isLeftOut(_ row: Int64) -> Bool { number == nil && targets.gone.contains(Int(truncatingIfNeeded: row)) }
  }

  /// The account with the links that go with these objects, and those that are cleared because they lead to them. Reads
  /// the tables of relationships once more.
  func count(_ account: VersionAccount) throws -> VersionAccount {
    var (counted, columns) = (account, [Int: [Column]]())
    for index in account.lines.indices where account.lines[index].mayBeCleared {
      let line = account.lines[index]
      switch binding.layout.storage(of: line.name ?? "", entity: line.entity) {
      case .ownKey?:
        guard let (table, column) = try column(of: line, index) else { continue }
        columns[table, default: []].append(column)
      case .ownerKey(let table, let column, _)?:
        guard let owner = binding.layout.tablePosition(ofEntity: line.entity) else { continue }
        let position = binding.tables[table].positions[column]
        columns[table, default: []].append(
          Column(
            line: index, number: nil, position: position, other: owner, targets: fates.targets(of: line),
            owners: fates.owners(of: line)))
      case .join(let join, let ownerIsSource)?:
        counted.lines[index].leftOut =
          try links(of: binding.joins[join], line, ownerIsSource: ownerIsSource).nilIfZero
      case .inverseKey?, nil: break
      }
    }
    for (table, columns) in columns { try count(columns, of: table, into: &counted) }
    counted.noteUnfit(binding)
    return counted
  }

  private func column(of line: AccountLine, _ index: Int) throws -> (table: Int, column: Column)? {
    let entity = try SourceEntity(name: line.entity, binding: binding)
    guard let relationship = entity.relationships[line.name ?? ""], let position = relationship.keyPosition,
      let target = binding.layout.tablePosition(ofEntity: relationship.destination)
    else { return nil }
    let column = Column(
      line: index, number: Int64(entity.number), position: position, other: target, targets: fates.targets(of: line))
    return (entity.table, column)
  }

  private func count(_ columns: [Column], of table: Int, into account: inout VersionAccount) throws {
    let bound = binding.tables[table]
    let (page, row) = (RowPage(), RecordDecoder())
    let scan = try RowScan.whole(bound.schema.rootPage, snapshot)
    var counts = [(leftOut: UInt64, cleared: UInt64)](repeating: (0, 0), count: columns.count)
    while try scan.next(into: page) {
      for index in 0..<page.count where row.decode(page.record(index)) {
        let isGone = keys.has(page.rowid(index), in: table)
        let number = row.integer(bound.positions[1]) ?? 0
        for (place, column) in columns.enumerated() {
          guard column.number == nil || column.number == number, let key = row.integer(column.position) else {
            continue
          }
          if isGone || column.isLeftOut(number) {
            counts[place].leftOut += 1
          } else if clears(key, number, in: column) {
            counts[place].cleared += 1
          }
        }
      }
    }
    for (column, count) in zip(columns, counts) {
      account.lines[column.line].leftOut = count.leftOut.nilIfZero
      account.lines[column.line].cleared = count.cleared.nilIfZero
    }
  }

  /// Whether a key of a row that is carried leads nowhere.
  private func clears(_ key: Int64, _ number: Int64, in column: Column) -> Bool {
    if keys.has(key, in: column.other) { return true }
    let targets = column.targets
    guard column.number == nil else { return keys.has(key, of: targets.gone.union(targets.unfit)) }
    return targets.unfit.contains(Int(truncatingIfNeeded: number)) || keys.has(key, of: column.owners)
  }

  /// Links of a join table one of whose objects does not go along, or is none that the relationship takes.
  private func links(of join: StoreBinding.Join, _ line: AccountLine, ownerIsSource: Bool) throws -> UInt64 {
    let layout = binding.layout
    guard let owner = layout.tablePosition(ofEntity: line.entity),
      let destination = layout.model.relationship(line.name ?? "", of: line.entity)?.destinationEntity,
      let other = layout.tablePosition(ofEntity: destination)
    else { return 0 }
    let (targets, owners) = (fates.targets(of: line), fates.owners(of: line))
    let places =
      ownerIsSource
      ? [join.sourcePosition, join.destinationPosition] : [join.destinationPosition, join.sourcePosition]
    let ends = [(places[0], owner, owners), (places[1], other, targets.gone.union(targets.unfit))]
    let (page, row) = (RowPage(), RecordDecoder())
    let scan = try RowScan.whole(join.schema.rootPage, snapshot, isWithoutRowid: join.schema.isWithoutRowid)
    var count: UInt64 = 0
    while try scan.next(into: page) {
      for index in 0..<page.count where row.decode(page.record(index)) {
        let isGone = ends.contains { position, table, numbers in
          row.integer(position).map { keys.has($0, in: table) || keys.has($0, of: numbers) } ?? false
        }
        if isGone { count += 1 }
      }
    }
    return count
  }
}

extension UInt64 {
  /// The number; nil for 0.
  var nilIfZero: UInt64? { self == 0 ? nil : self }
}
