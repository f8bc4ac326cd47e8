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

  /// Throws `badMapping` naming the first relationship that would be lost.
  func check() throws {
    for draft in drafts.drafts {
      for property in draft.mapping.relationshipMappings {
        guard let relationship = draft.destination.relationships[property.name],
          let origin = try RelationshipOrigin(property, draft: draft, drafts: drafts), !arrives(relationship, origin)
        else { continue }
        throw BatchError(
          .badMapping,
          "the objects of \(draft.source.name).\(origin.name) would be lost: nothing sets the other side of \(property.name)",
          hint: relationship.inverse == nil
            ? "Without an inverse, an object can be in \(property.name) of one object alone: choose which in a policy"
            : "Map the inverse relationship as well, or make the links in a policy; "
              + "if rules of a mapping file make them, write \(property.name): null", entity: draft.destination.name)
      }
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
