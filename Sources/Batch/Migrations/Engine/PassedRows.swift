import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// A step that a pass makes before another, row by row: its destination's rows are made as they are asked for.
///
/// Nothing is kept between calls. Only steps fit whose rows follow from a row each, under the same keys: see
/// ``PassedStep``.
final class PassedRows: PassedVersion {
  /// The step's own plan.
  let plan: StepPlan
  private let files: StepFiles
  /// The version, laid out as the step would write it.
  private let binding: StoreBinding
  /// What makes a table's rows, by the root of the table.
  private var units: [UInt32: StepUnit] = [:]
  /// Made with the first row: a plan alone must write nothing.
  private var transformer: RowTransformer?
  private let single = RowPage()
  private let made = RowPage()
  /// What the mappings took and left out of the last rows that were made, the step's own and those before; and source
  /// rows without mapping.
  private(set) var counts: [StepState.Counts] = []
  private(set) var unmapped: UInt64 = 0
  /// What the last rows were made of, in the version before and those before it.
  private(set) var tallies: [ContentTally] = []

  /// Prepares what `plan` says. Throws `failed` for a plan that does not fit.
  init(plan: StepPlan, files: StepFiles) throws {
    self.plan = plan
    let model = plan.step.destination
    self.files = StepFiles(
      prefix: files.path("passed\(plan.depth)"), fileSystem: files.fileSystem, budget: files.budget)
    binding = try StoreBinding(
      layout: StoreLayout(model: model, purpose: .reading), schema: EmptyStore.reader(of: model).schema,
      modelName: model.name,
      path: plan.graph.reader.path)
    for unit in plan.units {
      guard let root = try root(of: unit) else { continue }
      guard units.updateValue(unit, forKey: root) == nil else { throw misfit("a table gets rows twice") }
    }
  }

  /// The version's objects.
  func graph() throws -> SourceGraph {
    try SourceGraph(
      reader: plan.graph.reader, binding: binding, scratch: files, rowLimit: files.budget.rowLimit, passed: self)
  }

  private func misfit(_ what: String) -> BatchError {
    BatchError(
      .failed, "\(plan.step.origin.name) to \(plan.step.destination.name) cannot be passed: \(what)",
      hint: "This is a fault of the program: use --no-fuse", effect: .nothingWritten)
  }

  /// The table that a unit makes rows of; nil for a unit without rows.
  private func root(of unit: StepUnit) throws -> UInt32? {
    switch unit {
    case .rows(_, let indexes):
      let tables = Set(indexes.map { plan.mappings[$0].destination.table })
      guard let table = tables.first, tables.count == 1, indexes.allSatisfy({ plan.mappings[$0].offset == 0 }) else {
        throw misfit("a table's rows go into several tables")
      }
      return binding.tables[table].schema.rootPage
    case .links(let link): return binding.joins[link.join].schema.rootPage
    case .relationships, .carried: throw misfit("it changes rows that are written")
    case .begin, .endCreation, .endRelationships, .validation, .end: return nil
    }
  }

  func origin(_ root: UInt32) -> (root: UInt32, isWithoutRowid: Bool)? { units[root].flatMap(plan.origin(of:)) }

  /// The table of the version before whose keys each become a link of a join table, and where its records have them; nil
  /// where links follow from more than that, or nobody reads those rows.
  func keysOfLinks(_ root: UInt32) -> (table: Int, position: Int)? {
    guard case .links(let link)? = units[root], link.owners == nil, link.others == nil,
      let table = plan.binding.tables.firstIndex(where: { $0.schema.rootPage == link.scan.root }),
      units.values.contains(where: { if case .rows(table, _) = $0 { true } else { false } })
    else { return nil }
    switch (link.scan.owner, link.scan.other) {
    case (.rowid, .column(let position)), (.column(let position), .rowid): return (table, position)
    default: return nil
    }
  }

  func largestKey(_ root: UInt32) throws -> Int64 {
    guard case .rows(let table, _) = units[root] else { return 0 }
    return try plan.graph.largestKey(table)
  }

  func make(_ page: RowPage, of root: UInt32, into rows: RowPage) throws {
    guard let unit = units[root] else { throw misfit("a table without rows is read") }
    let transformer = try self.transformer ?? plan.makeTransformer(files)
    self.transformer = transformer
    transformer.startOver()
    try transformer.transform(page, of: unit)
    transformer.manager.output.copy(to: rows)
    (counts, unmapped, tallies) = (transformer.state.counts, transformer.state.unmapped, transformer.state.tallies)
  }

  func make(_ key: Int64, _ record: UnsafeRawBufferPointer, of root: UInt32) throws -> UnsafeRawBufferPointer? {
    single.take(key, record)
    try make(single, of: root, into: made)
    return made.count == 0 ? nil : made.record(0)
  }
}
