import MappingModels

/// The policy that the rules of a mapping file stand for.
struct RulePolicy: EntityMigrationPolicy {
  private let rules: MappingRules
  let ready: CompiledRules?

  init() { self.init(MappingRules()) }

  init(_ rules: MappingRules) { (self.rules, ready) = (rules, nil) }

  private init(_ rules: MappingRules, _ ready: CompiledRules) { (self.rules, self.ready) = (rules, ready) }

  /// The policy with names resolved, once for all rows. Throws `badMapping` naming the mapping and what the models do
  /// not have.
  func compiled(_ compiler: RuleCompiler) throws -> RulePolicy { RulePolicy(rules, try compiler.compile(rules)) }

  /// The policy without attributes that follow from a row alone, and these; nil for a policy that has nothing left to do.
  func withoutPlain() -> (policy: RulePolicy?, plain: [CompiledRuleAttribute]) {
    guard let ready else { return (self, []) }
    let plain = ready.attributes.filter { $0.condition == nil && $0.value.isPlain }
    let rest = CompiledRules(
      attributes: ready.attributes.filter { $0.condition != nil || !$0.value.isPlain },
      relationships: ready.relationships, late: ready.late, objects: ready.objects)
    return (rest.isEmpty ? nil : RulePolicy(rules, rest), plain)
  }

  func lookups(for mapping: EntityMapping) -> [Lookup] {
    var found: [Lookup] = []
    for relationship in rules.relationships + rules.objects.flatMap(\.relationships) {
      guard case .found(let entity, let key, let takesLast) = relationship.target.unconditional else { continue }
      found.append(Lookup(entity: entity, attribute: key.name, choice: takesLast ? .last : .first))
    }
    for rule in rules.objects {
      guard let key = rule.key else { continue }
      found.append(Lookup(entity: rule.entity, attribute: key.name, choice: rule.takesLast ? .last : .first))
    }
    return found
  }

  var createsRelationships: Bool { ready?.late.isEmpty == false }

  func writes(for mapping: EntityMapping) -> [String] {
    [mapping.destinationEntity].compactMap { $0 } + rules.objects.filter { $0.kind != .find }.map(\.entity)
  }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let object = try manager.createDestinationInstance(forSource: source, in: mapping)
    try ready?.run(source, object: object, manager: manager.step)
  }
}
