import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// Counts what each removal of an entity mapping removes, where it has several: the first one that holds counts the
/// object. The tables that they are about are read once more.
struct RemovalCount {
  /// By place of the mapping in the plan, in the order of its removals.
  private(set) var counts: [Int: [UInt64]] = [:]
  private let plan: StepPlan

  /// Counts nothing where each mapping removes for one reason.
  init(_ plan: StepPlan, _ state: StepState) throws {
    self.plan = plan
    for (place, mapping) in plan.mappings.enumerated()
    where mapping.mapping.countsRemovals && state.counts[place].dropped > 0 {
      let removals = try MappingFilter.removals(of: mapping.mapping, source: mapping.source, graph: plan.graph)
      counts[place] = try count(removals, of: place, mapping.source)
    }
  }

  private func count(_ removals: [MappingFilter], of place: Int, _ entity: SourceEntity) throws -> [UInt64] {
    var counts = [UInt64](repeating: 0, count: removals.count)
    let bound = plan.binding.tables[entity.table]
    let row = RecordDecoder(longValues: plan.graph.longValues)
    let object = SourceObject(entity: entity, graph: plan.graph, key: 0, decoder: row)
    try scan(bound.schema) { key, record in
      guard row.decode(record), let number = row.integer(bound.positions[1]),
        plan.mappingsByEntity.indices.contains(Int(number)), plan.mappingsByEntity[Int(number)].contains(place)
      else { return }
      object.key = key
      if let found = try removals.firstIndex(where: { try $0.takes(object) }) { counts[found] += 1 }
    }
    return counts
  }

  /// The rows of a table; those of a version between are made on the way.
  private func scan(_ table: TableSchema, _ body: (Int64, UnsafeRawBufferPointer) throws -> Void) throws {
    guard let origin = plan.graph.origin(table.rootPage, isWithoutRowid: table.isWithoutRowid) else { return }
    let scan = try RowScan.whole(origin.root, plan.graph.reader.snapshot, isWithoutRowid: origin.isWithoutRowid)
    let (page, made) = (RowPage(), RowPage())
    while try scan.next(into: page) {
      if let passed = plan.passed { try passed.make(page, of: table.rootPage, into: made) }
      let rows = plan.passed == nil ? page : made
      for index in 0..<rows.count { try body(rows.rowid(index), rows.record(index)) }
    }
  }
}
