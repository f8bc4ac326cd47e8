import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import StoreVerification
import Streams

/// Runs the steps of a plan on a sample of the store, into scratch files. Policies are called as in a run.
struct Rehearsal {
  let plan: MigrationPlan
  let policies: PolicyRegistry
  let memory: MemoryBudget
  let extras: ExtrasOptions
  let validation: ValidationMode
  let verification: VerificationMode
  /// Where the new store is to lie.
  let directory: String
  /// Seconds that planning takes.
  let planning: Double
  /// Models that a run copies.
  var copies = ModelCopies()
  /// Bytes of a source that a run migrates on one thread, at most.
  let smallStore: UInt64
  var sampleBytes = Self.sampleBytes
  /// Is told what part of the trial is done, before each step.
  var progress: (Double) -> Void = { _ in }

  /// Bytes of the store that are read; what becomes of them may take eight times as many.
  static let sampleBytes = 24.0 * 1_048_576
  private static let pieces = 8
  /// Waits for the disk that every run has, and every step of it: measured.
  private static let fixedWaits = 15
  private static let waitsOfStep = 8
  /// Seconds of a process that begins and ends, on the machine that ``ProcessorSpeed`` compares with: measured.
  private static let fixedSeconds = 0.033
  private static let fixedSecondsOfStep = 0.018
  /// Seconds of a file or folder that is copied, beside its wait for the disk: measured there, too.
  private static let secondsOfCopy = 0.0002
  /// Times the memory for look-ups by rules: a run that numbers names reads none again, and so must a trial.
  private static let lookupsOfRules = 4.0
  /// Throws what a run would throw over these rows, and `refused` if they make more than scratch files are for, or if
  /// there is no place for these.
  func run(_ source: StoreReader) throws -> MigrationForecast {
    let folder: String
    do { folder = try UnfinishedFiles.makeFolder("trial", in: LocalFileSystem()) } catch let error as StreamsError {
      throw noFiles(error)
    }
    defer {
      UnfinishedFiles.remove(folder, LocalFileSystem())
      UnfinishedFiles.forget(folder)
    }
    let disk = MemoryDisk(limit: Int(sampleBytes * 8), scratch: FilePaths.join(folder, "file"))
    let place = Place(source: source, disk: disk, folder: folder)
    do { return try run(place) } catch let error as StreamsError where error.code == .diskFull && disk.wasFull {
      throw BatchError(
        .refused, "the rows of the trial make more than its files may take", path: source.path, cause: error)
    } catch let error as StreamsError where error.isOfFiles(in: folder) { throw noFiles(error) }
  }

  private func noFiles(_ error: StreamsError) -> BatchError {
    BatchError(
      .refused, "the files of the trial cannot be made",
      hint: "Set TMPDIR to a folder that can be written and has room", effect: .nothingWritten, path: error.path,
      cause: error)
  }

  /// What a trial reads and where it writes.
  private struct Place {
    let source: StoreReader
    let disk: MemoryDisk
    /// Of the local file system; paths of the disk lie in it.
    let folder: String
  }

  private func run(_ place: Place) throws -> MigrationForecast {
    let source = place.source
    var (reader, tableRows, sampled): (StoreReader, [UInt32: Double], UInt64) = (source, [:], 0)
    var (steps, secondsOfPlans, proofSeconds): ([MigrationForecast.Step], Double, Double) = ([], 0, 0)
    let speed = DiskSpeed.measure(in: directory)
    for (index, step) in plan.steps.enumerated() {
      progress(Double(index) / Double(plan.steps.count))
      let isLast = index + 1 == plan.steps.count
      let files = files(number: index + 1, of: step, in: place)
      let (stepPlan, seconds) = try stepPlan(step, reader: reader, files: files)
      let proving = isLast ? try proof(of: stepPlan, reader: reader, in: place) : nil
      secondsOfPlans += seconds + (proving?.preparing ?? 0)
      var pieces: [UInt32: RowSample] = [:]
      if index == 0 { (pieces, tableRows) = try samples(stepPlan, source) }
      let rehearsal = StepRehearsal(samples: pieces)
      var done = try run(
        stepPlan, reader: reader, files: files, rehearsal: rehearsal, isLast: isLast, early: proving?.early, in: place)
      done.counting = try VersionCount(stepPlan, done.state, sample: .init(rows: tableRows)).seconds
      let forecast = StepForecast(stepPlan, rehearsal: rehearsal, state: done.state, tableRows: tableRows)
      if index == 0 { sampled = done.state.rowsRead }
      try leave(reader, in: place)
      reader = try StoreReader(path: done.path, fileSystem: place.disk, locking: .none)
      let bytes = try ForeseenBytes(reader, forecast: forecast, layout: stepPlan.layout)
      tableRows = bytes.tableRows
      steps.append(done.step(forecast, bytes: bytes, plan: stepPlan))
      if let proving { proofSeconds = try proving.seconds(done, growth: bytes.growth, source: source, on: place.disk) }
    }
    try leave(reader, in: place)
    let fixed = secondsOfPlans + fixed(steps: steps.count, speed)
    return forecast(
      steps, proof: proofSeconds, fixed: fixed, speed: speed, sampled: sampled, share: share(of: source))
  }

  /// Nobody reads a step's input any more.
  private func leave(_ reader: StoreReader, in place: Place) throws {
    guard reader !== place.source else { return }
    reader.close()
    try place.disk.remove(reader.path)
  }

  /// The proof of the last step's store; nil for none.
  private func proof(of plan: StepPlan, reader: StoreReader, in place: Place) throws -> RehearsedProof? {
    guard verification != .none else { return nil }
    let source = place.source
    let isSmall = bytes(of: reader) / (reader === source ? 1 : share(of: source)) <= Double(smallStore)
    return try RehearsedProof(
      plan, header: DatabaseHeader(like: source), mode: verification,
      memory: memory.less(self.plan.steps.reduce(0) { $0 + $1.modelBytes }), isSmall: isSmall,
      isSample: share(of: source) < 1, folder: place.folder, on: place.disk)
  }

  /// A step's plan, and the seconds that it took.
  private func stepPlan(_ step: MigrationStep, reader: StoreReader, files: StepFiles) throws -> (StepPlan, Double) {
    let begin = ContinuousClock.now
    let plan = try StepPlan(
      step: step, reader: reader, policies: policies, files: files, now: 0, extras: extras, validation: validation)
    return (plan, (ContinuousClock.now - begin) / .seconds(1))
  }

  private func files(number: Int, of step: MigrationStep, in place: Place) -> StepFiles {
    StepFiles(
      prefix: FilePaths.join(place.folder, "step-\(number)"), fileSystem: place.disk,
      budget: memory.sample(
        share(of: place.source), lookups: isByRules(step) ? Self.lookupsOfRules : share(of: place.source)))
  }

  /// Whether names are found by rules: a run numbers them once they are too many for memory.
  private func isByRules(_ step: MigrationStep) -> Bool {
    step.mappingModels.contains { $0.entityMappings.contains { $0.rules != nil } }
  }

  private func forecast(
    _ steps: [MigrationForecast.Step], proof: Double, fixed: Double, speed: DiskSpeed?, sampled: UInt64,
    share: Double
  ) -> MigrationForecast {
    let sizes = steps.map { Double($0.bytes) }
    // A step's input stays until the next step is done, and so does the one before.
    let peak =
      sizes.indices.map { index in
        sizes[max(0, index - 2)...index].reduce(0, +) + (steps[index].isWrittenTwice ? sizes[index] : 0)
      }.max() ?? 0
    let written = zip(sizes, steps).reduce(0) { $0 + $1.0 * ($1.1.isWrittenTwice ? 2 : 1) }
    let used = steps.reduce(0) { $0 + $1.processorSeconds }
    let hands = Double(ProcessorSpeed.count)
    // Threads wait for each other, or for a processor.
    let writing = max(steps.reduce(0) { $0 + $1.seconds }, used / hands)
    let disk = speed.map { written / $0.bytesPerSecond } ?? 0
    return MigrationForecast(
      steps: steps, proofSeconds: proof, seconds: fixed + max(writing + proof, disk),
      peakDisk: Foreseen.whole(peak),
      peakMemory: peakMemory(steps, share: share), fixedSeconds: fixed, diskSpeed: speed,
      sampledRows: sampled)
  }

  /// Seconds of what does not depend on rows.
  private func fixed(steps: Int, _ speed: DiskSpeed?) -> Double {
    let waits = Double(Self.fixedWaits + Self.waitsOfStep * steps + copies.names) * (speed?.latency ?? 0)
    let copied = speed.map { Double(copies.bytes) / $0.copiedPerSecond } ?? 0
    let own =
      Self.fixedSeconds + Self.fixedSecondsOfStep * Double(max(0, steps - 1)) + Self.secondsOfCopy
      * Double(copies.names)
    return planning + waits + copied + ProcessorSpeed.slowness * own
  }

  /// What this process took, and what index entries take that wait for the sorting.
  private func peakMemory(_ steps: [MigrationForecast.Step], share: Double) -> UInt64 {
    let own = ProcessMemory.peak
    let entries = steps.last.map { step in
      let sorted = min(step.indexBytes, UInt64(memory.sortBytes))
      return sorted - min(sorted, step.sampledIndexBytes, UInt64(memory.sample(share).sortBytes))
    }
    return own + (entries ?? 0)
  }

  private func bytes(of source: StoreReader) -> Double {
    Double(source.snapshot.pageCount) * Double(source.snapshot.geometry.pageSize)
  }

  /// The part of a store that is read: most of it is all of it.
  private func share(of source: StoreReader) -> Double {
    let share = sampleBytes / max(1, bytes(of: source))
    return share < 0.4 ? share : 1
  }

  /// Pieces of large tables, and how many rows these have.
  private func samples(_ plan: StepPlan, _ source: StoreReader) throws -> ([UInt32: RowSample], [UInt32: Double]) {
    // More rows than fit into the file are none of a sound store's.
    let (share, most) = (share(of: source), bytes(of: source) / 4)
    var (pieces, tableRows): ([UInt32: RowSample], [UInt32: Double]) = ([:], [:])
    guard share < 1 else { return (pieces, tableRows) }
    let counted = counted(plan.origin)
    for origin in plan.units.compactMap(plan.origin) where pieces[origin.root] == nil && !origin.isWithoutRowid {
      let table = try TreeEstimate(root: origin.root, in: source.snapshot, pages: 128)
      let rows = min(most, counted[origin.root] ?? table.rows)
      // Of a small table some pages: its rows must count, too.
      let wanted = max(rows * share, rows / max(1, table.bytes / 65_536), 1)
      guard wanted < rows * 0.4 else { continue }
      let begins = try TablePieces.beginnings(source.snapshot, root: origin.root, count: Self.pieces)
      pieces[origin.root] = RowSample(beginnings: begins, rows: Int(wanted / Double(begins.count)) + 1)
      tableRows[origin.root] = rows
    }
    return (pieces, tableRows)
  }

  /// Rows of the tables of entities, by their roots, where the plan counted them.
  private func counted(_ store: StoreBinding) -> [UInt32: Double] {
    var counted: [UInt32: Double] = [:]
    for entity in plan.rows {
      guard let table = store.layout.tablePosition(ofEntity: entity.entity) else { continue }
      counted[store.tables[table].schema.rootPage, default: 0] += Double(entity.rows)
    }
    return counted
  }

  private func run(
    _ plan: StepPlan, reader: StoreReader, files: StepFiles, rehearsal: StepRehearsal, isLast: Bool,
    early: EarlyVerification?, in place: Place
  ) throws -> RehearsedStep {
    let (clock, source) = (RehearsalClock(), place.source)
    let target = plan.step.destination
    let job = StepJob(
      reader: reader, plan: plan, path: files.path("sqlite"), files: files, header: DatabaseHeader(like: source),
      metadata: source.metadata.migrated(to: target.versionHashes, identifiers: target.versionIdentifiers),
      hasIndexes: isLast, version: .rollback, monitor: RunMonitor(interval: .seconds(.infinity)),
      keepsDigests: isLast && verification != .none, watcher: early, rehearsal: rehearsal
    ) { state, _ in clock.note(state.phase) }
    let state = try StepRunner(job, restart: nil).run()
    return RehearsedStep(state: state, path: state.workingPath(job.path), clock: clock)
  }
}
