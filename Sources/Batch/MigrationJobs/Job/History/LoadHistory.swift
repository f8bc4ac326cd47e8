import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import Streams

// What is written down of a load into a file, perhaps with a migration before it.

extension RunHistory.Facts {
  /// `settings` are the load's own, besides those of every run.
  package init(
    load plan: MigrationPlan, _ request: MigrationJob.Request, to destination: String, run: String,
    settings: [(name: String, value: String)]
  ) {
    (self.run, program, form) = (run, ProgramName.current, PlainMark.form)
    source = (try? JobDirectory(destination: plan.source).destination) ?? plan.source
    self.destination = destination
    (sourceVersion, targetVersion) = (plan.sourceVersion.name, plan.targetVersion.name)
    memory = UInt64(clamping: request.memory.total)
    let common: [(name: String, value: String)] = [
      ("memory", "\(request.memory.total >> 20) MiB"), ("proof", request.verification.rawValue),
    ]
    self.settings = (common + settings).map { RunHistory.Setting(name: $0.0, value: String($0.1.prefix(1000))) }
  }
}

extension RunHistory.Proof {
  /// What was read back of a load.
  package init(mode: String, rows: [UInt64], seconds: Double) {
    (self.mode, tables, self.rows) = (mode, rows.count, rows.reduce(0, &+))
    (external, warnings, warningCount) = (nil, [], 0)
    self.seconds = (seconds * 1000).rounded() / 1000
  }
}

extension RunHistory.Sample {
  /// Counts on from the last sample of the migration before.
  mutating func follow(_ before: RunHistory.Sample) {
    (rows, bytes, checkpoints) = (rows &+ before.rows, bytes &+ before.bytes, checkpoints &+ before.checkpoints)
    done = 0.5 + done / 2
    if let earlier = before.waited { waited = (waited ?? 0) + earlier }
  }
}

extension RunRecorder {
  /// The migration before a load is over: its samples are the beginning of the load's.
  package func take(_ migration: RunHistory) {
    attempt { state in
      if let origin = migration.origin { try state.file?.add(RunHistory.Line(origin: origin)) }
      for var sample in migration.samples {
        (sample.process, sample.done) = (state.process, sample.done / 2)
        state.before = sample
        try state.file?.add(RunHistory.Line(sample: sample))
      }
    }
  }

  /// What a store has that is loaded as it is.
  package func describe(load source: StoreReader, model: ManagedObjectModel) {
    attempt { state in
      try state.file?.add(
        RunHistory.Line(
          origin: RunHistory.Origin(
            steps: [], bytes: source.byteCount,
            entities: RunHistory.Size.all(source, model: model))))
    }
  }

  /// A load is done, and its folder about to go. `objects` are those of entities, as far as they were counted;
  /// `migration` is the history of the run before it.
  package func finish(
    load report: MigrationJob.Report, tables: [(name: String, rows: UInt64)], objects: [String: UInt64],
    proof: RunHistory.Proof?, migration: RunHistory?, _ progress: MigrationProgress, _ fileSystem: any FileSystem
  ) {
    let migrated = migration?.ends.lazy.compactMap(\.finished).first
    var entities = migrated?.entities ?? origin?.entities ?? []
    // They share tables with others there.
    for index in entities.indices {
      entities[index].bytes = nil
      guard let rows = objects[entities[index].entity] else { continue }
      (entities[index].rows, entities[index].isEstimate) = (rows, false)
    }
    finish(
      RunHistory.Finished(
        bytes: report.bytes, peakMemory: report.peakMemory, entities: entities,
        tables: tables.map { RunHistory.Size(entity: $0.name, rows: $0.rows, isEstimate: false) },
        tallies: migrated?.tallies ?? [], read: migrated?.read ?? objects, proof: proof,
        rejects: report.rejects,
        notes: report.notes.prefix(200).map { String($0.prefix(1000)) }, rowsRead: report.rowsRead,
        result: try? StoreState(report.destination, fileSystem)), progress)
  }

  private var origin: RunHistory.Origin? {
    var found: RunHistory.Origin?
    attempt { found = $0.file?.history.origin }
    return found
  }
}
