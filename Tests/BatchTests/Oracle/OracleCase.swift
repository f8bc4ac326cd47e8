import Foundation
import Streams

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreVerification

/// One random migration, done by the engine and by the reference migrator.
struct OracleCase {
  struct Disagreement: Error, CustomStringConvertible { let description: String }
  /// What a migration comes to.
  enum Outcome {
    case graph(OracleGraph)
    /// A required value is missing, so that nothing is begun.
    case refused
    /// A number does not fit its new type.
    case misfit(Set<OracleKey>)
    /// A step with mapping models makes objects without values that the model requires: `Entity.property`.
    case unset(Set<String>)
  }

  let seed: UInt64
  /// Is there more to migrate than in other cases?
  private let isLarge: Bool
  private(set) var versions: [ManagedObjectModel] = []
  /// Mapping models by the number of the step; none for an inferred one.
  private var mappings: [[MappingModel]] = []
  private var log: [String] = []
  private var data: OracleGraph
  private let folder: MigrationFolder

  init(seed: UInt64) throws {
    self.seed = seed
    isLarge = seed % 24 == 0
    var models = OracleModels(seed: seed)
    versions = [models.model("V1")]
    for number in 2...(2 + models.below(3)) {
      var edits = OracleEdits(models, versions[number - 2])
      var version = edits.version("V\(number)", after: versions)
      models = edits.models
      log.append("V\(number): " + edits.log.joined(separator: ", "))
      var step: [MappingModel] = []
      if models.random.flag(3) {
        var mapped = OracleMappings(models, from: versions[number - 2], to: version, knowsOrders: number == 2)
        step = mapped.make()
        (models, version) = (mapped.models, mapped.destination)
        log.append("mapped, " + mapped.log.joined(separator: ", "))
      }
      versions.append(version)
      mappings.append(step)
    }
    let scale = isLarge ? 150 : models.below(60)
    data = OracleData(versions[0], seed: seed &+ 1, scale: scale, isWild: models.random.flag(3)).graph
    folder = try MigrationFolder(
      versions, mappings: mappings.flatMap { $0 }, policies: [OraclePolicy.self, OracleLatePolicy.self])
    folder.smallStore = seed.isMultiple(of: 2) ? 0 : MigrationJob.smallStore
  }

  /// What the migration was expected to come to, in a word. Throws ``Disagreement``, which says what to look into.
  func run() throws -> String {
    do {
      let store = try write()
      let written = data.differences(try OracleStore.read(store, model: versions[0]))
      guard written.isEmpty else { throw Disagreement(description: "the source: \(written)") }
      try compare(store)
      switch try outcome(to: versions.count - 1) {
      case .graph: return "migrated"
      case .refused: return "refused"
      case .misfit: return "ended by a number"
      case .unset: return "ended by a required value"
      }
    } catch {
      throw Disagreement(description: "seed \(seed): \(error)\n" + log.joined(separator: "\n"))
    }
  }

  private func write() throws -> String {
    let store = try folder.sample("V1", rows: 0, seed: 1)
    var random = SeededRandom(seed &+ 2)
    try OracleStore.write(data, to: store, &random)
    return store
  }

  /// The same migration for a disk that fails; nil where it is refused or ends at a number.
  func onSimulatedDisk() throws -> DiskMigration? {
    let last = versions.count - 1
    guard case .graph = try outcome(to: last) else { return nil }
    let store = try write()
    do {
      return try DiskMigration(folder, store, inPlace: seed % 3 != 0) { request in
        request.target = .version(versions[last].name)
        request.interval = seed % 4 == 1 ? .seconds(1) : .bytes(seed % 2 == 0 ? 1000 : 1 << 20)
        request.fuses = seed % 5 != 0
        request.validation = validation
        request.inference = .stepwise
      }
    } catch let error as BatchError where error.code == .refused { return nil }
  }

  /// The whole chain first; where that differs, version by version, to name the step.
  private func compare(_ store: String) throws {
    let migrated = try folder.copy(store, as: "migrated")
    let plan = try? folder.job().plan(request(migrated, to: versions.count - 1))
    let problem = try compare(migrated, to: versions.count - 1)
    guard problem.isEmpty else {
      for last in 1..<versions.count {
        let found = try compare(try folder.copy(store, as: "to-\(last)"), to: last)
        guard found.isEmpty else { throw Disagreement(description: "step \(last): " + found.joined(separator: "\n")) }
      }
      throw Disagreement(description: "only all steps together: " + problem.joined(separator: "\n"))
    }
    if let plan, plan.steps.contains(where: { !$0.passedVersions.isEmpty }) { try walk(store, beside: migrated) }
    if plan != nil, case .graph = try outcome(to: versions.count - 1) {
      try interrupt(store, expected: try MigrationFolder.bytes(migrated))
    }
  }

  /// Steps made in one pass give the bytes that they give one after the other.
  private func walk(_ store: String, beside fused: String) throws {
    let walked = try folder.copy(store, as: "walked")
    var request = request(walked, to: versions.count - 1)
    request.fuses = false
    request.verification = .none
    // Whatever ends the one has ended the other.
    do { _ = try folder.migrate(request) } catch is BatchError { return }
    guard try MigrationFolder.bytes(walked) == MigrationFolder.bytes(fused) else {
      throw Disagreement(description: "one pass and several give different bytes")
    }
  }

  /// Many random stores lack required values: half of the cases go on all the same.
  private var validation: ValidationMode { seed % 2 == 0 ? .none : .all }

  private func request(_ store: String, to last: Int) -> MigrationJob.Request {
    var request = folder.request(store)
    request.target = .version(versions[last].name)
    request.validation = validation
    request.inference = .stepwise
    return request
  }

  private func compare(_ store: String, to last: Int) throws -> [String] {
    let request = request(store, to: last)
    let expected = try outcome(to: last)
    do {
      let report = try folder.migrate(request)
      guard case .graph(let graph) = expected else {
        return ["the engine went on where \(Self.text(expected)) was expected"]
      }
      guard report.isVerified else { return ["the result is not verified"] }
      return graph.differences(try OracleStore.read(store, model: versions[last]))
    } catch let error as BatchError {
      switch expected {
      case .refused where error.code == .refused && error.entity != nil: return []
      case .graph where error.code == .refused && error.message.contains("would have no value"):
        if try lacksLater(to: last) { return [] }
      case .misfit(let keys):
        if let (entity, key) = error.entity.flatMap({ entity in error.key.map { (entity, $0) } }),
          keys.contains(OracleKey(entity: entity, key: key))
        {
          return []
        }
        // Of two faults that objects have, either may be found first.
        if validation == .all, error.message.contains(" is required and would have no value") { return [] }
      case .unset(let properties):
        if properties.contains(where: { error.message.hasPrefix("\($0) is required and would have no value") }) {
          return []
        }
      default: break
      }
      return ["expected \(Self.text(expected)), but: \(error) \(error.entity ?? "")/\(error.key ?? 0)"]
    }
  }

  private static func text(_ outcome: Outcome) -> String {
    switch outcome {
    case .graph: "a migration"
    case .refused: "a refusal"
    case .misfit(let keys): "an error for one of \(keys.sorted().prefix(5))"
    case .unset(let properties): "an error for one of \(properties.sorted().prefix(5))"
    }
  }

  /// What the reference migrator makes of it. Mapping models run in the order of their names.
  private func outcome(to last: Int) throws -> Outcome {
    var graph = data
    for number in 1...last {
      let (source, destination) = (versions[number - 1], versions[number])
      let inference = OracleInference(source, destination)
      var models = mappings[number - 1]
      if models.isEmpty {
        if number == 1, inference.lacksValues(graph) { return .refused }
        models = [MappingModel(name: "inferred", entityMappings: inference.mappings())]
      }
      do {
        graph = try OracleMigrator.migrate(
          OracleStep(source: source, destination: destination, models: models), graph)
      } catch let misfit as OracleMigrator.Misfit { return .misfit(misfit.objects) }
      let unset = validation == .all && !mappings[number - 1].isEmpty ? graph.unset() : []
      if !unset.isEmpty { return .unset(unset) }
    }
    return .graph(graph)
  }

  /// Does an inferred step behind others lack values? The engine finds that at once where it can look through those
  /// before it.
  private func lacksLater(to last: Int) throws -> Bool {
    var graph = data
    for number in 1...last where mappings[number - 1].isEmpty {
      let inference = OracleInference(versions[number - 1], versions[number])
      if inference.lacksValues(graph) { return true }
      let models = [MappingModel(name: "inferred", entityMappings: inference.mappings())]
      graph = try OracleMigrator.migrate(
        OracleStep(source: versions[number - 1], destination: versions[number], models: models), graph)
    }
    return false
  }

  /// Stopped at any sign of progress and resumed, a run ends with the undisturbed bytes: at a random one, or, where the
  /// environment asks for it and the case is small, at every one.
  private func interrupt(_ store: String, expected: Data) throws {
    guard !StopAfter.stopsEverywhere || isLarge else {
      for count in 1..<10_000 where try !interrupt(store, after: count, expected: expected) { return }
      return
    }
    var random = SeededRandom(seed &+ 3)
    var most = isLarge ? 100 : 30
    // A run that ends before its stop is done again with an earlier one.
    for _ in 0..<2 where most > 0 {
      let count = Int.random(in: 1...most, using: &random)
      if try interrupt(store, after: count, expected: expected) { return }
      most = count / 2
    }
  }

  /// False for a run that ended before its stop.
  @discardableResult
  private func interrupt(_ store: String, after count: Int, expected: Data) throws -> Bool {
    let path = try folder.copy(store, as: "stop-\(count)")
    defer { try? FileManager.default.removeItem(atPath: FilePaths.directory(of: path)) }
    var request = request(path, to: versions.count - 1)
    request.verification = .none
    request.interval = .bytes(isLarge ? 4000 : 500)
    let stop = StopAfter(count)
    do {
      _ = try folder.job().migrate(request, monitor: stop.monitor(request.interval))
    } catch let error as BatchError where error.code == .stopped {
      _ = try folder.job().resume(path) { RunMonitor(interval: $0) }
    }
    guard try MigrationFolder.bytes(path) == expected else {
      throw Disagreement(description: "stopped after \(count) signs of progress, the bytes differ")
    }
    return stop.isSpent
  }
}
