import MappingModels
import RunSupport

// Rules that look for objects which rows of the same pass make.
extension StepDraft {
  /// Relationships to objects that are looked for, and that are not all there when the mapping's own are made: they are
  /// set when all objects of the step are there.
  func lateRules(of draft: MappingDraft) -> Set<String> {
    let rules = draft.mapping.rules?.relationships ?? []
    return Set(
      rules.filter { rule in rule.target.foundEntity.flatMap { maker(of: $0, beside: draft) } != nil }.map(\.name))
  }

  /// Throws `badMapping` if what an object rule finds would depend on the keys of rows.
  func requireOrder(_ draft: MappingDraft) throws {
    for rule in draft.mapping.rules?.objects ?? [] {
      let wanted = rule.relationships.compactMap(\.target.foundEntity) + (rule.kind == .create ? [] : [rule.entity])
      for entity in wanted {
        guard let maker = maker(of: entity, beside: draft) else { continue }
        let isOwn = maker.source.table == draft.source.table
        throw BatchError(
          .badMapping,
          "\(draft.mapping.name): \(rule.kind) \(rule.entity): objects of \(entity) are looked for "
            + (isOwn
              ? "while \(maker.mapping.name) makes them, as both read one table"
              : "before \(maker.mapping.name) makes them"),
          hint: isOwn
            ? "Set a relationship by a rule of its own, as in relationships: { NAME: { find: \(entity), by: … } }, which "
              + "waits for all objects; or put \(draft.mapping.name) into a mapping file of its own"
            : "Put \(maker.mapping.name) first",
          entity: draft.source.name)
      }
    }
  }
}
