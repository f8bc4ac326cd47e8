import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport

extension MigrationPlanner {
  /// The steps from one version to another; `key` is their ``pathKey(from:to:_:)``. Throws `refused` if a mapping model
  /// that may be for one of them cannot be read.
  func readPath(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, target: MigrationTarget,
    successors: [String: String]?, key: ModelLibrary.PathKey?
  ) throws -> RunInference {
    func refusal(_ steps: [MigrationStep]?) -> BatchError? {
      target == .identity ? nil : unread?.refusal(from: source, to: destination, steps, in: library)
    }
    let chosen: RunInference
    do {
      chosen = try path(from: source, to: destination, target: target, successors: successors, key: key)
    } catch { throw refusal(nil) ?? error }
    if let refusal = refusal(chosen.steps) { throw refusal }
    return chosen
  }

  /// The same, whatever cannot be read. Throws `noPath` and what the reading of mapping models throws.
  private func path(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, target: MigrationTarget,
    successors: [String: String]?, key: ModelLibrary.PathKey?
  ) throws -> RunInference {
    guard target == .identity else {
      guard let key else { return try path(from: source, to: destination, successors) }
      return try library.paths.value(key) { try path(from: source, to: destination, successors) }
    }
    let step = MigrationStep(
      source: source, destination: source, mappingModels: [.identity(of: source)], isInferred: true,
      reason: "every row is written again under the same model")
    return RunInference(steps: [step])
  }

  /// What a path depends on; nil where more than the library decides about it.
  func pathKey(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, _ successors: [String: String]?
  ) -> ModelLibrary.PathKey? {
    guard mappings.isEmpty, order.stages == nil, let start = library.position(of: source),
      let end = library.position(of: destination)
    else { return nil }
    return ModelLibrary.PathKey(source: start, destination: end, successors: successors, way: inference)
  }

  /// The steps, prepared for a store; not twice for stores with the same tables.
  func prepared(
    _ steps: [MigrationStep], _ key: ModelLibrary.PathKey?, reader: StoreReader, binding: StoreBinding,
    checksValues: Bool
  ) throws -> PreparedPath {
    func make() throws -> PreparedPath {
      try PreparedPath(
        steps, renamings: RenamingNotes.list(steps, in: library), source: binding, schema: reader.schema,
        checksValues: checksValues, fuses: fuses,
        isStaged: order.stages != nil)
    }
    guard let key else { return try make() }
    // Where the tables lie is each store's own.
    let tables = reader.schema.rows.map {
      SchemaRow(type: $0.type, name: $0.name, tableName: $0.tableName, rootPage: 0, sql: $0.sql)
    }
    let whole = PreparedPath.Key(
      path: key, tables: tables, histories: steps.map(\.isHistory), fuses: fuses, checksValues: checksValues
    )
    return try library.prepared.value(whole, make: make)
  }

  private func path(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, _ successors: [String: String]?
  ) throws -> RunInference {
    do {
      // Errors speak of a list that was given.
      let order = order.given == nil ? successors.map { .successors($0) } ?? order : order
      let steps = try VersionPath.find(
        from: source, to: destination, library: library, mappings: mappings, order: order)
      PathFacts.derive(steps)
      return try order.stages == nil ? RunInference(steps, way: inference) : RunInference(steps: steps)
    } catch let error as BatchError where error.code == .noPath {
      guard let step = try past(from: source, to: destination, successors) else { throw error }
      return RunInference(steps: [step], notes: ["\(source.name) to \(destination.name) is \(step.reason)"])
    }
  }

  /// The step past versions that cannot be inferred one after the other, where no mapping model is for any of them; nil
  /// for none. Throws `badMapping` if it passes over code of the application.
  private func past(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, _ successors: [String: String]?
  ) throws -> MigrationStep? {
    var graph = VersionGraph(library: library, successors: successors)
    graph.add(mappings)
    let (start, end) = (library.key(of: source), library.key(of: destination))
    guard inference != .stepwise, order.stages == nil, graph.explicit.isEmpty, graph.precedes(start, end) else {
      return nil
    }
    if let first = graph.places(start).first, let last = graph.places(end).first {
      try graph.refuseCustom(.init(source: first, destination: last))
    }
    return try? MigrationStep.inferred(
      from: source, library.hashes(of: source), to: destination, library.hashes(of: destination),
      reason: "inferred directly, past the versions between, because it cannot be inferred version by version")
  }
}
