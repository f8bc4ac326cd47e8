import CoreDataModel
import CoreDataStore
import MappingModels
import Migrations
import RunSupport
import Streams

/// Migrates a small store step by step and takes down what becomes of some objects.
struct ObjectTracer {
  var folder: String
  let policies: PolicyRegistry
  var now: Double
  /// What distinguishes the run from others.
  var seed = ""
  let validation: ValidationMode
  let withValues: Bool

  private var fileSystem: LocalFileSystem { LocalFileSystem() }

  func files(_ name: String) -> StepFiles {
    StepFiles(prefix: FilePaths.join(folder, name), fileSystem: fileSystem, budget: .standard)
  }

  /// What the steps of a path have made: the last store, and the objects in it.
  struct End {
    var first: ObjectTrace.Object
    var steps: [ObjectTrace.Step] = []
    var path: String
    var followed: [ObjectTrace.Object]
  }

  /// Makes all steps of a path.
  func steps(_ steps: [MigrationStep], of path: String, following object: ObjectTrace.Object) throws -> End {
    var end = End(first: object, path: path, followed: [object])
    for (index, step) in steps.enumerated() {
      let (made, next) = try self.step(step, number: index + 1, of: end.path, following: end.followed)
      end.steps.append(made)
      (end.path, end.followed) = (next, made.objects)
    }
    return end
  }

  /// The same in a folder of its own, at another time and with other random values.
  func ofAnotherRun() throws -> ObjectTracer {
    var other = self
    (other.folder, other.now, other.seed) = (FilePaths.join(folder, "again"), now - 86_400.5, "another run")
    try fileSystem.makeDirectory(other.folder)
    return other
  }

  /// Makes one step. `objects` are those to follow. Returns the path of the step's store.
  func step(
    _ step: MigrationStep, number: Int, of path: String, following objects: [ObjectTrace.Object]
  ) throws -> (trace: ObjectTrace.Step, path: String) {
    let reader = try StoreReader(path: path, fileSystem: fileSystem, locking: .none)
    defer { reader.close() }
    let plan = try StepPlan(
      step: step, reader: reader, policies: policies, files: files("plan-\(number)"), now: now, seed: seed,
      validation: validation)
    let watcher = TraceWatcher(objects)
    let result = try run(plan, number: number, reader: reader, watcher: watcher)
    let after = try StoreReader(path: result, fileSystem: fileSystem, locking: .none)
    defer { after.close() }
    let store = try TracedStore(after, model: step.destination, files: files("after-\(number)"))
    // What is fetched holds on to its graph.
    defer { for graph in [plan.graph, store.graph] { graph.forgetObjects() } }
    let passages = try objects.map { object in
      let fates = watcher.fates[object.place] ?? []
      let takings = try fates.map { try taking($0, of: object, in: plan, number: number, after: store) }
      return ObjectTrace.Passage(
        object: object, takings: takings, reason: fates.isEmpty ? Self.reason(object, step) : nil)
    }
    var trace = ObjectTrace.Step(
      from: step.source.name, to: step.destination.name, isInferred: step.isInferred, reason: step.reason,
      passages: passages)
    trace.markInexact()
    return (trace, result)
  }

  /// Says of to-one relationships that are carried over, and lead to no object now, that theirs was left behind.
  private static func markLost(
    _ properties: inout [ObjectTrace.Property], of fate: ObjectFate, in graph: SourceGraph
  ) throws {
    for (index, property) in properties.enumerated()
    where property.objects?.isEmpty == true && property.type.hasPrefix("to-one") {
      guard let origin = property.origin, origin.hasPrefix(PropertyOrigins.carried),
        try fate.hasObject(property.name, in: graph)
      else { continue }
      properties[index].origin = origin + ", whose object is not carried over"
    }
  }

  private func run(_ plan: StepPlan, number: Int, reader: StoreReader, watcher: TraceWatcher) throws -> String {
    let files = files("step-\(number)")
    let path = FilePaths.join(folder, "step-\(number).sqlite")
    let target = plan.step.destination
    let header = DatabaseHeader(pageSize: 4096, autoVacuum: 0, version: .rollback)
    let job = StepJob(
      reader: reader, plan: plan, number: number, path: path, files: files, header: header,
      metadata: reader.metadata.migrated(to: target.versionHashes, identifiers: target.versionIdentifiers),
      hasIndexes: false,
      version: .rollback, monitor: RunMonitor(),
      // An object near by that cannot be migrated must not end the trace of this one.
      rejects: try RejectLog(
        path: files.path("rejects"), fileSystem: fileSystem, limit: .max, withValues: false, restoring: nil),
      objectWatcher: watcher, isExcerpt: true, publish: { _, _ in })
    return try StepRunner(job, restart: nil).run().workingPath(path)
  }

  private static func reason(_ object: ObjectTrace.Object, _ step: MigrationStep) -> String {
    let mappings = step.mappingModels.flatMap(\.entityMappings)
    let removing = mappings.first { $0.sourceEntity == object.entity && $0.destinationEntity == nil }
    return removing.map { "\($0.name) drops the objects of its entity" } ?? "no entity mapping names its entity"
  }

  private func taking(
    _ fate: ObjectFate, of object: ObjectTrace.Object, in plan: StepPlan, number: Int, after: TracedStore
  ) throws -> ObjectTrace.Taking {
    let mapping = fate.mapping
    let model = plan.step.mappingModels.first { $0.entityMappings.contains { $0.name == mapping.mapping.name } }
    var taking = ObjectTrace.Taking(
      mappingModel: model?.name ?? "", entityMapping: mapping.mapping.name, policy: mapping.mapping.policyClassName,
      outcome: fate.rejection != nil ? .rejected : fate.isKept ? .taken : .leftOut,
      reason: try fate.reason(in: plan.graph, withCause: withValues))
    guard fate.rejection == nil else { return taking }
    let firstNew = plan.keys.firstNewKeys
    if fate.isKept, let own = try after.object(mapping.destination.name, key: fate.key &+ mapping.offset) {
      // Behind objects that a policy made, keys of tables that are put together move by a number that only the run
      // knows.
      let isExact = object.isExact && (mapping.offset == 0 || number == 1)
      taking.object = .init(entity: own.entityName, key: own.key, isExact: isExact)
      let origins = PropertyOrigins(mapping: mapping, in: plan.step)
      let columns = fate.made.first(where: \.isOwn)?.columns ?? []
      taking.properties = try after.properties(of: own, withValues: withValues, firstNew: firstNew) {
        name, isAttribute in
        isAttribute ? origins.attribute(name, set: columns) : origins.relationship(name, set: columns)
      }
      try Self.markLost(&taking.properties, of: fate, in: plan.graph)
    }
    taking.made = try fate.made.filter { !$0.isOwn }.compactMap { made in
      guard let object = try after.object(made.entity, key: made.key) else { return nil }
      return ObjectTrace.Made(
        object: .init(entity: object.entityName, key: object.key, isExact: false),
        properties: try after.properties(of: object, withValues: withValues, firstNew: firstNew) { _, _ in nil })
    }
    return taking
  }
}

extension ObjectTrace.Step {
  /// Keys that only a whole run knows are such wherever they stand.
  fileprivate mutating func markInexact() {
    let inexact = Set(objects.filter { !$0.isExact }.map(\.place))
    func mark(_ properties: inout [ObjectTrace.Property]) {
      for index in properties.indices {
        properties[index].objects = properties[index].objects?.map { object in
          .init(entity: object.entity, key: object.key, isExact: object.isExact && !inexact.contains(object.place))
        }
      }
    }
    for passage in passages.indices {
      for taking in passages[passage].takings.indices {
        mark(&passages[passage].takings[taking].properties)
        for made in passages[passage].takings[taking].made.indices {
          mark(&passages[passage].takings[taking].made[made].properties)
        }
      }
    }
  }
}
