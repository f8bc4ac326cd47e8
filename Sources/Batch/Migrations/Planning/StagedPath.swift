import CoreDataModel
import MappingModels
import RunSupport

/// Finds the steps that stages prescribe.
///
/// Errors stand for those of Core Data (E.1): a version that no model has is `noModel` (134504); a store or target that
/// is in no stage, and a way back, are `noPath` (134506); a custom stage without mapping model is `badMapping`
/// (134140).
struct StagedPath {
  /// How a version of the chain is reached from the one before.
  private struct Link {
    let version: ManagedObjectModel
    /// The last one that is the same: its own names lead on.
    var last: ManagedObjectModel
    let key: String
    /// The stage, from 1.
    let stage: Int
    /// Names of mapping models for a custom stage; nil if the step is inferred.
    let mappingModels: [String]?
  }

  private let library: ModelLibrary
  private let graph: VersionGraph
  private let source: ManagedObjectModel
  private var links: [Link] = []

  init(_ staged: StagedMigration, from source: ManagedObjectModel, library: ModelLibrary, mappings: [MappingModel])
    throws
  {
    guard !staged.stages.isEmpty else { throw StagedMigration.empty }
    self.source = source
    self.library = library
    var graph = VersionGraph(library: library, successors: [:])
    let hashes = library.hashes(of: source)
    graph.add(source, hashes, before: (source, hashes))
    graph.add(mappings)
    self.graph = graph
    for (index, stage) in staged.stages.enumerated() {
      switch stage {
      case .lightweight(let references): for reference in references { try append(reference, stage: index + 1) }
      case .custom(let from, let to, let names):
        try append(from, stage: index + 1)
        try append(to, stage: index + 1, mappingModels: names)
      }
    }
  }

  private mutating func append(_ reference: String, stage: Int, mappingModels: [String]? = nil) throws {
    let version = try library.version(of: reference, stage: stage, besides: [source])
    let key = library.key(of: version)
    if key == links.last?.key {
      // A stage may begin where the one before ends.
      guard mappingModels == nil else {
        throw BatchError(.badMapping, "stage \(stage) leads from \(version.name) to itself", hint: "Name two versions")
      }
      links[links.count - 1].last = version
      return
    }
    if let earlier = links.first(where: { $0.key == key }) {
      throw BatchError(
        .noPath, "stage \(stage) leads back to \(version.name), which stage \(earlier.stage) has passed",
        hint: "Name the versions in the order of the migration, each once")
    }
    links.append(Link(version: version, last: version, key: key, stage: stage, mappingModels: mappingModels))
  }

  /// The steps from the source to a version; none where they are equal.
  func steps(to destination: ManagedObjectModel) throws -> [MigrationStep] {
    let (start, end) = (try position(of: source, "the store's version"), try position(of: destination, "the target"))
    guard start <= end else {
      throw BatchError(
        .noPath, "the stages lead from \(destination.name) to \(source.name), not back",
        hint: "Migrate an older store, or write stages for the way back with mapping models")
    }
    return try zip(links[start..<end], links[(start + 1)..<(end + 1)]).map(step)
  }

  private func position(of version: ManagedObjectModel, _ what: String) throws -> Int {
    let key = library.key(of: version)
    if let found = links.firstIndex(where: { $0.key == key }) { return found }
    throw BatchError(
      .noPath, "\(what), \(version.name) with the checksum \(library.checksum(of: version)), is in no stage",
      hint: "The stages have \(links.map(\.version.name).joined(separator: ", ")): add a stage that names it")
  }

  private func step(from: Link, to: Link) throws -> MigrationStep {
    let stage = "stage \(to.stage): \(from.last.name) to \(to.version.name)"
    let step: MigrationStep
    if let names = to.mappingModels {
      step = try custom(from, to: to, models: try mappingModels(names, from: from, to: to, stage: stage), stage: stage)
    } else {
      do {
        step = try MigrationStep.inferred(
          from: from.last, library.hashes(of: from.last), to: to.version, library.hashes(of: to.version),
          reason: "stage \(to.stage) is lightweight")
      } catch var error as BatchError {
        (error.code, error.message) = (.noPath, "\(stage): \(error.message)")
        error.hint = "Make it a custom stage, with a mapping model"
        throw error
      }
    }
    try step.source.validate()
    try step.destination.validate()
    return step
  }

  /// The mapping models of a custom stage that fit its versions.
  private func mappingModels(_ names: [String], from: Link, to: Link, stage: String) throws -> [MappingModel] {
    let (before, after) = (library.hashes(of: from.version), library.hashes(of: to.version))
    let pairs = graph.explicit.keys.filter {
      graph.hashes[$0.source] == before && graph.hashes[$0.destination] == after
    }
    .sorted { ($0.source, $0.destination) < ($1.source, $1.destination) }
    var fitting: [MappingModel] = []
    for model in pairs.flatMap({ graph.explicit[$0] ?? [] }) where !fitting.contains(model) { fitting.append(model) }
    let missing = names.filter { name in !fitting.contains { $0.name == name } }
    guard missing.isEmpty, !fitting.isEmpty else {
      let what = missing.isEmpty ? "no mapping model fits" : "no mapping model \(missing.joined(separator: ", ")) fits"
      throw BatchError(
        .badMapping, ([("\(stage): \(what)")] + graph.unused).joined(separator: "\n"),
        hint: "Supply the mapping model, or make the stage lightweight")
    }
    return names.isEmpty ? fitting : fitting.filter { names.contains($0.name) }
  }

  private func custom(_ from: Link, to: Link, models: [MappingModel], stage: String) throws -> MigrationStep {
    let made = MigrationStep.mapped(models, from: from.last, to: to.version)
    guard let step = made.step else {
      throw BatchError(
        .badMapping, made.problems.map { "\(stage): \($0)" }.joined(separator: "\n"), hint: "Correct the mapping models"
      )
    }
    return step
  }
}
