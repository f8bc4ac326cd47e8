import CoreDataModel
import CoreDataStore
import Streams

/// Keys that lead to objects which policies left out. Such objects are known when all rows were read, and then some
/// keys are written already: a pass over the written tables makes them NULL and leaves out links, as Core Data
/// nullifies.
final class LostReferences {
  private struct Reference {
    var name: String
    var column: Int
    /// Columns that mean nothing without the key: the entity's number, the place in an order.
    var companions: [Int]
    /// The entity table that the key leads to.
    var target: Int
  }

  /// By the number of the table that has the keys: entity tables, then join tables.
  private let references: [[Reference]]
  /// The column with Z_ENT.
  private static let entityColumn = 1
  private let joins: Range<Int>
  private var lookups: [Int: RowLookup] = [:]
  /// Keys that were cleared and links that were left out, by relationship.
  private(set) var counts: [String: UInt64] = [:]
  /// The same without the keys of objects that were created in addition, by their places.
  private(set) var places: [KeyPlace: UInt64] = [:]
  private let firstNewKeys: [Int64]

  /// Nil if no policy left out what something may refer to, and no such object was rejected.
  init?(_ plan: StepPlan, _ counts: [StepState.Counts], rejected: [UInt64]) {
    let lost = plan.mappings.indices.filter { index in
      (plan.mappings[index].policy != nil && counts[index].dropped > 0)
        || (rejected.indices.contains(index) && rejected[index] > 0)
    }
    let targets = Set(lost.map { plan.mappings[$0].destination.table })
    guard !targets.isEmpty else { return nil }
    let layout = plan.layout
    let found =
      layout.entityTables.map { Self.references($0, layout) } + layout.joinTables.map { Self.references($0, layout) }
    references = found.map { $0.filter { targets.contains($0.target) } }
    joins = layout.entityTables.count..<found.count
    firstNewKeys = plan.keys.firstNewKeys
    if references.allSatisfy(\.isEmpty) { return nil }
  }

  /// The relationship whose keys a column holds, as `Entity.name`; nil for another column.
  static func name(_ role: ColumnRole) -> String? {
    switch role {
    case .toOne(let owner, let name), .inverselessOwner(let owner, let name): "\(owner).\(name)"
    default: nil
    }
  }

  private static func references(_ table: EntityTable, _ layout: StoreLayout) -> [Reference] {
    table.columns.enumerated().compactMap { index, column in
      guard let relationship = name(column.role) else { return nil }
      let (target, companions): (String?, [ColumnRole])
      switch column.role {
      case .toOne(let owner, let name):
        target = layout.model.relationship(name, of: owner)?.destinationEntity
        companions = [.toOneEntity(entity: owner, name: name), .orderingKey(entity: owner, name: name)]
      case .inverselessOwner(let owner, let name):
        target = owner
        companions = [.inverselessOrder(entity: owner, name: name)]
      default: return nil
      }
      guard let table = target.flatMap({ layout.tablePosition(ofEntity: $0) }) else { return nil }
      return Reference(
        name: relationship, column: index, companions: companions.compactMap { layout.position(of: $0)?.column },
        target: table)
    }
  }

  private static func references(_ join: JoinTable, _ layout: StoreLayout) -> [Reference] {
    [(join.sourceColumn, join.relationship.entity), (join.destinationColumn, join.inverse.entity)].compactMap {
      name, entity in
      guard let column = join.columns.firstIndex(of: name), let target = layout.tablePosition(ofEntity: entity) else {
        return nil
      }
      return Reference(name: join.relationship.description, column: column, companions: [], target: target)
    }
  }

  /// Says where rows of entity tables are found: in a file that has them all.
  func open(_ snapshot: DatabaseSnapshot, roots: [UInt32], cacheBytes: Int) {
    for target in Set(references.joined().map(\.target)) {
      lookups[target] = RowLookup(snapshot: snapshot, root: roots[target], cacheBytes: cacheBytes, rowLimit: .max)
    }
  }

  /// Whether something was left out that would be in this table. What policies change in such objects changes nothing.
  func mayLack(_ table: Int) -> Bool { lookups[table] != nil }

  /// Whether rows of this table may have such keys.
  func concern(_ table: Int) -> Bool { table < references.count && !references[table].isEmpty }

  /// Adds to a row's changes those that clear its keys; false for a link, which is left out as a whole.
  func clear(_ row: RecordDecoder, rowid: Int64, of table: Int, _ changes: inout [Int: Value]) throws -> Bool {
    for reference in references[table] {
      guard let key = key(reference.column, row: row, changes: changes),
        try lookups[reference.target]?.contains(key) == false
      else {
        continue
      }
      counts[reference.name, default: 0] += 1
      if joins.contains(table) {
        places[KeyPlace(table: table), default: 0] += 1
        return false
      }
      if rowid < firstNewKeys[table] {
        let number = row.integer(Self.entityColumn).map { Int(truncatingIfNeeded: $0) } ?? 0
        places[KeyPlace(table: table, column: reference.column, number: number), default: 0] += 1
      }
      for column in [reference.column] + reference.companions { changes[column] = .null }
    }
    return true
  }

  private func key(_ column: Int, row: RecordDecoder, changes: [Int: Value]) -> Int64? {
    guard let changed = changes[column] else { return row.integer(column) }
    if case .integer(let key) = changed { return key }
    return nil
  }
}
