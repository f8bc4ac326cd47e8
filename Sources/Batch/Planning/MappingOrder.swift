/// Orders the mapping models of a step by what they read: one whose policies look up objects of an entity runs after those
/// that make objects of it.
struct MappingOrder {
  let step: MigrationStep
  let policies: PolicyRegistry

  /// The step with its mapping models in the order in which they run; those that do not depend on each other keep theirs.
  /// Throws `badMapping` when mapping models wait for each other, `missingPolicy` when a policy is not known.
  func ordered() throws -> MigrationStep {
    let models = step.mappingModels
    let makes = models.map { model in Set(model.entityMappings.compactMap(\.destinationEntity)) }
    let reads = try models.map { try read($0) }
    var left = Array(models.indices)
    var order: [Int] = []
    while !left.isEmpty {
      let free = left.first { index in
        left.allSatisfy { other in other == index || makes[other].isDisjoint(with: reads[index]) }
      }
      guard let free else {
        let names = left.map { models[$0].name }.joined(separator: ", ")
        throw BatchError(
          .badMapping, "the mapping models \(names) wait for each other's objects",
          hint: "Put their entity mappings into one mapping model")
      }
      order.append(free)
      left.removeAll { $0 == free }
    }
    return MigrationStep(
      source: step.source, destination: step.destination, mappingModels: order.map { models[$0] }, isInferred: step.isInferred,
      reason: step.reason, passedVersions: step.passedVersions)
  }

  /// Entities whose objects the policies of a mapping model look up, sub-entities included.
  private func read(_ model: MappingModel) throws -> Set<String> {
    var found: Set<String> = []
    for mapping in model.entityMappings {
      guard let policy = try policies.policy(for: mapping) else { continue }
      for lookup in policy.lookups(for: mapping) {
        for entity in step.destination.entities where step.destination.isKind(entity.name, of: lookup.entity) {
          found.insert(entity.name)
        }
      }
    }
    return found
  }
}
