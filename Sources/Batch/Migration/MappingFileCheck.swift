/// What a mapping model says about the versions that are known: which step it is for, and what does not fit.
public struct MappingFileCheck: Sendable, Equatable {
  /// The steps that it is for, as "Library 1 to Library 2".
  public var steps: [String] = []
  /// What does not fit, a sentence each.
  public var problems: [String] = []

  /// Compares a mapping model with versions.
  public init(_ model: MappingModel, library: ModelLibrary) {
    var graph = VersionGraph(library: library, successors: nil)
    graph.add([model])
    for (pair, models) in graph.explicit.sorted(by: { ($0.key.source, $0.key.destination) < ($1.key.source, $1.key.destination) })
    {
      let (source, destination) = (graph.versions[pair.source], graph.versions[pair.destination])
      steps.append("\(source.name) to \(destination.name)")
      let completed = MappingCompletion(models: models, source: source, destination: destination).completed()
      problems += MappingCheck(model: model, source: source, destination: destination).problems()
      problems += StepCoverage.problems(completed, from: source, to: destination)
    }
    guard steps.isEmpty else { return }
    // The names that the versions do not have explain best why no step fits.
    if let source = model.sourceModelName.flatMap({ library.version(named: $0) }), let name = model.destinationModelName,
      let destination = library.version(named: name)
    {
      problems = MappingCheck(model: model, source: source, destination: destination).problems()
    }
    if problems.isEmpty { problems = graph.unused + [library.knownVersions] }
  }
}
