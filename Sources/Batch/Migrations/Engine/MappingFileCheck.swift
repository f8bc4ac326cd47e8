import CoreDataModel
import MappingModels

/// What a mapping model says about the versions that are known: which steps it is for, and what a migration would
/// refuse.
public struct MappingFileCheck: Sendable, Equatable {
  /// The steps that it is for, as "Library 1 to Library 2".
  public var steps: [String] = []
  /// Its entity mappings in the first of them, as a plan lists them: with those that the file has only by `subentities`
  /// or `others`. Nil if it is for none.
  package var entityMappings: Int?
  /// What does not fit, a sentence each.
  public var problems: [String] = []

  /// Compares a mapping model with versions. `others` are given with it and may have the rest of a step. Policies that
  /// are not registered here are taken to be elsewhere.
  public init(
    _ model: MappingModel, beside others: [MappingModel] = [], library: ModelLibrary,
    policies: PolicyRegistry = PolicyRegistry()
  ) {
    var graph = VersionGraph(library: library, successors: nil)
    graph.add([model] + others)
    for (pair, models) in graph.explicit.sorted(by: {
      ($0.key.source, $0.key.destination) < ($1.key.source, $1.key.destination)
    })
    where models.contains(model) {
      let (source, destination) = (graph.versions[pair.source], graph.versions[pair.destination])
      steps.append("\(source.name) to \(destination.name)")
      let (step, found) = MigrationStep.mapped(models, from: source, to: destination)
      if let step, let place = models.firstIndex(of: model), step.mappingModels.count == models.count {
        entityMappings = entityMappings ?? step.mappingModels[place].entityMappings.count
      }
      problems += found + (step.map { MappingTrial(step: $0, policies: policies).problems() } ?? [])
    }
    guard steps.isEmpty else { return }
    // The names that the versions do not have explain best why no step fits.
    if let source = model.sourceModelName.flatMap({ library.version(named: $0) }),
      let name = model.destinationModelName,
      let destination = library.version(named: name)
    {
      problems = MappingCheck(model: model, source: source, destination: destination).problems()
    }
    if problems.isEmpty {
      var alone = VersionGraph(library: library, successors: nil)
      alone.add([model])
      problems = alone.unused + [library.knownVersions]
    }
  }

  /// The versions of the first step that a mapping model is for; nil if it fits none.
  package static func versions(
    of model: MappingModel, in library: ModelLibrary
  ) -> (source: ManagedObjectModel, destination: ManagedObjectModel)? {
    var graph = VersionGraph(library: library, successors: nil)
    graph.add([model])
    let first = graph.explicit.keys.min { ($0.source, $0.destination) < ($1.source, $1.destination) }
    return first.map { (graph.versions[$0.source], graph.versions[$0.destination]) }
  }
}
