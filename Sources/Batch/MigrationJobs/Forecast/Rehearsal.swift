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
  /// Models that a run copies; nil for one that may be over before it is written down.
  var copies: ModelCopies?
  /// Bytes of a source that a run migrates on one thread, at most.
  let smallStore: UInt64
  var sampleBytes = Self.sampleBytes
  /// Shares of the memory for look-ups, by the place of the step, that a first trial has found; nil in the first one.
  var lookupShares: [Int: Double]?
  /// Is told what part of the trial is done, before each step.
  var progress: (Double) -> Void = { _ in }

  /// Bytes of the store that are read; what becomes of them may take eight times as many.
  static let sampleBytes = 24.0 * 1_048_576
  private static let pieces = 8
  /// Times the memory for look-ups by rules: a run that numbers names reads none again, and so must a trial.
  private static let lookupsOfRules = 4.0
  /// From this many times the memory on, look-ups are tried again.
  private static let moreLookups = 1.25

  /// A sample has seen more of the different values than its share of the rows: with more of the memory for look-ups
  /// another trial says more.
  private struct FewValues: Error {
    let shares: [Int: Double]
  }

  /// Throws what a run would throw over these rows, and `refused` if they make more than scratch files are for, or if
  /// there is no place for these.
  func run(_ source: StoreReader) throws -> MigrationForecast {
    do { return try attempt(source) } catch let found as FewValues {
      var second = self
      second.lookupShares = found.shares
      return try second.attempt(source)
    }
  }

  private func attempt(_ source: StoreReader) throws -> MigrationForecast {
    let folder: String
    do { folder = try TemporaryFolders.make("trial", in: LocalFileSystem()) } catch let error as StreamsError {
      throw noFiles(error)
    }
    defer {
      UnfinishedFiles.discard(folder, LocalFileSystem())
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
    var (steps, shares): ([MigrationForecast.Step], [Int: Double]) = ([], [:])
    var (secondsOfPlans, proofSeconds) = (0.0, 0.0)
    let speed = DiskSpeed.measure(in: directory)
    for (index, step) in plan.steps.enumerated() {
      progress(part(before: index))
      let isLast = index + 1 == plan.steps.count
      let (stepPlan, files, seconds) = try stepPlan(step, at: index, reader: reader, in: place)
      let proving = isLast ? try proof(of: stepPlan, reader: reader, in: place) : nil
      secondsOfPlans += seconds + (proving?.preparing ?? 0)
      let rehearsal = StepRehearsal(samples: index == 0 ? try samples(stepPlan, source, rows: &tableRows) : [:])
      var done = try run(
        stepPlan, reader: reader, files: files, rehearsal: rehearsal, isLast: isLast, early: proving?.early, in: place)
      let forecast = StepForecast(stepPlan, rehearsal: rehearsal, state: done.state, tableRows: tableRows)
      shares[index] = lookupShare(of: stepPlan, rehearsal, forecast, source: source)
      done.counting = try VersionCount(stepPlan, done.state, sample: .init(rows: tableRows)).seconds
      if index == 0 { sampled = done.state.rowsRead }
      try leave(reader, in: place)
      reader = try StoreReader(path: done.path, fileSystem: place.disk, locking: .none)
      let bytes = try ForeseenBytes(reader, forecast: forecast, layout: stepPlan.layout)
      tableRows = bytes.tableRows
      steps.append(done.step(forecast, bytes: bytes, plan: stepPlan))
      if let proving { proofSeconds = try proving.seconds(done, growth: bytes.growth, source: source, on: place.disk) }
    }
    try leave(reader, in: place)
    if lookupShares == nil, !shares.isEmpty { throw FewValues(shares: shares) }
    return forecast(
      steps, proof: proofSeconds, fixed: secondsOfPlans + fixed(steps: steps.count, speed), speed: speed,
      sampled: sampled, share: share(of: source))
  }

  /// The part of the trial that is done before a step; a second one goes on where the first began its last step.
  private func part(before step: Int) -> Double {
    let (count, step) = (Double(plan.steps.count), Double(step))
    return lookupShares == nil ? step / count : (count - 1 + step / count) / count
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

  /// A step's plan, its files, and the seconds that the plan took.
  private func stepPlan(
    _ step: MigrationStep, at index: Int, reader: StoreReader, in place: Place
  ) throws -> (StepPlan, StepFiles, Double) {
    let files = files(index, of: step, in: place)
    let begin = ContinuousClock.now
    let plan = try StepPlan(
      step: step, reader: reader, policies: policies, files: files, now: 0, extras: extras, validation: validation)
    return (plan, files, (ContinuousClock.now - begin) / .seconds(1))
  }

  private func files(_ index: Int, of step: MigrationStep, in place: Place) -> StepFiles {
    let share = share(of: place.source)
    return StepFiles(
      prefix: FilePaths.join(place.folder, "step-\(index + 1)"), fileSystem: place.disk,
      budget: memory.sample(
        share, lookups: isByRules(step) ? Self.lookupsOfRules : lookupShares?[index] ?? share))
  }

  /// The share of the memory for look-ups that says more of the whole store; nil where it is about the one that was
  /// tried. Look-ups beyond memory take the longer the more values there are, and a sample may have seen most of them.
  private func lookupShare(
    of plan: StepPlan, _ rehearsal: StepRehearsal, _ forecast: StepForecast, source: StoreReader
  ) -> Double? {
    guard !isByRules(plan.step) else { return nil }
    let seen = plan.tablesOfLookupsInRuns(rehearsal).map { table in
      Double(forecast.sampleRows[table] ?? 0) / Double(max(1, forecast.rows[table]?.likely ?? 0))
    }
    func bytes(_ lookups: Double) -> Double { Double(memory.sample(1, lookups: lookups).lookupBytes) }
    guard let most = seen.max().map({ min(1, $0) }), bytes(most) > Self.moreLookups * bytes(share(of: source)) else {
      return nil
    }
    return most
  }

  /// Whether names are found by rules: a run numbers them once they are too many for memory.
  private func isByRules(_ step: MigrationStep) -> Bool {
    step.mappingModels.contains { $0.entityMappings.contains { $0.rules != nil } }
  }

  func bytes(of source: StoreReader) -> Double { Double(source.byteCount) }

  /// The part of a store that is read: most of it is all of it.
  func share(of source: StoreReader) -> Double {
    let share = sampleBytes / max(1, bytes(of: source))
    return share < 0.4 ? share : 1
  }

  /// Pieces of large tables; `tableRows` becomes how many rows these have.
  private func samples(
    _ plan: StepPlan, _ source: StoreReader, rows tableRows: inout [UInt32: Double]
  ) throws -> [UInt32: RowSample] {
    // More rows than fit into the file are none of a sound store's.
    let (share, most) = (share(of: source), bytes(of: source) / 4)
    var pieces: [UInt32: RowSample] = [:]
    guard share < 1 else { return pieces }
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
    return pieces
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
