import CoreDataModel
import CoreDataStore
import Foundation
import Migrations
import RunSupport
import Streams

extension MigrationJob {
  /// Follows one object on its way to the version that a request asks for, step by step. Nothing is written but to a
  /// temporary folder.
  ///
  /// The object is really migrated: it and what it leads to, as a small store of its own, by the steps, mapping models
  /// and policies of a whole run. Keys of objects that stand for a source object are those of a whole run. What depends
  /// on other objects is not: whether an object that is looked up by a value is found or made, and the keys of objects
  /// that are made.
  ///
  /// `result` is a store that such a run has finished: the object is looked up there. Values of attributes are in the
  /// trace only with `values`. The request's output, memory and proof do not matter.
  ///
  /// - Throws: ``BatchError`` as ``plan(_:for:)`` does, and `refused` where there is no such object.
  public func trace(
    _ entity: String, key: Int64, in request: Request, result: String? = nil, values: Bool = false
  ) throws -> ObjectTrace {
    // A folder for its owner alone: it has objects of the store.
    try BatchError.looking {
      try UnfinishedFiles.withFolder("trace", in: LocalFileSystem()) { folder in
        try trace(entity, key: key, in: request, result: result, values: values, folder: folder)
      }
    }
  }

  private func trace(
    _ entity: String, key: Int64, in request: Request, result: String?, values: Bool, folder: String
  ) throws -> ObjectTrace {
    let tracer = ObjectTracer(
      folder: folder, policies: policies, now: Date().timeIntervalSinceReferenceDate.rounded(),
      validation: request.validation, withValues: values)
    let source = try SourceStore.opened(request.source, fileSystem, locking: .shared, logs: logs)
    defer { source.close() }
    var request = request
    request.fuses = false
    // Whether other rows can be migrated is not asked here.
    let plan = try planner(request).plan(source, target: request.target, countsRows: false, checksValues: false)
    var (trace, near) = try begin(entity, key: key, source: source, plan: plan, tracer: tracer)
    let end = try tracer.steps(plan.steps, of: near, following: trace.object)
    trace.steps = end.steps
    if let result {
      let found = try find(end.followed, of: plan.targetVersion, in: result, predicted: end.path, tracer)
      trace.found =
        try found.allSatisfy(\.differing.isEmpty) ? found : settingApart(found, by: tracer, plan, from: near, to: end)
      trace.compareRelationships()
    }
    return trace
  }

  /// Sets apart what no two runs give the same value, as random ones: of another run, the prediction is another.
  private func settingApart(
    _ found: [ObjectTrace.Found], by tracer: ObjectTracer, _ plan: MigrationPlan, from near: String,
    to end: ObjectTracer.End
  ) throws -> [ObjectTrace.Found] {
    let other = try tracer.ofAnotherRun()
    let again = try other.steps(plan.steps, of: near, following: end.first)
    let varying = try find(end.followed, of: plan.targetVersion, in: again.path, predicted: end.path, other)
    return zip(found, varying).map { found, varying in
      var found = found
      let names = found.differing.filter(varying.differing.contains)
      found.differing.removeAll(where: names.contains)
      found.unforetold = names.isEmpty ? nil : names
      return found
    }
  }

  /// Looks at the object, and writes the small store with it.
  private func begin(
    _ entity: String, key: Int64, source: StoreReader, plan: MigrationPlan, tracer: ObjectTracer
  ) throws -> (trace: ObjectTrace, path: String) {
    let store = try TracedStore(source, model: plan.sourceVersion, files: tracer.files("source"))
    defer { store.graph.forgetObjects() }
    guard store.graph.entities[entity] != nil else {
      let known = plan.sourceVersion.entities.map(\.name).sorted()
      throw BatchError(
        .refused,
        "the version \(plan.sourceVersion.name) has no entity \(entity)\(NearName.question(entity, in: known))",
        hint: "Its entities are \(known.joined(separator: ", "))",
        path: source.path)
    }
    guard let object = try store.object(entity, key: key) else {
      throw BatchError(
        .refused, "the store has no such object",
        hint: "Give its key, Z_PK: \(ProgramName.command("export", source.path, entity)) prints those of all objects",
        path: source.path,
        entity: entity, key: key)
    }
    // What a step reads of an object leads a step further.
    let near = try NearbyStore(around: object, depth: plan.steps.count + 2, in: store.graph)
    let path = FilePaths.join(tracer.folder, "near.sqlite")
    try near.write(to: path, LocalFileSystem())
    return (
      ObjectTrace(
        store: source.path, version: plan.sourceVersion.name, target: plan.targetVersion.name,
        object: .init(entity: object.entityName, key: key),
        properties: try store.properties(of: object, withValues: tracer.withValues) { _, _ in nil },
        near: near.count - 1,
        isCutOff: near.isCutOff, steps: []), path
    )
  }

  /// Looks objects up in a finished store, and compares them with what was predicted.
  private func find(
    _ objects: [ObjectTrace.Object], of model: ManagedObjectModel, in result: String, predicted: String,
    _ tracer: ObjectTracer
  ) throws -> [ObjectTrace.Found] {
    let reader = try SourceStore.opened(result, fileSystem, locking: .shared)
    defer { reader.close() }
    guard reader.metadata.versionHashes == model.versionHashes else {
      throw BatchError(
        .refused, "the finished store is of another version than \(model.name)",
        hint: "Name the store that the migration made, and its version with --to", path: result)
    }
    let near = try StoreReader(path: predicted, fileSystem: LocalFileSystem(), locking: .none)
    defer { near.close() }
    let stores = try zip([reader, near], ["result", "predicted"]).map {
      try TracedStore($0, model: model, files: tracer.files($1))
    }
    defer { for store in stores { store.graph.forgetObjects() } }
    return try objects.filter(\.isExact).map { object in
      let pair = try stores.map { try $0.object(object.entity, key: object.key) }
      guard let found = pair[0] else { return .init(object: object, isThere: false, differing: [], properties: []) }
      return .init(
        object: object, isThere: true, differing: try pair[1].map { try stores[0].differences(found, $0) } ?? [],
        properties: try stores[0].properties(of: found, withValues: tracer.withValues) { _, _ in nil })
    }
  }
}

extension ObjectTrace.Step {
  /// What there is after the step: objects that stand for those before it, then those that were created in addition,
  /// each once.
  var objects: [ObjectTrace.Object] {
    let takings = passages.flatMap(\.takings)
    let all = takings.compactMap(\.object) + takings.flatMap { $0.made.map(\.object) }
    var seen: Set<ObjectTrace.Object> = []
    return all.filter { seen.insert($0.place).inserted }
  }
}
