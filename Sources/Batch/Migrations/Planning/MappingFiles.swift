import CoreDataModel
import Foundation
import MappingModels
import RunSupport
import Streams

/// Mapping models with their files: for advice that names these.
package struct MappingFiles {
  private static let mostBeside = 200
  private static let extensions: Set<String> = ["xcmappingmodel", "cdm", "yaml", "yml"]

  private let files: [(model: MappingModel, file: String)]

  /// Mapping models, each with the path that it was read from.
  package init(_ files: [(model: MappingModel, file: String)]) { self.files = files }

  /// A message that calls mapping models of one name by their files.
  package func told(_ message: String) -> String {
    Dictionary(grouping: files) { $0.model.name }.filter { $0.value.count > 1 }.reduce(message) { text, same in
      text.replacing(
        StepCoverage.both([same.key, same.key]), with: StepCoverage.both(same.value.map(\.file)))
    }
  }

  /// The files without those that have another one's name.
  package var single: [String] {
    var names: Set<String> = []
    return files.filter { names.insert($0.model.name).inserted }.map(\.file)
  }

  /// Other mapping models, of the same folders or of `others`, that make a step together with these: they have entities
  /// that none of these has.
  package func partners(in library: ModelLibrary, of others: [String] = []) -> [String] {
    var steps = Self.steps(files.map(\.model), in: library)
    var found: [String] = []
    for path in others + beside {
      guard let model = try? MappingModelReader.read(path: path).first else { continue }
      let shared = Self.steps([model], in: library).keys.filter { step in
        steps[step].map { Self.adds(model, to: $0) } ?? false
      }
      guard !shared.isEmpty else { continue }
      for step in shared { steps[step]?.append(model) }
      found.append(path)
    }
    return found
  }

  private static func steps(
    _ models: [MappingModel], in library: ModelLibrary
  ) -> [VersionGraph.Pair: [MappingModel]] {
    var graph = VersionGraph(library: library, successors: nil)
    graph.add(models)
    return graph.explicit
  }

  /// Whether a mapping model maps what these do not, and nothing that they do.
  private static func adds(_ model: MappingModel, to known: [MappingModel]) -> Bool {
    func entities(_ models: [MappingModel]) -> Set<String> {
      Set(models.flatMap(\.entityMappings).flatMap { [$0.sourceEntity, $0.destinationEntity].compactMap(\.self) })
    }
    let (own, others) = (entities([model]), entities(known))
    return !own.isEmpty && own.isDisjoint(with: others)
  }

  /// What lies beside the files, without what lies in folders there.
  private var beside: [String] {
    let own = Set(files.map(\.file))
    return Set(own.map(FilePaths.directory)).sorted().flatMap { folder -> [String] in
      let all =
        ((try? PackageFolders.folders(in: folder, code: .badMapping)) ?? [])
        + ((try? PackageFolders.files(in: folder, code: .badMapping)) ?? [])
      return all.filter { path in
        Self.extensions.contains((path as NSString).pathExtension) && !own.contains(path)
          && (!MappingModelReader.isFile(path) || MappingModelReader.isMappingFile(path))
      }
    }.prefix(Self.mostBeside).map(\.self)
  }
}
