import Streams

/// A pass over one source table: what its rows need, found once.
///
/// Rows that need no object are migrated by the recipe of their entity's only mapping. What does not fit is left to
/// ``RowTransformer``'s other way, which gives the same bytes.
final class TablePass {
  /// The way of an entity's rows that need no object.
  private struct Way {
    var mapping: Int
    var recipe: Unmanaged<RecordProgram>
    /// The table's number in the output.
    var table: Int
    /// What is added to a source key.
    var offset: Int64
  }

  /// Finds the columns of the table's records.
  let locator: RecordLocator
  let table: Int
  let entityPosition: Int
  /// By Z_ENT: the entities of this table.
  let entities: [SourceEntity?]
  /// By Z_ENT: the mappings of this pass that take the entity's rows.
  let mappings: [[Int]]
  /// By Z_ENT; nil where rows need the other way.
  private let ways: UnsafeMutableBufferPointer<Way?>
  /// Rows that were migrated by recipe, by mapping.
  private let kept: UnsafeMutableBufferPointer<UInt64>

  /// Prepares a pass for some mappings of a table. `wants` tells whether look-ups want a mapping's objects.
  init(_ plan: StepPlan, table: Int, mappings indexes: [Int], wants: (CompiledMapping) -> Bool) {
    let bound = plan.binding.tables[table]
    self.table = table
    locator = RecordLocator(columnCount: bound.schema.columns.count)
    entityPosition = bound.positions[1]
    entities = plan.graph.byNumber.map { $0?.table == table ? $0 : nil }
    let used = plan.mappingsByEntity.map { $0.filter(indexes.contains) }
    mappings = used
    ways = .allocate(capacity: used.count)
    ways.initialize(repeating: nil)
    kept = .allocate(capacity: plan.mappings.count)
    kept.initialize(repeating: 0)
    for number in used.indices where used[number].count == 1 {
      let (index, mapping) = (used[number][0], plan.mappings[used[number][0]])
      // The plan keeps the recipes as long as there are passes.
      guard mapping.isPlain, let recipe = mapping.recipe, !wants(mapping) else { continue }
      ways[number] = Way(
        mapping: index, recipe: Unmanaged.passUnretained(recipe), table: mapping.destination.table, offset: mapping.offset)
    }
  }

  deinit {
    ways.deallocate()
    kept.deallocate()
  }

  /// Locates the row's columns, and migrates it where it needs no object; else nothing is done but that.
  @inline(__always)
  func migrate(_ record: UnsafeRawBufferPointer, _ key: Int64, to output: RecordPage) -> (isLocated: Bool, isMigrated: Bool) {
    guard locator.locate(record) else { return (false, false) }
    guard let number = locator.integer(entityPosition), number > 0, number < Int64(ways.count), let way = ways[Int(number)],
      way.recipe._withUnsafeGuaranteedRef({ $0.append(locator, to: output, table: way.table, rowid: key &+ way.offset) })
    else { return (true, false) }
    kept[way.mapping] += 1
    return (true, true)
  }

  /// Adds what was migrated since the last call to the step's counts.
  func count(into state: inout StepState) {
    for index in kept.indices where kept[index] > 0 {
      state.counts[index].read += kept[index]
      state.counts[index].kept += kept[index]
      kept[index] = 0
    }
  }
}
