import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport

/// Decides for every join table of the destination which source relationship fills it.
struct LinkPlanner {
  let drafts: StepDraft

  func units() throws -> [LinkUnit] {
    var units: [LinkUnit] = []
    for (index, join) in drafts.layout.joinTables.enumerated() {
      // Both sides have the same pairs; the side that names the table comes first.
      let own = try links(index, join.relationship, ownerIsSource: true)
      guard !join.isOwnInverse else {
        units += own
        continue
      }
      if !own.isEmpty { try requireAgreement(own, of: join) }
      units += own.isEmpty ? try links(index, join.inverse, ownerIsSource: false) : own
    }
    return LinkUnit.introduce(units)
  }

  /// Each side of a relationship says which links it takes over; those that only the other side takes over would be
  /// lost.
  private func requireAgreement(_ units: [LinkUnit], of join: JoinTable) throws {
    typealias Pairs = (scan: SourceGraph.PairScan, name: String)
    func without(_ pairs: [Pairs], in known: [Pairs]) -> Pairs? {
      pairs.first { pair in !known.contains { $0.scan.isTurned(pair.scan) != nil } }
    }
    let own = units.map { ($0.scan, $0.name) }
    let others = try ends(join.inverse).map { end in
      (
        try drafts.graph.pairScan(end.origin.relationship.storage, isOrdered: false),
        "\(end.draft.source.name).\(end.origin.name)"
      )
    }
    guard let lost = without(others, in: own), !hasOwnPolicy(join) else { return }
    let (side, other) = (join.relationship.description, join.inverse.description)
    let advice =
      without(own, in: others) == nil
      ? "\(other) covers all of them: write \(join.relationship.name): null for \(side)"
      : "Write null for one of the two sides: the other one decides"
    throw BatchError(
      .badMapping,
      "\(side) takes over \(units.map(\.name).uniqued.joined(separator: " and ")), and its inverse \(other) takes over "
        + "\(lost.name), too: those links would be lost",
      hint: advice + " (a mapping file can say that; `godwit mapping init` begins one)",
      entity: join.relationship.entity)
  }

  /// Whether a policy in Swift makes objects at an end of the links.
  private func hasOwnPolicy(_ join: JoinTable) -> Bool {
    drafts.drafts.contains { draft in
      draft.hasOwnPolicy
        && [join.relationship.entity, join.inverse.entity].contains {
          drafts.layout.model.isKind(draft.destination.name, of: $0)
        }
    }
  }

  private func links(_ join: Int, _ reference: PropertyReference, ownerIsSource: Bool) throws -> [LinkUnit] {
    // Every mapping of a filtered hierarchy writes the links of its own objects: it has a name here.
    var found: [(storage: RelationshipStorage, apart: String?, unit: LinkUnit)] = []
    for (draft, relationship, origin, offsets) in try ends(reference) {
      guard let otherOffset = offsets.first else { continue }
      if drafts.layout.joinTables[join].isOwnInverse { try requireOwnInverse(reference.name, from: origin, draft) }
      let isPartial = try losesSome(draft, origin, owner: reference.entity, relationship: relationship)
      var unit = try unit(join, draft, origin: origin, ownerIsSource: ownerIsSource, otherOffset: otherOffset)
      let isApart = try filter(
        &unit, draft: draft, origin: origin, relationship: relationship, partial: isPartial ? reference : nil)
      let (storage, apart) = (origin.relationship.storage, isApart ? draft.mapping.name : nil)
      if let same = found.first(where: { $0.storage == storage && $0.apart == apart }) {
        guard same.unit.ownerOffset == unit.ownerOffset || unit.owners != nil else { throw ambiguous(unit) }
      } else {
        unit.isFirst = !found.contains { $0.storage == storage }
        found.append((storage, apart, unit))
      }
      guard offsets.count == 1 || unit.owners != nil else { throw ambiguous(unit) }
    }
    return found.map(\.unit)
  }

  /// What a relationship takes over, mapping by mapping, and how far keys of the objects at the other end move: none of
  /// such whose objects go nowhere.
  private func ends(_ reference: PropertyReference) throws -> [(
    draft: MappingDraft, relationship: StoredRelationship, origin: RelationshipOrigin, offsets: Set<Int64>
  )] {
    try drafts.drafts.compactMap { draft in
      guard drafts.layout.model.isKind(draft.destination.name, of: reference.entity),
        let property = draft.mapping.relationshipMappings.first(where: { $0.name == reference.name }),
        let relationship = draft.destination.relationships[reference.name],
        let origin = try RelationshipOrigin(property, draft: draft, drafts: drafts)
      else { return nil }
      let map = drafts.keyMap(
        origin.relationship.destination, via: origin.mappingName, to: relationship.destination, entityPosition: nil)
      let offsets = Set(map.byNumber.compactMap { $0?.offset })
      return offsets.isEmpty ? nil : (draft, relationship, origin, offsets)
    }
  }

  /// A relationship that is its own inverse holds each link in both directions: so must what it takes over.
  private func requireOwnInverse(
    _ name: String, from origin: RelationshipOrigin, _ draft: MappingDraft
  ) throws {
    let model = drafts.graph.binding.layout.model
    let declarer = try origin.declaringEntity(draft, drafts)
    let isOwnInverse = model.relationship(origin.name, of: declarer).map {
      model.isOwnInverse($0, declaredBy: declarer)
    }
    guard isOwnInverse != true, !draft.hasOwnPolicy else { return }
    throw BatchError(
      .badMapping,
      "\(draft.destination.name).\(name) is its own inverse, and \(draft.source.name).\(origin.name), which it takes "
        + "over, is not: its links lead in one direction",
      hint: "Write \(name): null in a mapping file to leave them out, or make the links in a policy",
      entity: draft.destination.name)
  }

  private func unit(
    _ join: Int, _ draft: MappingDraft, origin: RelationshipOrigin, ownerIsSource: Bool, otherOffset: Int64
  ) throws -> LinkUnit {
    let (graph, storage) = (drafts.graph, origin.relationship.storage)
    return LinkUnit(
      join: join, scan: try graph.pairScan(storage, isOrdered: origin.relationship.isOrdered),
      ownerIsSource: ownerIsSource, ownerOffset: draft.offset, otherOffset: otherOffset,
      order: try graph.pairScan(storage, isOrdered: true).order, inverseOrder: graph.inverseOrder(storage),
      name: "\(draft.source.name).\(origin.name)")
  }

  /// Where mappings of objects at either end have filters, or some of the objects do not go along, every object is asked
  /// what became of it. `partial` is the relationship of which some do not, else nil. Whether each mapping of the
  /// hierarchy has to read the links for itself.
  private func filter(
    _ unit: inout LinkUnit, draft: MappingDraft, origin: RelationshipOrigin, relationship: StoredRelationship,
    partial: PropertyReference?
  ) throws -> Bool {
    let declaring = try origin.declaringEntity(draft, drafts)
    let hasFilters = drafts.hasFilters(declaring) || drafts.hasFilters(origin.relationship.destination)
    guard partial != nil || hasFilters else { return false }
    let isApart = try hasFilters || partial.map { try !isShared($0, origin, among: declaring) } ?? false
    unit.others = drafts.carriedTargets(
      origin.relationship.destination, via: origin.mappingName, to: relationship.destination)
    unit.owners = drafts.carriedTargets(
      declaring, via: isApart ? draft.mapping.name : nil, to: isApart ? nil : partial?.entity)
    return isApart
  }

  /// Whether all mappings of a hierarchy, one for each entity, take over the same links alike.
  private func isShared(_ reference: PropertyReference, _ origin: RelationshipOrigin, among kind: String) throws -> Bool
  {
    let model = drafts.graph.binding.layout.model
    let all = drafts.drafts.filter {
      model.isKind($0.source.name, of: kind) && drafts.layout.model.isKind($0.destination.name, of: reference.entity)
    }
    guard Set(all.map(\.source.name)).count == all.count else { return false }
    return try all.allSatisfy { other in
      let property = other.mapping.relationshipMappings.first { $0.name == reference.name }
      let found = try property.flatMap { try RelationshipOrigin($0, draft: other, drafts: drafts) }
      return found?.relationship.storage == origin.relationship.storage && found?.mappingName == origin.mappingName
    }
  }

  /// Whether objects at an end of the links are removed, or become such as the new relationship does not take. The links
  /// of a whole hierarchy lie together: those of an entity that no mapping names would lead nowhere, and nobody has said
  /// that they may go.
  private func losesSome(
    _ draft: MappingDraft, _ origin: RelationshipOrigin, owner: String, relationship: StoredRelationship
  ) throws -> Bool {
    let ends = [
      (try origin.declaringEntity(draft, drafts), owner, nil),
      (origin.relationship.destination, relationship.destination, origin.mappingName),
    ]
    let missing = ends.flatMap { self.missing(of: $0.0, to: $0.1, via: $0.2) }
    guard case .join = origin.relationship.storage else { return !missing.isEmpty }
    let mappings = drafts.step.mappingModels.flatMap(\.entityMappings)
    let unmapped = missing.first { candidate in
      drafts.draftsBySource[candidate.number].isEmpty && !mappings.contains { $0.removes(candidate.name) }
    }
    guard let unmapped else { return !missing.isEmpty }
    throw BatchError(
      .badMapping,
      "the links of \(draft.source.name).\(origin.name) may belong to \(unmapped.name), which no entity mapping carries over",
      hint: "Map \(unmapped.name) as well, remove it with an entity mapping, or make the links in a policy",
      entity: unmapped.name)
  }

  /// Entities of a kind none of whose objects become objects of `destination`.
  private func missing(of kind: String, to destination: String, via mappingName: String?) -> [SourceEntity] {
    drafts.graph.concrete(kind).filter { drafts.target(of: $0, via: mappingName, to: destination) == nil }
  }

  // A join table does not hold the entities of its keys, so they must all move alike.
  private func ambiguous(_ unit: LinkUnit) -> BatchError {
    BatchError(
      .badMapping, "the objects of \(unit.name) move to different tables, so its links cannot be carried over",
      hint: "Make the links in a policy")
  }
}

extension StepDraft {
  /// Whether a mapping leaves out some objects of a kind.
  fileprivate func hasFilters(_ kind: String) -> Bool {
    graph.concrete(kind).contains { draftsBySource[$0.number].contains { $0.filter != nil } }
  }
}
