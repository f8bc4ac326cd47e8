import MappingModels
import RunSupport

/// Orders the mapping models of a step by what they read: one whose policies look up objects of an entity runs after
/// those that make objects of it.
struct MappingOrder {
  let step: MigrationStep
  let policies: PolicyRegistry

  /// The step with its mapping models in the order in which they run; those that do not depend on each other keep
  /// theirs. Throws `badMapping` when mapping models wait for each other, `missingPolicy` when a policy is not known.
  func ordered() throws -> MigrationStep {
    // Inferred mappings have no policies.
    guard !step.isInferred else { return step }
    let models = step.mappingModels
    let waits = try waits()
    var left = Array(models.indices)
    var order: [Int] = []
    while !left.isEmpty {
      let free = left.first { index in left.allSatisfy { $0 == index || !waits[index].contains($0) } }
      guard let free else {
        let names = left.map { models[$0].name }.joined(separator: ", ")
        throw BatchError(
          .badMapping, "the mapping models \(names) wait for each other's objects",
          hint: "Put their entity mappings into one mapping model")
      }
      order.append(free)
      left.removeAll { $0 == free }
    }
    var ordered = step
    ordered.mappingModels = order.map { models[$0] }
    return ordered
  }

  /// For every mapping model those that make what its policies read.
  private func waits() throws -> [Set<Int>] {
    let graph = try MappingGraph(step: step, policies: policies)
    var waits: [Set<Int>] = Array(repeating: [], count: step.mappingModels.count)
    for (reader, node) in graph.nodes.enumerated() {
      waits[node.model].formUnion(graph.makers[reader].map { graph.nodes[$0].model })
    }
    return waits
  }
}
