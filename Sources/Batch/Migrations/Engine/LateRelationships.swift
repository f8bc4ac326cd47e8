import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// To-many relationships with an expression that no key of the source simply moves for: filled once all objects of the
/// step exist.
struct LateRelationships {
  let drafts: StepDraft
  let compiled: [CompiledMapping]
  let links: [LinkUnit]

  /// For every mapping its relationships, in the mapping's order. Throws `badMapping`.
  func find(now: Double) throws -> [[PropertyExpression]] {
    var joins: Set<Int> = []
    return try drafts.drafts.map { draft in
      try draft.mapping.relationshipMappings.compactMap { property in
        guard let relationship = draft.destination.relationships[property.name],
          let expression = property.valueExpression, expression.isEvaluatedRelationship,
          try isNeeded(relationship, name: property.name, draft: draft, joins: &joins)
        else { return nil }
        return try MappingCompiler(drafts: drafts, rules: [], now: now).expression(
          expression, name: property.name, target: .toMany, draft: draft)
      }
    }
  }

  /// A to-one at the other end that is mapped as well decides about the links of both.
  private func isNeeded(
    _ relationship: StoredRelationship, name: String, draft: MappingDraft, joins: inout Set<Int>
  )
    throws -> Bool
  {
    switch relationship.storage {
    case .ownKey: return false
    case .ownerKey: return true
    case .inverseKey(let table, let column, _):
      return !compiled.contains {
        guard $0.destination.table == table, $0.destination.isKind(of: relationship.destinationNumber) else {
          return false
        }
        if case .value = $0.columns[column] { return false }
        return true
      }
    case .join(let table, let ownerIsSource):
      // Each link may be written once.
      let isOther = joins.contains(ownerIsSource ? ~table : table)
      joins.insert(ownerIsSource ? table : ~table)
      guard !isOther, !links.contains(where: { $0.join == table }) else {
        throw BatchError(
          .badMapping, "\(draft.mapping.name).\(name) and its inverse both say which objects are linked",
          hint: "Remove one of the two relationship mappings", entity: draft.destination.name)
      }
      return true
    }
  }
}
