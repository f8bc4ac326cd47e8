import Foundation
import Streams

/// Judges a plan: would it lose what nobody gave up, and is everything used that was named?
struct PlanJudge {
  private static let mostNamed = 12

  private let request: MigrationJob.Request
  private let plan: MigrationPlan
  private let library: ModelLibrary
  private let mappings: [Mappings]

  /// The mapping models at a path that was named.
  struct Mappings {
    var path: String
    var models: [MappingModel]
  }

  init(_ request: MigrationJob.Request, _ plan: MigrationPlan, _ library: ModelLibrary, _ mappings: [Mappings]) {
    (self.request, self.plan, self.library, self.mappings) = (request, plan, library, mappings)
  }

  /// What a person should know. Throws `refused` where the plan loses objects, values or links without consent, and `badMapping` for a
  /// mapping model that was named and fits no step.
  func notes(_ reader: StoreReader) throws -> [String] {
    guard request.target != .identity else { return [] }
    let unused = try unusedMappings()
    try refuseLosses(reader)
    return unused
  }

  // MARK: Losses

  /// A step that the bundle's versions do not know is nobody's will: the store's own model stands in for a version that is missing.
  private func refuseLosses(_ reader: StoreReader) throws {
    let hashes = reader.metadata.versionHashes
    guard library.model(matching: hashes) == nil, let step = plan.steps.first, let origin = (step.passed + [step]).first else {
      return
    }
    let common = Set(hashes.keys).intersection(origin.destination.entities.map(\.name))
    guard !common.isEmpty || hashes.isEmpty else {
      throw BatchError(
        .refused, "no version of the model fits the store, and they have no entity in common: the store is another application's",
        hint: "Give --models of the application that wrote it; nothing was written", path: reader.path)
    }
    let leftOut = LeftOut(origin).losses.filter { !request.consent.allows($0) }
    guard origin.isInferred, !leftOut.isEmpty else { return }
    let counted = try count(leftOut, reader, origin.source).filter { $0.count > 0 }
    guard !counted.isEmpty else { return }
    throw BatchError(
      .refused,
      "no version of the model fits the store, and the step from its own model to \(origin.destination.name) would lose "
        + Self.list(counted) + Self.nearest(library, hashes),
      hint: hint(counted), path: reader.path)
  }

  private func count(_ losses: [Loss], _ reader: StoreReader, _ model: ManagedObjectModel) throws -> [Loss] {
    let layout = try StoreLayout(model: model, purpose: .reading)
    let binding = try StoreBinding(layout: layout, schema: reader.schema, modelName: model.name, path: reader.path)
    let sought = try losses.map { loss in
      let entity = try SourceEntity(name: loss.entity, binding: binding)
      let position = loss.property.flatMap { name in
        entity.attributes[name]?.position ?? entity.relationships[name]?.keyPosition
      }
      return ValueCount.Sought(entity: entity, position: position)
    }
    let counts = try ValueCount(sought, reader, binding)
    return try losses.indices.map { index in
      var loss = losses[index]
      loss.count = loss.property == nil ? counts.missing[index] : counts.present[index]
      if let join = binding.joins.first(where: { $0.layout.isOf(loss, in: model) }) {
        loss.count = try reader.rows(of: join.schema)
      }
      return loss
    }
  }

  private static func list(_ losses: [Loss]) -> String {
    let named = losses.prefix(mostNamed).map(\.text)
    let rest = losses.dropFirst(mostNamed)
    guard !rest.isEmpty else { return named.joined(separator: ", ") }
    return named.joined(separator: ", ") + " and \(rest.reduce(0) { $0 + $1.count }) of \(rest.count) others"
  }

  private static func nearest(_ library: ModelLibrary, _ hashes: [String: [UInt8]]) -> String {
    library.nearest(to: hashes).map { "; the nearest version is \($0.model.name)" } ?? ""
  }

  private func hint(_ losses: [Loss]) -> String {
    let models = "Give --models with the version that wrote the store"
    let words = ReplayCommand.words(
      request.arguments, source: absolute(plan.source), output: request.output.map(absolute), restarts: false)
    guard let words else { return models + ", or allow it with --drop or --accept-loss; nothing was written" }
    return models + ", or lose it with \(ProgramName.command(words + ["--drop"] + losses.map(\.path))); nothing was written"
  }

  private func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

  // MARK: Mapping models

  /// Mapping models that the path does not use; those that were named by themselves have to fit a step.
  private func unusedMappings() throws -> [String] {
    var notes: [String] = []
    for named in mappings {
      for model in named.models {
        let graph = graph(with: model)
        guard let reason = graph.unused.first else {
          notes += note(model, graph)
          continue
        }
        guard isNamed(named.path) else {
          notes.append(reason + ": it is not used")
          continue
        }
        let problems = MappingFileCheck(model, library: library).problems
        throw BatchError(
          .badMapping,
          "this mapping model was named, and fits no step: " + (problems.isEmpty ? [reason] : problems).joined(separator: "; "),
          hint: "Correct it, or leave it out; nothing was written", path: named.path)
      }
    }
    return notes
  }

  private func graph(with model: MappingModel) -> VersionGraph {
    var graph = VersionGraph(library: library, successors: nil)
    let (source, target) = (plan.sourceVersion, plan.targetVersion)
    graph.add(source, library.hashes(of: source), before: (target, library.hashes(of: target)))
    graph.add([model])
    return graph
  }

  /// It fits versions that the store does not pass.
  private func note(_ model: MappingModel, _ graph: VersionGraph) -> [String] {
    let path = plan.steps.flatMap { $0.passed + [$0] }.map {
      [library.hashes(of: $0.source), library.hashes(of: $0.destination)]
    }
    let pairs = graph.explicit.keys
    guard !plan.isUpToDate, !pairs.contains(where: { path.contains([graph.hashes[$0.source], graph.hashes[$0.destination]]) })
    else {
      return []
    }
    let steps = pairs.map { "\(graph.versions[$0.source].name) to \(graph.versions[$0.destination].name)" }.sorted()
    return ["the mapping model \(model.name) is for \(steps.joined(separator: ", ")), which is not on the path: it is not used"]
  }

  /// Was a mapping model named by itself, and not found in a folder?
  private func isNamed(_ path: String) -> Bool {
    !PackageFolders.isFolder(path) || (path as NSString).pathExtension == "xcmappingmodel"
  }
}

extension JoinTable {
  /// Does the table have the links of a relationship, declared by the entity or one of its parents?
  fileprivate func isOf(_ loss: Loss, in model: ManagedObjectModel) -> Bool {
    [relationship, inverse].contains { $0.name == loss.property && model.isKind(loss.entity, of: $0.entity) }
  }
}
