import CoreDataModel
import MappingModels
import RunSupport

/// Finds the way from one version to another.
public enum VersionPath {
  /// The shortest list of steps from `source` to `destination`; empty when the hashes of both are equal.
  ///
  /// A step is made up by the mapping models whose hashes fit its two versions (where a mapping model has no hashes, by
  /// the names of versions and entities), or else inferred, but only from a version to the one that follows in `order`.
  /// A source that is in no bundle may be inferred to the destination directly. Mapping models go before inference.
  /// Stages leave no choice: see ``StagedMigration``.
  ///
  /// - Throws: ``BatchError`` with the code `noPath` that says which step is impossible and why, or `badMapping` when
  ///   mapping models of one step map the same entities or leave entities out.
  public static func find(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, library: ModelLibrary,
    mappings: [MappingModel], order: VersionOrder = .names
  ) throws -> [MigrationStep] {
    if case .stages(let staged) = order {
      let path = try StagedPath(staged, from: source, library: library, mappings: mappings).steps(to: destination)
      return try path.refusingUndecided()
    }
    let hashes = (source: library.hashes(of: source), destination: library.hashes(of: destination))
    guard hashes.source != hashes.destination else { return [] }
    var graph = VersionGraph(library: library, successors: try order.successors(in: library))
    graph.add(source, hashes.source, before: (destination, hashes.destination))
    graph.add(mappings)
    let (start, end) = (library.key(of: source), library.key(of: destination))
    var search = PathSearch(graph: graph, targets: graph.places(end))
    guard let steps = search.run(from: graph.places(start)) else {
      throw search.failure(
        from: source, to: destination, isBack: graph.precedes(end, start), in: order, of: library)
    }
    _ = try ([source] + steps.map(\.destination)).concurrentMap { try $0.validate() }
    return try steps.refusingUndecided()
  }
}

extension [MigrationStep] {
  /// Throws ``BatchError`` (`badMapping`) if a mapping file says of a whole step that it is still to be decided.
  fileprivate func refusingUndecided() throws -> [MigrationStep] {
    for mapping in flatMap(\.mappingModels) {
      guard let reason = mapping.undecidedStep else { continue }
      throw BatchError(
        .badMapping, "the mapping file \(mapping.name) is still to be decided: \(reason)",
        hint: "Write in the file what the step does, then remove the line undecided at its beginning")
    }
    return self
  }
}

/// A breadth-first search, so that the first path found is a shortest one.
private struct PathSearch {
  let graph: VersionGraph
  let targets: [Int]
  private var arrival: [Int: MigrationStep] = [:]
  private var origin: [Int: Int] = [:]
  private var reached: Set<Int> = []
  /// Why ways that were tried are closed.
  private var brokenMappings: [String] = []
  private var impossible: [String] = []
  /// The first step that cannot be inferred.
  private var closed: VersionGraph.Pair?
  /// A step that only the application can make, if no mapping model does.
  private var custom: BatchError?
  /// Inferred steps that will be asked for if no mapping model shortens the way.
  private var foreseen: [VersionGraph.Pair: Result<MigrationStep, any Error>] = [:]

  init(graph: VersionGraph, targets: [Int]) {
    self.graph = graph
    self.targets = targets
  }

  mutating func run(from start: [Int]) -> [MigrationStep]? {
    var front = start
    reached = Set(start)
    let pairs = Array(Set(start.flatMap { graph.successors(of: $0, targets: targets) }))
    let inferred = pairs.concurrentMap { [graph] pair in Result { try Self.inferred(pair, in: graph) } }
    foreseen = Dictionary(zip(pairs, inferred)) { first, _ in first }
    while !front.isEmpty {
      if let end = front.first(where: targets.contains) { return path(to: end) }
      var following: [Int] = []
      for place in front {
        for (destination, step) in steps(from: place) where !reached.contains(destination) {
          // Equal versions are one place: reaching one reaches all.
          for equal in graph.equals(destination) where reached.insert(equal).inserted {
            arrival[equal] = step
            origin[equal] = place
            following.append(equal)
          }
        }
      }
      front = following
    }
    return nil
  }

  private func path(to end: Int) -> [MigrationStep] {
    var steps: [MigrationStep] = []
    var place = end
    while let step = arrival[place], let before = origin[place] {
      steps.append(step)
      place = before
    }
    return steps.reversed()
  }

  private mutating func steps(from place: Int) -> [(destination: Int, step: MigrationStep)] {
    let source = graph.versions[place]
    var found: [(destination: Int, step: MigrationStep)] = []
    var next = graph.successor(of: place, targets: targets)
    let pairs = graph.explicit.filter { $0.key.source == place }.sorted { $0.key.destination < $1.key.destination }
    for (pair, partial) in pairs {
      let destination = graph.versions[pair.destination]
      let made = MigrationStep.mapped(partial, from: source, to: destination)
      if let step = made.step {
        found.append((pair.destination, step))
        if pair.destination == next { next = nil }
      } else {
        brokenMappings += made.problems.map { "\(source.name) to \(destination.name): \($0)" }
        // Inference must not pass over a mapping model that its author made for just this step.
        if pair.destination == next, partial.contains(where: { isMade($0, for: pair) }) { next = nil }
      }
    }
    if let next, let step = inferred(VersionGraph.Pair(source: place, destination: next)) { found.append((next, step)) }
    return found
  }

  private func isMade(_ mapping: MappingModel, for pair: VersionGraph.Pair) -> Bool {
    let named =
      mapping.sourceModelName == graph.versions[pair.source].name
      && mapping.destinationModelName == graph.versions[pair.destination].name
    return named || graph.explicit.filter { $0.value.contains(mapping) }.count == 1
  }

  private mutating func inferred(_ pair: VersionGraph.Pair) -> MigrationStep? {
    do { return try foreseen[pair]?.get() ?? Self.inferred(pair, in: graph) } catch {
      let text = (error as? BatchError)?.message ?? "\(error)"
      if let error = error as? BatchError, error.code == .badMapping { custom = custom ?? error }
      closed = closed ?? pair
      impossible.append("\(graph.versions[pair.source].name) to \(graph.versions[pair.destination].name): \(text)")
      return nil
    }
  }

  private static func inferred(_ pair: VersionGraph.Pair, in graph: VersionGraph) throws -> MigrationStep {
    try graph.refuseCustom(pair)
    return try .inferred(
      from: graph.versions[pair.source], graph.hashes[pair.source], to: graph.versions[pair.destination],
      graph.hashes[pair.destination], reason: "no mapping model fits this step, and it can be inferred")
  }

  func failure(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, isBack: Bool, in order: VersionOrder,
    of library: ModelLibrary
  ) -> BatchError {
    if let custom, brokenMappings.isEmpty, !isBack { return custom }
    var lines = brokenMappings + impossible
    let given = order.given
    if isBack {
      let by = given == nil ? "" : "by the order that was given "
      lines.insert("\(by)\(destination.name) comes before \(source.name), and inference goes forward only", at: 0)
    } else if lines.isEmpty, let given,
      let missing = [source, destination].first(where: { !library.holds($0, in: given) })
    {
      lines.append(
        "\(missing == source ? "the store's version" : "the target") \(missing.name) is not in the list of versions")
    } else if lines.isEmpty {
      lines.append("no mapping model leads there, and inference goes from a version to the next one only")
    }
    let message = "no path leads from \(source.name) to \(destination.name):\n"
    let begin = isBack ? nil : closed.flatMap(graph.beginning)
    let file = begin.map { ", or begin a mapping file with \($0) and name it with --mappings" } ?? ""
    return BatchError(
      brokenMappings.isEmpty ? .noPath : .badMapping, message + (lines + graph.unused).joined(separator: "\n"),
      hint: "Supply a mapping model for the step\(file). \(order.knownVersions(in: library))",
      next: begin.map { [$0.line] } ?? [])
  }
}
