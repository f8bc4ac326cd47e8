import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// Makes sure that every relationship a mapping carries over arrives somewhere: none is lost without a word.
struct CarriedRelationships {
  let drafts: StepDraft
  let compiled: [CompiledMapping]
  let links: [LinkUnit]

  /// Throws `badMapping` naming the first relationship that would be lost. Gives notes of such as had no inverse and get
  /// one, whose links are those of the other side from now on: applications that mend their models do that.
  func check() throws -> [String] {
    var notes: [String] = []
    for draft in drafts.drafts {
      for property in draft.mapping.relationshipMappings {
        guard let relationship = draft.destination.relationships[property.name],
          let origin = try RelationshipOrigin(property, draft: draft, drafts: drafts)
        else { continue }
        try requireNoRule(property.name, of: draft, relationship, from: origin)
        notes += try checkInverse(property.name, of: draft, relationship, from: origin)
        guard !arrives(relationship, origin) else { continue }
        throw BatchError(
          .badMapping,
          "the objects of \(draft.source.name).\(origin.name) would be lost: nothing sets the other side of \(property.name)",
          hint: relationship.inverse == nil
            ? "Without an inverse, an object can be in \(property.name) of one object alone: choose which in a policy"
            : "Map the inverse relationship as well, or make the links in a policy; "
              + "if rules of a mapping file make them, write \(property.name): null", entity: draft.destination.name)
      }
    }
    return try notes.uniqued + mixedOrders()
  }

  /// Ordered to-many relationships whose objects come from several, each of which counted their places for itself.
  private func mixedOrders() throws -> [String] {
    var sources: [String: [RelationshipStorage: String]] = [:]
    for draft in drafts.drafts where !draft.mapping.isSkipped {
      for property in draft.mapping.relationshipMappings {
        guard let relationship = draft.destination.relationships[property.name], let inverse = relationship.inverse,
          case .ownKey(_, _, _, .some) = relationship.storage,
          let origin = try RelationshipOrigin(property, draft: draft, drafts: drafts),
          case .ownKey(_, _, _, .some) = origin.relationship.storage
        else { continue }
        sources["\(relationship.destination).\(inverse)", default: [:]][origin.relationship.storage] =
          "\(draft.source.name).\(origin.name)"
      }
    }
    return sources.filter { $1.count > 1 }.sorted { $0.key < $1.key }.map { path, names in
      "\(path) is ordered, and takes the places of \(names.values.sorted().joined(separator: " and ")): two objects may have "
        + "the same place in it"
    }
  }

  /// What is carried over for each object, and set by a rule of the other side, would be neither the one nor the other.
  /// A rule of a to-one that holds the key itself decides alone, and one-to-ones have a check of their own.
  /// Links that are looked for come to those of a join table.
  private func requireNoRule(
    _ name: String, of draft: MappingDraft, _ relationship: StoredRelationship, from origin: RelationshipOrigin
  ) throws {
    guard !relationship.isOneToOne, let inverse = relationship.inverse else { return }
    if case .inverseKey = relationship.storage { return }
    var isJoin = false
    if case .join = relationship.storage { isJoin = true }
    for other in others(relationship, origin) {
      let rule = other.mapping.rules?.relationships.first { $0.name == inverse }
      guard let rule, !isJoin || rule.target.foundEntity == nil else { continue }
      let (side, otherSide) = ("\(draft.destination.name).\(name)", "\(other.destination.name).\(inverse)")
      throw BatchError(
        .badMapping,
        "\(side) is carried over for each object, and a rule of \(other.mapping.name) sets its inverse \(otherSide)",
        hint: "Write \(name): null in the relationships of \(draft.mapping.name): the rule sets both sides",
        entity: draft.destination.name)
    }
  }

  /// The key at the other end of a to-many has to come from the same links, of some of the objects at least.
  private func checkInverse(
    _ name: String, of draft: MappingDraft, _ relationship: StoredRelationship, from origin: RelationshipOrigin
  ) throws -> [String] {
    guard case .inverseKey = relationship.storage, let inverse = relationship.inverse else { return [] }
    guard let first = try stranger(to: relationship, origin, behind: inverse) else { return [] }
    let side = "\(draft.destination.name).\(name)"
    guard origin.relationship.inverse != nil else {
      return ["\(side) had no inverse: it leads from now on to the objects whose \(first.path) leads to its own"]
    }
    throw BatchError(
      .badMapping,
      "\(side) takes over \(draft.source.name).\(origin.name), and its inverse \(first.path) takes over \(first.name): "
        + "the links of \(origin.name) would be lost",
      hint: "To leave them out, write \(name): null in the relationships of \(draft.mapping.name) in a mapping file "
        + "(`godwit mapping init` begins one)", entity: draft.destination.name)
  }

  /// The first entity at the other end all of whose mappings take the inverse from other links; nil if there is none.
  private func stranger(
    to relationship: StoredRelationship, _ origin: RelationshipOrigin, behind inverse: String
  ) throws -> (path: String, name: String)? {
    let ends = others(relationship, origin)
    for entity in ends.map(\.source.name).uniqued {
      let sources = try ends.filter { $0.source.name == entity }.compactMap { other -> (path: String, name: String)? in
        let property = other.mapping.relationshipMappings.first { $0.name == inverse }
        return try property.flatMap { try RelationshipOrigin($0, draft: other, drafts: drafts) }.map {
          ("\(other.destination.name).\(inverse)", $0.name)
        }
      }
      if let first = sources.first, !sources.contains(where: { $0.name == origin.relationship.inverse }) {
        return first
      }
    }
    return nil
  }

  /// What makes objects that the relationship leads to of those that it led to.
  private func others(_ relationship: StoredRelationship, _ origin: RelationshipOrigin) -> [MappingDraft] {
    let model = drafts.graph.binding.layout.model
    return drafts.drafts.filter {
      !$0.mapping.isSkipped && !$0.hasOwnPolicy && model.isKind($0.source.name, of: origin.relationship.destination)
        && drafts.layout.model.isKind($0.destination.name, of: relationship.destination)
    }
  }

  private func arrives(_ relationship: StoredRelationship, _ origin: RelationshipOrigin) -> Bool {
    // Where the source has no objects at the other end that are carried over, nothing can be lost.
    let model = drafts.graph.binding.layout.model
    let others = compiled.filter {
      !$0.mapping.isSkipped && model.isKind($0.source.name, of: origin.relationship.destination)
    }
    switch relationship.storage {
    case .ownKey: return true
    case .join(let table, _): return others.isEmpty || links.contains { $0.join == table }
    case .inverseKey(let table, let column, _), .ownerKey(let table, let column, _):
      let into = others.filter { $0.destination.table == table }
      return into.isEmpty || into.contains { if case .value = $0.columns[column] { false } else { true } }
    }
  }
}
