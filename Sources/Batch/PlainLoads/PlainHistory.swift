import CoreDataStore
import LoadTables
import MappingModels
import MigrationJobs
import Migrations
import RunSupport
import StoreVerification
import Streams

/// What a load writes down of itself for `report`; it stays beside the file when that is done.
final class PlainHistory {
  let recorder: RunRecorder
  private let place: PlainPlace
  private let mode: VerificationMode
  private let fileSystem: any FileSystem
  /// That of the run before.
  private var migration: RunHistory?
  private var rows: [UInt64] = []
  private var proofSeconds: Double?

  init(
    _ job: MigrationJob, plan: MigrationPlan, request: MigrationJob.Request, to destination: PlainDestination,
    at place: PlainPlace, run: String
  ) {
    (self.place, mode, fileSystem) = (place, request.verification, job.fileSystem)
    var settings: [(name: String, value: String)] = [
      ("destination", "ordinary tables"), ("dates", destination.dates.rawValue),
      ("inheritance", destination.inheritance.rawValue), ("names", destination.names.rawValue),
    ]
    if let records = destination.records { settings.append(("records", records)) }
    recorder = RunRecorder(
      place.folder.job,
      facts: RunHistory.Facts(load: plan, request, to: place.path, run: run, settings: settings),
      record: place.record, isNew: true, logger: job.logger)
  }

  /// The store that is loaded is there; `isMigrated` if it was made for that.
  func begin(_ store: LoadStore, isMigrated: Bool) {
    guard isMigrated else { return recorder.describe(load: store.reader, model: store.binding.layout.model) }
    migration = (try? JobDirectory(destination: place.migratedStore)).flatMap { RunHistory(path: $0.record) }
    if let migration { recorder.take(migration) }
  }

  /// The rows are written.
  func wrote(_ rows: [UInt64]) { self.rows = rows }

  /// Proves them, and takes the time.
  func proving(_ body: () throws -> Void) rethrows {
    let started = ContinuousClock.now
    try body()
    proofSeconds = (ContinuousClock.now - started) / .seconds(1)
  }

  /// The file has its name.
  func finish(_ report: MigrationJob.Report, schema: LoadSchema, monitor: RunMonitor) {
    var progress = monitor.progressNow
    progress.fraction = 1
    recorder.finish(
      load: report, tables: Array(zip(schema.tables.map(\.name), rows)).map { ($0.0, $0.1) },
      objects: objects(schema),
      proof: proofSeconds.map { RunHistory.Proof(mode: mode.rawValue, rows: rows, seconds: $0) }, migration: migration,
      progress, fileSystem)
  }

  /// The objects of entities, as far as the rows of the tables say how many they are: of those that share a table with
  /// all of their sub-entities nobody has counted each.
  private func objects(_ schema: LoadSchema) -> [String: UInt64] {
    let model = schema.layout.model
    var known = Dictionary(
      schema.layout.entityNames.enumerated().filter { model.entity($0.element)?.isAbstract == true }.map {
        ($0.offset + 1, UInt64(0))
      }
    ) { first, _ in first }
    let tables = zip(schema.tables, rows).compactMap { table, rows -> (entities: [Int], rows: UInt64)? in
      if case .objects(_, let entities) = table.rows { (entities, rows) } else { nil }
    }
    for table in tables.sorted(by: { $0.entities.count < $1.entities.count }) {
      let others = table.entities.filter { known[$0] == nil }
      guard others.count == 1, let entity = others.first else { continue }
      let sum = table.entities.reduce(0) { $0 &+ (known[$1] ?? 0) }
      known[entity] = table.rows - min(table.rows, sum)
    }
    return known.reduce(into: [:]) { $0[schema.layout.entityNames[$1.key - 1]] = $1.value }
  }
}
