import CoreDataModel
import MappingModels
import Migrations

/// The steps of a model of an application, and the mapping models that make them.
package struct ApplicationSteps {
  /// A step, by the positions of its versions.
  package struct Step: Sendable {
    package var source: Int
    package var destination: Int
    /// Positions in the application's mapping models.
    package var mappings: [Int]
    /// Mapping models of the same step for which others stand in: what a person wrote for this program comes first.
    package var replaced: [Int] = []
  }

  /// By their versions.
  package private(set) var steps: [Step] = []

  /// The steps of a model. Where `others` make a step they stand in for the application's.
  package init(of bundle: ModelBundle, in application: Application, beside others: [MappingModel] = []) {
    let library = ModelLibrary(bundles: [bundle])
    var made = VersionGraph(library: library, successors: nil)
    made.add(others)
    var found: [[Int]: [Int]] = [:]
    for (place, mapping) in application.mappings.enumerated() {
      var graph = VersionGraph(library: library, successors: nil)
      graph.add([mapping.model])
      for pair in Self.nearest(graph.explicit.keys) {
        found[[pair.source, pair.destination], default: []].append(place)
      }
    }
    steps = found.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { pair, mappings in
      let written = mappings.filter { application.mappings[$0].isWritten }
      let isMade = made.explicit[VersionGraph.Pair(source: pair[0], destination: pair[1])] != nil
      let taken = isMade ? [] : written.isEmpty ? mappings : written
      return Step(
        source: pair[0], destination: pair[1], mappings: taken, replaced: mappings.filter { !taken.contains($0) })
    }
  }

  /// A mapping model of few entities may fit versions that lie further apart, too, because most entities stay as they are.
  private static func nearest(_ pairs: some Collection<VersionGraph.Pair>) -> [VersionGraph.Pair] {
    let least = pairs.map { abs($0.destination - $0.source) }.min()
    return pairs.filter { abs($0.destination - $0.source) == least }
  }

  /// Positions of the mapping models that make steps, in the order of the application.
  package var used: [Int] { Set(steps.flatMap(\.mappings)).subtracting(replaced).sorted() }

  /// Positions of those for which others stand in.
  package var replaced: [Int] { Set(steps.flatMap(\.replaced)).sorted() }
}
