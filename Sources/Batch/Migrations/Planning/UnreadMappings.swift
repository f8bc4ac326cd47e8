import CoreDataModel
import MappingModels
import RunSupport

/// Mapping models of an application that cannot be read. A step that one of them may be for is refused: inferred, or
/// made by others, it would lose what only that one carries.
package struct UnreadMappings: Sendable {
  private static let mostListed = 3

  /// The application.
  package let path: String
  package let mappings: [UnreadMapping]
  /// Mapping models that stand in for all others of their steps.
  private let standIns: [MappingModel]
  /// What to do: a sentence with a whole command.
  package var advice: String?

  package init(_ mappings: [UnreadMapping], of path: String, standIns: [MappingModel]) {
    (self.mappings, self.path, self.standIns) = (mappings, path, standIns)
  }

  /// The error for those that may be for any step of a model; nil if there are none.
  package func refusal(in library: ModelLibrary) -> BatchError? {
    guard !mappings.isEmpty else { return nil }
    var graph = VersionGraph(library: library, successors: nil)
    graph.add(standIns)
    return refusal(over: Array(graph.versions.indices), in: graph)
  }

  /// The error for those that may be for a step of a way; nil if there are none. `steps` are those that were found; nil
  /// if there are none.
  func refusal(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, _ steps: [MigrationStep]?,
    in library: ModelLibrary
  ) -> BatchError? {
    guard !mappings.isEmpty else { return nil }
    var graph = VersionGraph(library: library, successors: nil)
    let (start, end) = (library.key(of: source), library.key(of: destination))
    graph.add(source, library.hashes(of: source), before: (destination, library.hashes(of: destination)))
    graph.add(standIns)
    let way =
      steps.map { places(source, $0, in: graph) }
      ?? graph.chain(from: start, to: end) ?? [start, end].compactMap { graph.places($0).first }
    return refusal(over: way, in: graph)
  }

  private func refusal(over way: [Int], in graph: VersionGraph) -> BatchError? {
    let open = open(way, in: graph)
    let concerned = mappings.compactMap { mapping -> (UnreadMapping, VersionGraph.Pair)? in
      let reach = mapping.reach(names: graph.versions.map(\.name), hashes: graph.hashes)
      return open.first(where: reach.holds).map { (mapping, reach == .any ? graph.whole(way) ?? $0 : $0) }
    }
    return concerned.first.map {
      error(concerned.map(\.0), for: "\(graph.versions[$0.1.source].name) to \(graph.versions[$0.1.destination].name)")
    }
  }

  /// The versions on the way, those that inference passes included.
  private func places(_ source: ManagedObjectModel, _ steps: [MigrationStep], in graph: VersionGraph) -> [Int] {
    func place(_ model: ManagedObjectModel) -> Int? {
      graph.versions.firstIndex(of: model) ?? graph.places(model.versionChecksum).first
    }
    var way = [place(source)].compactMap(\.self)
    for step in steps {
      guard let last = way.last, let next = place(step.destination) else { continue }
      let chain = step.isInferred ? graph.chain(from: last, to: next) : nil
      way += chain?.dropFirst() ?? [next]
    }
    return way
  }

  /// Steps on a way, also past versions between, that are not made by what stands in for others: the shortest first.
  private func open(_ way: [Int], in graph: VersionGraph) -> [VersionGraph.Pair] {
    let settled = zip(way, way.dropFirst()).map { graph.explicit[.init(source: $0, destination: $1)] != nil }
    return (1..<max(2, way.count)).flatMap { length in
      way.indices.dropLast(length).filter { settled[$0..<($0 + length)].contains(false) }.map {
        VersionGraph.Pair(source: way[$0], destination: way[$0 + length])
      }
    }
  }

  private func error(_ concerned: [UnreadMapping], for step: String) -> BatchError {
    let listed = concerned.prefix(Self.mostListed).map { "\($0.place): \($0.reason)" }.joined(separator: "; ")
    let more = concerned.count > Self.mostListed ? "; and \(concerned.count - Self.mostListed) more" : ""
    let (subject, verb) = concerned.count == 1 ? ("a mapping model", "it") : ("mapping models", "them")
    return BatchError(
      .refused,
      "\(subject) that \(step) may need cannot be read, and without \(verb) data could be lost: \(listed)\(more)",
      hint: advice ?? "Put a sound copy in its place", effect: .nothingWritten, path: path)
  }
}

extension VersionGraph {
  /// From the first version of a way to its last one.
  fileprivate func whole(_ way: [Int]) -> Pair? {
    way.count < 2 ? nil : Pair(source: way[0], destination: way[way.count - 1])
  }
}
