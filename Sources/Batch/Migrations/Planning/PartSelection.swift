import CoreDataModel
import MappingModels
import RunSupport

/// Which parts of a migration's steps a run makes. Tables of the others stay empty, and relationships to their objects
/// become NULL; all keys are those of a whole run.
///
/// A name is that of a mapping model or of an entity mapping, and means every part that has some of it, or it is
/// `STEP.PART`, as a plan numbers them. A step that ``only`` does not name is made whole.
public struct PartSelection: Sendable, Equatable, Codable {
  /// Only these, of every step that has one of them; empty for all.
  public var only: [String]
  /// All but these.
  public var skip: [String]

  /// Selects parts by name; all of them without names.
  public init(only: [String] = [], skip: [String] = []) { (self.only, self.skip) = (only, skip) }

  /// Whether nothing is left out.
  public var isAll: Bool { only.isEmpty && skip.isEmpty }

  /// The steps, with the entity mappings of the parts that are left out marked. Throws `refused` for a name that no
  /// part has, and for a part that reads what one that is left out makes.
  func applied(to steps: [MigrationStep], policies: PolicyRegistry) throws -> [MigrationStep] {
    guard !isAll, !steps.isEmpty else { return steps }
    var unknown = Set(only + skip)
    var names: [String] = []
    let marked = try steps.enumerated().map { index, step in
      let candidates = try StepParts(step, number: index + 1, policies: policies)
      names += candidates.parts.flatMap(\.names).filter { !names.contains($0) }
      unknown.subtract(candidates.parts.flatMap(\.names))
      let skipped = skipped(candidates)
      try candidates.checkReads(skipped)
      return candidates.step(skipping: skipped)
    }
    guard let name = unknown.sorted().first else { return marked }
    throw BatchError(
      .refused, "no part of the migration is named \(name)\(NearName.question(name, in: names))",
      hint: "The names are \(names.sorted().joined(separator: ", "))\(Self.advice(steps))", effect: .nothingWritten)
  }

  /// Parts of steps that a pass makes before others have no names.
  private static func advice(_ steps: [MigrationStep]) -> String {
    steps.allSatisfy(\.passed.isEmpty) ? "" : ", and with --no-fuse those of every step"
  }

  private func skipped(_ candidates: StepParts) -> Set<Int> {
    func named(_ names: [String]) -> Set<Int> {
      Set(candidates.parts.indices.filter { !candidates.parts[$0].names.isDisjoint(with: names) })
    }
    let kept = named(only)
    return named(skip).union(kept.isEmpty ? [] : Set(candidates.parts.indices).subtracting(kept))
  }

  /// What every part that is left out means for the store.
  static func notes(_ steps: [MigrationStep], _ splits: [MappingSplit], policies: PolicyRegistry) throws -> [String] {
    try zip(steps, splits).enumerated().flatMap { index, found in
      guard found.1.parts.contains(where: \.isSkipped) else { return [String]() }
      let lost = try StepParts(found.0, number: index + 1, policies: policies).lostRelationships()
      let notes = found.1.parts.filter(\.isSkipped).map { part in
        let empty = part.writes.isEmpty ? "" : ": \(part.writes.joined(separator: ", ")) stay empty"
        return "part \(index + 1).\(part.number) is skipped (\(part.entityMappings.joined(separator: ", ")))\(empty)"
      }
      return notes
        + (lost.isEmpty ? [] : ["references to objects of skipped parts are cleared: \(lost.joined(separator: ", "))"])
    }
  }
}

/// The parts of one step with the names that they go by.
private struct StepParts {
  struct Part {
    var nodes: [Int]
    var names: Set<String>
  }

  let step: MigrationStep
  let number: Int
  let graph: MappingGraph
  let parts: [Part]

  init(_ step: MigrationStep, number: Int, policies: PolicyRegistry) throws {
    let graph = try MappingGraph(step: step, policies: policies)
    (self.step, self.number, self.graph) = (step, number, graph)
    parts = graph.parts().enumerated().map { index, nodes in
      let names = nodes.flatMap { [graph.nodes[$0].mapping.name, step.mappingModels[graph.nodes[$0].model].name] }
      return Part(nodes: nodes, names: Set(names).union(["\(number).\(index + 1)"]))
    }
  }

  func checkReads(_ skipped: Set<Int>) throws {
    let missing = Set(skipped.flatMap { parts[$0].nodes })
    for (index, part) in parts.enumerated() where !skipped.contains(index) {
      for node in part.nodes {
        guard let maker = graph.makers[node].sorted().first(where: missing.contains),
          let other = parts.firstIndex(where: { $0.nodes.contains(maker) })
        else { continue }
        let read = graph.read(by: node, from: maker).joined(separator: ", ")
        throw BatchError(
          .refused, "part \(number).\(index + 1) looks up \(read) of part \(number).\(other + 1), which is left out",
          hint: "Make both or leave out both", effect: .nothingWritten)
      }
    }
  }

  /// The nodes stand in the order of the mapping models and of their mappings.
  func step(skipping skipped: Set<Int>) -> MigrationStep {
    guard !skipped.isEmpty else { return step }
    let nodes = Set(skipped.flatMap { parts[$0].nodes })
    var (marked, node) = (step, 0)
    for model in marked.mappingModels.indices {
      for mapping in marked.mappingModels[model].entityMappings.indices {
        marked.mappingModels[model].entityMappings[mapping].isSkipped = nodes.contains(node)
        node += 1
      }
    }
    return marked
  }

  /// Relationships of what is made that lead to what is skipped.
  func lostRelationships() -> [String] {
    let model = step.destination
    let empty = Set(graph.nodes.filter(\.mapping.isSkipped).compactMap(\.mapping.destinationEntity))
    let found = graph.nodes.filter { !$0.mapping.isSkipped }.flatMap(\.carried).filter { carried in
      empty.contains { model.isKind($0, of: carried.destination) }
    }
    return Set(found.map(\.relationship)).sorted()
  }
}
