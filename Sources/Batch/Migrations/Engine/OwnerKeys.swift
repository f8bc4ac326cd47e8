import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// The keys of a to-many relationship that are not those of a to-one on both sides of the step: they stand in the rows
/// of the objects that it leads to, whether it has an inverse or has lost it.
struct OwnerKeys {
  /// Where the owner's key stands in a source row.
  var position: Int
  /// The object's place among those of its owner.
  var order: ColumnSource
  var map: KeyMap
}

extension StepDraft {
  /// The keys that rows of a mapping's source hold for a relationship of a destination entity and its sub-entities; nil
  /// if nothing carries them over. `tellsEntity` asks for the owners' numbers too.
  func ownerKeys(
    of name: String, kind entity: String, in draft: MappingDraft, tellsEntity: Bool
  ) throws -> OwnerKeys? {
    guard let destination = layout.model.relationship(name, of: entity)?.destinationEntity else { return nil }
    var found: (column: Int, order: Int?, entity: Int?)?
    var first: MappingDraft?
    var targets = [KeyMap.Target?](repeating: nil, count: graph.byNumber.count)
    for owner in drafts where layout.model.isKind(owner.destination.name, of: entity) {
      guard let property = owner.mapping.relationshipMappings.first(where: { $0.name == name }),
        let origin = try RelationshipOrigin(property, draft: owner, drafts: self),
        let (table, column, order) = origin.relationship.storage.keys, table == draft.source.table,
        isTarget(draft, via: origin.mappingName, to: destination)
      else { continue }
      guard owner.filter == nil else { throw filtered(owner, name, origin: origin, draft: draft) }
      if let first, found?.column != column { throw apart(first, owner, by: name, of: draft) }
      first = first ?? owner
      // The inverse's key may determine its entity.
      let inverse = origin.relationship.inverse.flatMap { draft.source.relationships[$0] }
      found = (column, order, inverse?.entityPosition)
      guard targets[owner.source.number] == nil else { continue }
      targets[owner.source.number] = KeyMap.Target(offset: owner.offset, number: owner.destination.number)
    }
    return found.map { found in
      let positions = graph.binding.tables[draft.source.table].positions
      let key = positions[found.column]
      return OwnerKeys(
        position: key, order: found.order.map { .borrow(positions[$0], missing: .null) } ?? .order(key),
        map: found.entity.map { KeyMap(entityPosition: $0, byNumber: targets) }
          ?? ownerMap(
            targets, role: graph.binding.tables[draft.source.table].layout.columns[found.column].role,
            tellsEntity: tellsEntity))
    }
  }

  /// Objects that several mappings without filter make belong to the owner once.
  private func isTarget(_ draft: MappingDraft, via mappingName: String?, to destination: String) -> Bool {
    guard draft.filter == nil else { return mappingName == nil || draft.mapping.name == mappingName }
    return target(of: draft.source, via: mappingName, to: destination)?.mapping.name == draft.mapping.name
  }

  // The keys do not show which of several mappings took their owner.
  private func filtered(
    _ owner: MappingDraft, _ name: String, origin: RelationshipOrigin, draft: MappingDraft
  ) -> BatchError {
    let back = layout.model.relationship(name, of: owner.destination.name)?.inverseName
    guard let back, let inverse = origin.relationship.inverse else {
      let bare = back == nil ? "\(owner.destination.name).\(name)" : "\(owner.source.name).\(origin.name)"
      return BatchError(
        .badMapping,
        "\(owner.mapping.name) has a filter, and \(bare) has no inverse: its objects cannot be carried over",
        hint: "Make the relationship in a policy", entity: owner.source.name)
    }
    return BatchError(
      .badMapping,
      "\(owner.mapping.name) has a filter, and \(draft.mapping.name) does not map \(back), the inverse of \(name): only "
        + "its keys show whose objects they are",
      hint: "In \(draft.mapping.name), map \(back): $source.\(inverse)", entity: owner.source.name)
  }

  // A row has one place for the owner's key, and two that may hold one.
  private func apart(_ first: MappingDraft, _ other: MappingDraft, by name: String, of draft: MappingDraft)
    -> BatchError
  {
    let inverses = [first, other].map { owner in
      owner.mapping.relationshipMappings.first { $0.name == name }.flatMap {
        try? RelationshipOrigin($0, draft: owner, drafts: self)?.relationship.inverse
      }
    }
    let back = layout.model.relationship(name, of: first.destination.name)?.inverseName
    var hint = "Make the relationship in a policy"
    if let back, let one = inverses[0], let two = inverses[1] {
      hint =
        "In the mapping file, map \(draft.source.name) twice: with filter: \(one) != nil and "
        + "relationships: { \(back): $source.\(one) }, and with filter: \(one) == nil and "
        + "relationships: { \(back): $source.\(two) }"
    }
    return BatchError(
      .badMapping,
      "\(first.source.name) and \(other.source.name) become one, and \(draft.source.name) holds the keys of each in a column "
        + "of its own: \(name) could take over those of one alone",
      hint: hint, entity: first.destination.name)
  }

  /// Where all owners move alike, their keys do; else only the owner's own row holds its entity.
  private func ownerMap(_ targets: [KeyMap.Target?], role: ColumnRole, tellsEntity: Bool) -> KeyMap {
    guard case .inverselessOwner(let entity, _) = role else {
      // If an inverse does not determine the entity, there is only one.
      return KeyMap(byNumber: [], single: targets.lazy.compactMap { $0 }.first)
    }
    let owners = graph.concrete(entity)
    let first = owners.first.flatMap { targets[$0.number] }
    let isUniform = owners.allSatisfy { owner in
      targets[owner.number]?.offset == first?.offset && (!tellsEntity || targets[owner.number]?.number == first?.number)
    }
    guard !isUniform, let number = graph.entities[entity]?.number else { return KeyMap(byNumber: [], single: first) }
    return KeyMap(byNumber: targets, owners: .init(graph: graph, number: number))
  }
}

extension RelationshipStorage {
  /// Where rows of the objects at the other end have the owner's key, and their place among its objects; nil for other
  /// storage.
  fileprivate var keys: (table: Int, column: Int, order: Int?)? {
    switch self {
    case .inverseKey(let table, let column, let order), .ownerKey(let table, let column, let order):
      (table, column, order)
    case .ownKey, .join: nil
    }
  }
}
