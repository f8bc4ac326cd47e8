import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// The decisions of a step that all its mappings share: order, scans, key offsets, look-ups.
final class StepDraft {
  let step: MigrationStep
  let layout: StoreLayout
  let graph: SourceGraph
  let entities: [String: DestinationEntity]
  private(set) var drafts: [MappingDraft] = []
  private(set) var keys: KeyAssignment
  private(set) var lookups: [Lookup] = []
  /// For every scan in order: the source's table and positions in `drafts`.
  private var scans: [(table: Int, mappings: [Int])] = []
  /// Names that several entity mappings of the step bear: nothing can be found by them.
  private(set) var ambiguousNames: Set<String> = []
  /// The entities of each mapping, by its name.
  private(set) var mappingEntities: [String: (source: String?, destination: String?)] = [:]
  /// For each entity of the source in the order of its numbers: the drafts that read it.
  private(set) var draftsBySource: [[MappingDraft]] = []

  init(
    step: MigrationStep, layout: StoreLayout, graph: SourceGraph, policies: PolicyRegistry,
    entities: [DestinationEntity]
  ) throws {
    self.step = step
    self.layout = layout
    self.graph = graph
    self.entities = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
    let tables = layout.entityTables.count
    keys = KeyAssignment(
      firstNewKeys: Array(repeating: 1, count: tables + layout.joinTables.count + 1),
      kept: Array(repeating: false, count: tables)
    )
    for model in step.mappingModels { try add(model, policies) }
    ambiguousNames = Set(Dictionary(grouping: drafts, by: \.mapping.name).filter { $0.value.count > 1 }.keys)
    let named = drafts.map { ($0.mapping.name, ($0.mapping.sourceEntity, $0.mapping.destinationEntity)) }
    mappingEntities = Dictionary(named) { first, _ in first }
    draftsBySource = graph.byNumber.map { entity in drafts.filter { $0.source === entity } }
    try assignOffsets()
    let declared = drafts.flatMap { $0.policy?.lookups(for: $0.mapping) ?? [] }
    for lookup in declared where !lookup.isWish && !lookups.contains(lookup) { lookups.append(lookup) }
    for lookup in declared where lookup.isWish && lookup.fits(layout.model) { wish(lookup) }
    for lookup in lookups { try check(lookup) }
  }

  /// Adds a look-up that is a wish. What is declared by first anyway learns of values that several objects have.
  private func wish(_ lookup: Lookup) {
    let same = lookups.firstIndex { $0.entity == lookup.entity && $0.attribute == lookup.attribute }
    guard let same else { return lookups.append(lookup) }
    if lookups[same].choice == lookup.choice { lookups[same] = lookup }
  }

  private func check(_ lookup: Lookup) throws {
    guard let attribute = entities[lookup.entity]?.attributes[lookup.attribute] else {
      throw BatchError(
        .badMapping,
        "a policy declares a look-up of \(lookup.entity) by \(lookup.attribute), which the model does not have",
        hint: "Declare in lookups(for:) only what the destination of that mapping has")
    }
    guard !attribute.isExternal else {
      throw BatchError(
        .badMapping,
        "nothing can be found by \(lookup.entity).\(lookup.attribute): its values may lie in files beside the store",
        hint: "Find the objects by another attribute", entity: lookup.entity)
    }
    let same = lookups.filter { $0.entity == lookup.entity && $0.attribute == lookup.attribute }
    guard same.count == 1 else {
      throw BatchError(
        .badMapping, "policies declare the look-up of \(lookup.entity) by \(lookup.attribute) in different ways",
        hint: "Declare it alike in all of them: by first or by last")
    }
  }

  /// Takes a mapping model's entity mappings and groups those that read one table. A source entity that goes into one
  /// table twice needs a scan for each.
  private func add(_ model: MappingModel, _ policies: PolicyRegistry) throws {
    let first = scans.count
    for mapping in model.entityMappings.map(\.withoutWork) {
      let policy = try policies.policy(for: mapping)
      guard let sourceName = mapping.sourceEntity, let destinationName = mapping.destinationEntity else {
        guard policy == nil else {
          throw BatchError(
            .badMapping,
            "entity mapping \(mapping.name) has a policy but no \(mapping.sourceEntity == nil ? "source" : "destination") entity",
            hint: "Give the policy to a mapping of an entity that both versions have")
        }
        continue
      }
      guard let source = graph.entities[sourceName], let destination = entities[destinationName] else {
        throw BatchError(
          .badMapping, "entity mapping \(mapping.name) names an entity that the models of the step do not have",
          entity: graph.entities[sourceName] == nil ? sourceName : destinationName)
      }
      let draft = MappingDraft(
        place: drafts.count, mapping: mapping, source: source, destination: destination, policy: policy,
        filter: try MappingFilter(mapping, source: source, graph: graph))
      drafts.append(draft)
      let index = drafts.count - 1
      let fits = scans.indices.dropFirst(first).first { scan in
        scans[scan].table == source.table
          && !scans[scan].mappings.contains {
            drafts[$0].source === source && drafts[$0].destination.table == destination.table
          }
      }
      if let fits { scans[fits].mappings.append(index) } else { scans.append((source.table, [index])) }
    }
  }

  private func assignOffsets() throws {
    var base = Array(repeating: Int64(0), count: layout.entityTables.count)
    for scan in scans {
      let largest = try graph.largestKey(scan.table)
      for table in Set(scan.mappings.map { drafts[$0].destination.table }) {
        for index in scan.mappings where drafts[index].destination.table == table {
          drafts[index].moveKeys(by: base[table], behindOthers: keys.kept[table])
        }
        keys.kept[table] = true
        let (sum, overflow) = base[table].addingReportingOverflow(largest)
        guard !overflow, sum < Int64.max >> 11 else {
          throw BatchError(.refused, "keys of \(layout.entityTables[table].rootEntity) would exceed 64 bits")
        }
        base[table] = sum
      }
    }
    for table in base.indices { keys.firstNewKeys[table] = base[table] + 1 }
  }

  /// The entity mappings that run together with another one, in the order of their rows' keys, or later.
  func mappings(notBefore draft: MappingDraft) -> [MappingDraft] {
    guard let scan = scans.firstIndex(where: { $0.mappings.contains(draft.place) }) else { return [] }
    return scans[scan...].flatMap(\.mappings).map { drafts[$0] }
  }

  /// The step's units: all creations, then all relationships, then all validations (E.3).
  func units(links: [LinkUnit], late: [[PropertyExpression]]) -> [StepUnit] {
    let withPolicy = drafts.indices.filter { drafts[$0].policy != nil }
    var units: [StepUnit] = []
    for scan in scans {
      units += scan.mappings.filter { drafts[$0].policy != nil }.map { .begin(mapping: $0) }
      units.append(.rows(table: scan.table, mappings: scan.mappings))
      units += scan.mappings.filter { drafts[$0].policy != nil }.map { .endCreation(mapping: $0) }
    }
    units += links.map { .links($0) }
    for index in drafts.indices {
      if drafts[index].policy?.createsRelationships == true || !late[index].isEmpty
        || !lateRules(of: drafts[index]).isEmpty
      {
        units.append(.relationships(table: drafts[index].source.table, mapping: index))
      }
      if drafts[index].policy != nil { units.append(.endRelationships(mapping: index)) }
    }
    units += withPolicy.map { .validation(mapping: $0) } + withPolicy.map { .end(mapping: $0) }
    return units
  }
}

extension EntityMapping {
  /// A mapping that the run skips keeps its place, so that all keys are those of a whole run, and does nothing.
  fileprivate var withoutWork: EntityMapping {
    guard isSkipped else { return self }
    var mapping = EntityMapping(name: name, sourceEntity: sourceEntity, destinationEntity: destinationEntity)
    mapping.isSkipped = true
    return mapping
  }
}
