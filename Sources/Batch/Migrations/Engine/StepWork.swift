import CoreDataStore
import RunSupport
import Streams

/// The work of a step's units, estimated before the first row: bytes are known, rows are presumed by a page of each
/// table.
struct StepWork {
  private(set) var total = 0.0
  /// The work of the units that are done.
  private(set) var done = 0.0
  /// Rows that the tables of the output will have, presumed.
  private(set) var tableRows: [String: Double] = [:]
  private var costs: [(pages: Double, rows: Double, cost: Double)] = []
  /// Pages of the unit at which a run is resumed that were read before.
  private var pagesBefore = (unit: 0, pages: 0.0)
  /// An entry for every second row makes look-ups grow for as long as rows come.
  private static let manyNames = 2.0

  /// Nothing to do.
  init() {}

  /// Looks at the tables that units read; the first `finished` units are done. Entries of `indexes` are collected on
  /// the way.
  init(_ plan: StepPlan, _ snapshot: DatabaseSnapshot, finished: Int, indexes: [StoreIndex]) throws {
    for unit in plan.units {
      var cost = (pages: 0.0, rows: 0.0, cost: 0.0)
      if let origin = plan.origin(of: unit) {
        cost.pages = Double(try TablePages.count(snapshot, root: origin.root))
        let rows = cost.pages * Double(try TablePages.rowsOfFirst(snapshot, root: origin.root))
        cost.rows = rows
        cost.cost =
          cost.pages * Double(snapshot.geometry.pageSize) * WorkCost.readByte + rows * Self.rowCost(unit, plan)
        for name in Self.tables(unit, plan) {
          tableRows[name, default: 0] += rows
          cost.cost += rows * Double(indexes.count { $0.table == name }) * WorkCost.collectedEntry
        }
      }
      costs.append(cost)
    }
    total = costs.reduce(0) { $0 + $1.cost }
    done = costs.prefix(finished).reduce(0) { $0 + $1.cost }
  }

  /// A run is resumed in a unit of which so many rows were read.
  mutating func resume(unit: Int, rowsRead: UInt64) {
    guard costs.indices.contains(unit) else { return }
    pagesBefore = (unit, costs[unit].pages * min(1, Double(rowsRead) / max(1, costs[unit].rows)))
  }

  /// The part of the step's units that is done when this process has read so many pages of a unit. `named` are the
  /// entries of look-ups for each row so far: where they are many, look-ups get slower as they grow.
  func fraction(unit: Int, pages: Double, named: Double = 0) -> Double {
    guard total > 0, costs.indices.contains(unit) else { return 1 }
    let pages = pages + (unit == pagesBefore.unit ? pagesBefore.pages : 0)
    return min(1, (done + costs[unit].cost * Self.part(read: pages / max(1, costs[unit].pages), named: named)) / total)
  }

  /// The part of a unit's work that is done with such a part of its pages: the first rows are those that take less.
  static func part(read: Double, named: Double) -> Double {
    let read = min(1, read)
    return read * (1 - WorkCost.growth * min(1, manyNames * named) * (1 - read))
  }

  /// A unit is done.
  mutating func finish(unit: Int) { if costs.indices.contains(unit) { done += costs[unit].cost } }

  private static func rowCost(_ unit: StepUnit, _ plan: StepPlan) -> Double {
    switch unit {
    case .rows(_, let mappings): mappings.map { objectCost(plan.mappings[$0], plan) }.max() ?? 0
    case .carried: WorkCost.copiedRow
    case .links: WorkCost.linkRow
    case .relationships: WorkCost.policyRow + WorkCost.lookingRow
    case .begin, .endCreation, .endRelationships, .validation, .end: 0
    }
  }

  private static func objectCost(_ mapping: CompiledMapping, _ plan: StepPlan) -> Double {
    let columns = plan.layout.entityTables[mapping.destination.table].columns.count
    let policy = mapping.policy?.policy
    let made = WorkCost.policyRow + (mapping.lookups.isEmpty ? 0 : WorkCost.lookingRow)
    let row = policy == nil ? WorkCost.plainRow : policy is RulePolicy ? WorkCost.ruledRow : made
    return row + WorkCost.column * Double(columns)
  }

  private static func tables(_ unit: StepUnit, _ plan: StepPlan) -> [String] {
    switch unit {
    case .rows(_, let mappings): Set(mappings.map { plan.tableNames[plan.mappings[$0].destination.table] }).sorted()
    case .links(let link): [plan.tableNames[plan.layout.entityTables.count + link.join]]
    case .carried(let index): [plan.carried.tables[index].row.name]
    case .relationships, .begin, .endCreation, .endRelationships, .validation, .end: []
    }
  }
}
