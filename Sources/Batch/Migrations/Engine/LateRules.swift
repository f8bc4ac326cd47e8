import MappingModels
import RunSupport

// Rules that look for objects which rows of the same pass make.
extension StepDraft {
  /// Relationships to objects that are looked for, and that are not all there when the mapping's own are made: they are
  /// set when all objects of the step are there.
  func lateRules(of draft: MappingDraft) -> Set<String> {
    let rules = draft.mapping.rules?.relationships ?? []
    guard rules.contains(where: { $0.target.foundEntity != nil }) else { return [] }
    let others = mappings(notBefore: draft)
    return Set(
      rules.filter { rule in
        guard let entity = rule.target.foundEntity else { return false }
        return others.contains { makes(entity, $0) || makesByRule(entity, $0) }
      }.map(\.name))
  }

  /// Throws `badMapping` if what an object rule finds would depend on the keys of rows.
  func requireOrder(_ draft: MappingDraft) throws {
    let rules = draft.mapping.rules?.objects ?? []
    guard !rules.isEmpty else { return }
    let others = mappings(notBefore: draft)
    for rule in rules {
      let wanted = rule.relationships.compactMap(\.target.foundEntity) + (rule.kind == .create ? [] : [rule.entity])
      for entity in wanted {
        guard let maker = others.first(where: { makes(entity, $0) }) else { continue }
        throw refusal(of: rule, in: draft, lookingFor: entity, madeBy: maker)
      }
    }
  }

  private func makes(_ entity: String, _ draft: MappingDraft) -> Bool {
    layout.model.isKind(draft.destination.name, of: entity)
  }

  private func makesByRule(_ entity: String, _ draft: MappingDraft) -> Bool {
    draft.mapping.rules?.objects.contains { $0.kind != .find && layout.model.isKind($0.entity, of: entity) } ?? false
  }

  private func refusal(
    of rule: ObjectRule, in draft: MappingDraft, lookingFor entity: String, madeBy maker: MappingDraft
  ) -> BatchError {
    let isTogether = maker.source.table == draft.source.table
    let when =
      isTogether
      ? "while \(maker.mapping.name) makes them, as both read one table" : "before \(maker.mapping.name) makes them"
    let apart = makes(entity, draft) ? "" : "; or put \(draft.mapping.name) into a mapping file of its own"
    return BatchError(
      .badMapping,
      "\(draft.mapping.name): \(rule.kind) \(rule.entity): objects of \(entity) are looked for \(when)",
      hint: isTogether
        ? "Set a relationship by a rule of its own, as in relationships: { NAME: { find: \(entity), by: … } }, which "
          + "waits for all objects" + apart
        : "Put \(maker.mapping.name) first",
      entity: draft.source.name)
  }
}
