import CoreDataModel
import MappingModels
import RunSupport

/// One-to-one relationships of a step. Each side holds a key of its own, so a mapping that carries
/// one side over must not leave the other one empty, and must not carry a side that several objects share.
struct OneToOneSides {
  let drafts: StepDraft

  /// Throws `badMapping` naming the first pair whose sides would differ. Policies in Swift may set either side, and are
  /// trusted: the proof looks at what they have made. Gives notes of pairs of which one side stays empty, because nobody
  /// says which of several objects it leads to: applications have shipped that.
  func check() throws -> [String] {
    var notes: [String] = []
    for draft in drafts.drafts where !draft.hasOwnPolicy {
      for property in draft.mapping.relationshipMappings {
        guard let relationship = draft.destination.relationships[property.name], relationship.isOneToOne,
          let inverse = relationship.inverse,
          let origin = try RelationshipOrigin(property, draft: draft, drafts: drafts)
        else { continue }
        for other in drafts.drafts where isOther(other, by: relationship, from: origin) {
          notes += try check(property.name, of: draft, carries: origin, against: inverse, of: other)
        }
      }
    }
    return notes.uniqued
  }

  /// Whether a mapping makes objects that the carried keys lead to.
  private func isOther(_ other: MappingDraft, by relationship: StoredRelationship, from origin: RelationshipOrigin)
    -> Bool
  {
    !other.mapping.isSkipped && !other.hasOwnPolicy
      && drafts.layout.model.isKind(other.destination.name, of: relationship.destination)
      && drafts.graph.binding.layout.model.isKind(other.source.name, of: origin.relationship.destination)
  }

  private func check(
    _ name: String, of draft: MappingDraft, carries origin: RelationshipOrigin, against inverse: String,
    of other: MappingDraft
  ) throws -> [String] {
    let (side, otherSide) = ("\(draft.destination.name).\(name)", "\(other.destination.name).\(inverse)")
    var mapped = other.mapping.relationshipMappings.first { $0.name == inverse }
    // A null that nobody has written says that there is nothing to carry.
    if drafts.step.isInferred || drafts.step.isComposed, mapped?.valueExpression == .constant(.null) { mapped = nil }
    if mapped?.valueExpression == .constant(.null) {
      throw failure(
        "\(side) is carried over, and its inverse \(otherSide) is null: only one side would hold a key",
        "Write null for both to leave the relationship out, or for neither to carry it over", of: draft)
    }
    let isRuled = other.mapping.rules?.relationships.contains { $0.name == inverse } ?? false
    let comesFrom = try mapped.flatMap { try RelationshipOrigin($0, draft: other, drafts: drafts) }
    if !isRuled, mapped?.valueExpression == nil, comesFrom == nil {
      return try unset((name, of: draft), (inverse, of: other), from: origin)
    }
    if !isRuled, let comesFrom {
      try requireSame((name, of: draft), (inverse, of: other), comingFrom: comesFrom, from: origin)
      return []
    }
    guard isRuled else { return [] }
    throw failure(
      "\(side) is carried over for each object, and a rule sets its inverse \(otherSide): only one side would hold "
        + "some of the keys",
      "Write \(name): null in the relationships of \(draft.mapping.name): the rule sets both sides", of: draft)
  }

  /// The other side must come from the other side of the same relationship.
  private func requireSame(
    _ side: (name: String, of: MappingDraft), _ otherSide: (name: String, of: MappingDraft),
    comingFrom other: RelationshipOrigin, from origin: RelationshipOrigin
  ) throws {
    // Of a filter, its author knows which objects it takes.
    guard let inverse = origin.relationship.inverse, other.name != inverse, otherSide.of.filter == nil
    else { return }
    let (source, end) = (side.of, "\(otherSide.of.destination.name).\(otherSide.name)")
    let (own, old) = ("\(source.destination.name).\(side.name)", "\(source.source.name).\(origin.name)")
    let what =
      own == end
      ? "\(own) is its own inverse, and \(old), which it takes over, is not"
      : "\(own) takes over \(old), and its inverse \(end) takes over \(other.name)"
    throw failure(
      what + ": only one side would hold a key",
      "To leave these links out, write \(side.name): null in the relationships of \(source.mapping.name) in a mapping "
        + "file (`godwit mapping init` begins one)",
      of: source)
  }

  private func unset(
    _ side: (name: String, of: MappingDraft), _ otherSide: (name: String, of: MappingDraft),
    from origin: RelationshipOrigin
  ) throws -> [String] {
    let (old, other) = (origin.relationship, "\(otherSide.of.destination.name).\(otherSide.name)")
    let source = "$source.\(old.inverse ?? "NAME")"
    let message =
      "\(side.of.destination.name).\(side.name) is carried over, and its inverse \(other) comes from nothing"
    guard !old.hasToOneInverse else {
      throw failure(
        message + ": only one side would hold a key",
        "In the relationships of \(otherSide.of.mapping.name), write \(otherSide.name): \(source)", of: side.of)
    }
    return [
      message + ": it stays empty. A mapping file can say which object it leads to: "
        + "\(otherSide.name): { target: \(source), take: first } of \(otherSide.of.destination.name), "
        + "and \(side.name): null of \(side.of.destination.name)"
    ]
  }

  private func failure(_ message: String, _ hint: String, of draft: MappingDraft) -> BatchError {
    BatchError(.badMapping, message, hint: hint, entity: draft.destination.name)
  }
}

extension MappingDraft {
  /// Whether a policy in Swift makes its objects, which is trusted with both sides of relationships.
  var hasOwnPolicy: Bool { policy.map { !($0 is RulePolicy) } ?? false }
}
