import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// Everything about a step that follows from models, mappings, policies and the source's schema: made once, before the
/// first row.
package final class StepPlan {
  package let step: MigrationStep
  package let layout: StoreLayout
  let binding: StoreBinding
  let entities: [DestinationEntity]
  package let keys: KeyAssignment
  package let mappings: [CompiledMapping]
  package let units: [StepUnit]
  /// What the source has beyond its model.
  package let carried: CarriedObjects
  let lookups: [Lookup]
  package let graph: SourceGraph
  /// What makes the store's rows to those of the version that the mappings read; nil if they are.
  let passed: PassedRows?
  /// The store's own version, and where its tables and columns are.
  package let origin: StoreBinding
  /// Positions in `mappings` by the source's Z_ENT.
  let mappingsByEntity: [[Int]]
  /// For every mapping, to-many relationships that expressions fill once all objects exist.
  let late: [[PropertyExpression]]
  /// What the model demands of new objects, by Z_ENT; empty for a step that demands nothing.
  let rules: [ObjectRules?]
  /// What of the step changes values for the sake of their new type.
  let conversions: [AccountLines.Conversion]
  /// References that may lead to objects of entities that no mapping carries.
  let goneTargets: [GoneTarget]
  /// Of entities that become several, what not every mapping carries.
  private(set) lazy var splits = step.splits.isEmpty ? nil : SplitProperties(self)

  /// `seed` distinguishes the run from all others, for values that are random.
  package convenience init(
    step: MigrationStep, reader: StoreReader, policies: PolicyRegistry, files: StepFiles, now: Double,
    seed: String = "", extras: ExtrasOptions = ExtrasOptions(), validation: ValidationMode = .all
  ) throws {
    var bound = try StoreBinding(reader, model: step.origin)
    let layout =
      try step.isIdentity ? bound.layout.adopting(bound, schema: reader.schema) : StoreLayout(model: step.destination)
    if step.isIdentity {
      bound = try StoreBinding(layout: layout, schema: reader.schema, modelName: step.source.name, path: reader.path)
    }
    var graph = try SourceGraph(reader: reader, binding: bound, scratch: files, rowLimit: files.budget.rowLimit)
    var passed: PassedRows?
    for between in step.passed {
      let plan = try StepPlan(
        between, layout: StoreLayout(model: between.destination), graph: graph, passed: passed, origin: bound,
        policies: policies, now: now, seed: seed, validation: validation)
      let rows = try PassedRows(plan: plan, files: files)
      (graph, passed) = (try rows.graph(), rows)
    }
    try self.init(
      step, layout: layout, graph: graph, passed: passed, origin: bound, policies: policies, now: now,
      seed: seed, validation: validation, extras: extras)
  }

  /// Plans a step that reads a graph. What the store has beyond its model is for a step with `extras`.
  private init(
    _ step: MigrationStep, layout: StoreLayout, graph: SourceGraph, passed: PassedRows?, origin: StoreBinding,
    policies: PolicyRegistry, now: Double, seed: String, validation: ValidationMode, extras: ExtrasOptions? = nil
  ) throws {
    (self.step, self.layout, self.graph, self.passed, self.origin) = (step, layout, graph, passed, origin)
    conversions = step.lines().conversions
    binding = graph.binding
    entities = try DestinationEntity.all(of: step, layout: layout)
    let drafts = try StepDraft(step: step, layout: layout, graph: graph, policies: policies, entities: entities)
    keys = drafts.keys
    lookups = drafts.lookups
    let rules = try StepRules(drafts, validation).byNumber()
    self.rules = rules
    mappings = try drafts.drafts.map {
      try MappingCompiler(drafts: drafts, rules: rules, now: now, seed: seed).compile($0)
    }
    goneTargets = Self.goneTargets(mappings)
    var byEntity: [[Int]] = Array(repeating: [], count: graph.byNumber.count)
    for (index, mapping) in mappings.enumerated() { byEntity[mapping.source.number].append(index) }
    mappingsByEntity = byEntity
    let links = try LinkPlanner(drafts: drafts).units()
    let inverses = try CarriedRelationships(drafts: drafts, compiled: mappings, links: links).check()
    let sides = step.isIdentity ? [] : try inverses + OneToOneSides(drafts: drafts).check()
    late = try LateRelationships(drafts: drafts, compiled: mappings, links: links).find(now: now)
    var found =
      try extras.map {
        try CarriedObjectsFinder(drafts: drafts, reader: graph.reader, binding: origin, options: $0).find()
      }
      ?? CarriedObjects()
    found.notes += sides
    carried = found
    units =
      drafts.units(links: links, late: late)
      + carried.tables.indices.filter { [carried] in !carried.tables[$0].isEmptied }.map { .carried($0) }
  }
}

extension StepPlan {
  /// Tables with rows in the order of their numbers in the output: those of entities, of links, and those that are
  /// carried.
  package var tableNames: [String] {
    layout.entityTables.map(\.name) + layout.joinTables.map(\.name) + carried.tables.map(\.row.name)
  }

  /// Tables whose objects a trial of the step found by look-ups that did not fit into memory.
  package func tablesOfLookupsInRuns(_ rehearsal: StepRehearsal) -> [String] {
    rehearsal.lookupsInRuns.compactMap { layout.table(ofEntity: lookups[$0].entity)?.name }
  }

  /// The mappings that rows are counted by: the step's own, then those of the steps that are passed, the last one
  /// first.
  var allMappings: [CompiledMapping] { mappings + (passed?.plan.allMappings ?? []) }

  /// How many of ``allMappings`` are of each step, in that order.
  var mappingsOfPasses: [Int] { [mappings.count] + (passed?.plan.mappingsOfPasses ?? []) }

  /// Whether policies, or relationships that expressions fill, may add links to join tables.
  var mayAddLinks: Bool { mappings.contains { $0.policy != nil } || late.contains { !$0.isEmpty } }

  private static func goneTargets(_ mappings: [CompiledMapping]) -> [GoneTarget] {
    var found: [GoneTarget] = []
    for mapping in mappings {
      for (column, source) in mapping.columns.enumerated() {
        guard case .key(let position, let map) = source, let leading = GoneTarget.Leading(map),
          !found.contains(where: { $0.number == mapping.source.number && $0.position == position })
        else { continue }
        found.append(
          GoneTarget(
            number: mapping.source.number, table: mapping.source.table, position: position, leading: leading,
            place: KeyPlace(
              table: mapping.destination.table, column: column, number: mapping.destination.number)))
      }
    }
    return found
  }

  /// Where the links of a join table of the layout stand.
  func place(ofJoin join: Int) -> KeyPlace { KeyPlace(table: layout.entityTables.count + join) }

  /// Whether the layout has a place, as a checkpoint names it.
  func has(_ place: KeyPlace) -> Bool {
    guard place.table >= 0, place.column >= 0, place.table < firstCarried else { return false }
    return place.table >= layout.entityTables.count || place.column < layout.entityTables[place.table].columns.count
  }

  /// The number of the first carried table.
  var firstCarried: Int { layout.entityTables.count + layout.joinTables.count }
}
