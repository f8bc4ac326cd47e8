import MappingModels

// Policies and rules of entity mappings, made ready for rows.
extension MappingCompiler {
  /// What the policy declares and what evaluated relationships change; rules are known altogether.
  func mayWrite(_ draft: MappingDraft) -> [Bool]? {
    let (mapping, model) = (draft.mapping, layout.model)
    guard mapping.rules == nil, let declared = draft.policy?.declaredWrites(for: mapping) else { return nil }
    let evaluated = mapping.relationshipMappings.filter { $0.valueExpression?.isEvaluatedRelationship == true }
      .compactMap {
        model.relationship($0.name, of: draft.destination.name)?.destinationEntity
      }
    return [false] + layout.entityNames.map { name in (declared + evaluated).contains { model.isKind(name, of: $0) } }
  }

  /// Rules find their names once, not with every row; what follows from a row alone becomes a column.
  func policy(_ draft: MappingDraft, _ columns: inout [ColumnSource]) throws -> (any EntityMigrationPolicy)? {
    guard let rules = draft.policy as? RulePolicy else { return draft.policy }
    try drafts.requireOrder(draft)
    let compiler = RuleCompiler(
      mapping: draft.mapping, source: draft.source, destination: draft.destination, graph: drafts.graph,
      entities: drafts.entities, now: now, seed: seed, drafts: drafts.drafts, places: [draft.place],
      late: drafts.lateRules(of: draft))
    let (policy, plain) = try rules.compiled(compiler).withoutPlain()
    for rule in plain {
      columns[rule.stored.position] = .rule(PlainRule(attribute: rule, entity: draft.source, graph: drafts.graph))
    }
    return policy
  }
}
