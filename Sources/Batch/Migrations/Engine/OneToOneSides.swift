import CoreDataModel
import MappingModels
import RunSupport

/// One-to-one relationships of a step. Each side holds a key of its own, so a mapping that carries
/// one side over must not leave the other one empty, and must not carry a side that several objects share.
struct OneToOneSides {
  let drafts: StepDraft

  /// Throws `badMapping` naming the first pair whose sides would differ. Policies in Swift may set either side, and are
  /// trusted: the proof looks at what they have made.
  func check() throws {
    for draft in drafts.drafts where !hasOwnPolicy(draft) {
      for property in draft.mapping.relationshipMappings {
        guard let relationship = draft.destination.relationships[property.name], relationship.isOneToOne,
          let inverse = relationship.inverse,
          let origin = try RelationshipOrigin(property, draft: draft, drafts: drafts)
        else { continue }
        for other in drafts.drafts where isOther(other, by: relationship, from: origin) {
          try check(property.name, of: draft, carries: origin, against: inverse, of: other)
        }
      }
    }
  }

  private func hasOwnPolicy(_ draft: MappingDraft) -> Bool { draft.policy.map { !($0 is RulePolicy) } ?? false }

  /// Whether a mapping makes objects that the carried keys lead to.
  private func isOther(_ other: MappingDraft, by relationship: StoredRelationship, from origin: RelationshipOrigin)
    -> Bool
  {
    !other.mapping.isSkipped && !hasOwnPolicy(other)
      && drafts.layout.model.isKind(other.destination.name, of: relationship.destination)
      && drafts.graph.binding.layout.model.isKind(other.source.name, of: origin.relationship.destination)
  }

  private func check(
    _ name: String, of draft: MappingDraft, carries origin: RelationshipOrigin, against inverse: String,
    of other: MappingDraft
  ) throws {
    let (side, otherSide) = ("\(draft.destination.name).\(name)", "\(other.destination.name).\(inverse)")
    let mapped = other.mapping.relationshipMappings.first { $0.name == inverse }
    if mapped?.valueExpression == .constant(.null) {
      throw failure(
        "\(side) is carried over, and its inverse \(otherSide) is null: only one side would hold a key",
        "Write null for both to leave the relationship out, or for neither to carry it over", of: draft)
    }
    let isRuled = other.mapping.rules?.relationships.contains { $0.name == inverse } ?? false
    let comesFrom = try mapped.flatMap { try RelationshipOrigin($0, draft: other, drafts: drafts) }
    if !isRuled, mapped?.valueExpression == nil, comesFrom == nil {
      throw unset((name, of: draft), (inverse, of: other), from: origin)
    }
    guard isRuled, !origin.relationship.hasToOneInverse else { return }
    throw failure(
      "\(side) is carried over for each object, and a rule sets its inverse \(otherSide) to one of them",
      "Write \(name): null in the relationships of \(draft.mapping.name): the rule sets both sides", of: draft)
  }

  private func unset(
    _ side: (name: String, of: MappingDraft), _ otherSide: (name: String, of: MappingDraft),
    from origin: RelationshipOrigin
  ) -> BatchError {
    let old = origin.relationship
    let source = "$source.\(old.inverse ?? "NAME")"
    let empty = ", and \(side.name): null in those of \(side.of.mapping.name)"
    let value = old.hasToOneInverse ? source : "{ target: \(source), take: first }, or take: last" + empty
    return failure(
      "\(side.of.destination.name).\(side.name) is carried over, and its inverse "
        + "\(otherSide.of.destination.name).\(otherSide.name) comes from nothing: only one side would hold a key",
      "In the relationships of \(otherSide.of.mapping.name), write \(otherSide.name): \(value)", of: side.of)
  }

  private func failure(_ message: String, _ hint: String, of draft: MappingDraft) -> BatchError {
    BatchError(.badMapping, message, hint: hint, entity: draft.destination.name)
  }
}
