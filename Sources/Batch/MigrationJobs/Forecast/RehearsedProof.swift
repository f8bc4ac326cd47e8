import CoreDataStore
import Migrations
import RunSupport
import StoreVerification
import Streams

/// The proof of a trial's store, made as a run makes it: beside the rows, and behind them.
struct RehearsedProof {
  /// The part of idle seconds that verifying can use, measured: the threads of a step wait for each other in between.
  private static let usable = 0.5
  private let plan: StepPlan
  private let mode: VerificationMode
  private let memory: MemoryBudget
  /// Whether keys may lead out of the trial's store.
  private let isSample: Bool
  /// The path of a store without rows.
  private let shape: String
  /// Verifies what is written at once; nil where a run does not either.
  let early: EarlyVerification?
  /// Seconds until it was ready.
  private(set) var preparing = 0.0

  /// Prepares the proof of what `plan` writes to `disk`. The store without rows goes into `folder`.
  init(
    _ plan: StepPlan, header: DatabaseHeader, mode: VerificationMode, memory: MemoryBudget, isSmall: Bool,
    isSample: Bool, folder: String, on disk: any FileSystem
  ) throws {
    (self.plan, self.mode, self.memory, self.isSample) = (plan, mode, memory, isSample)
    let (shape, local) = (FilePaths.join(folder, "shape.sqlite"), LocalFileSystem())
    self.shape = shape
    let begin = ContinuousClock.now
    try StoreShape.write(plan, header: header, to: shape, local)
    guard mode != .full, !isSmall else {
      early = nil
      return
    }
    early = try Self.trying(shape) {
      try EarlyVerification(shape: shape, on: local, layout: plan.layout, fileSystem: disk, memory: memory)
    }
    preparing = (ContinuousClock.now - begin) / .seconds(1)
  }

  /// A proof that cannot be tried takes the estimate away, and not the plan.
  private static func trying<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as BatchError where error.code == .stopped { throw error } catch {
      throw BatchError(
        .refused, "the verification of the trial ended with an error", effect: .nothingWritten, path: path, cause: error
      )
    }
  }

  /// Seconds of the proof behind the rows, of the whole store.
  ///
  /// - Parameters:
  ///   - done: the last step; its store is copied from `disk` to the same path of the local file system.
  ///   - growth: how many times the bytes of that store.
  func seconds(_ done: RehearsedStep, growth: Double, source: StoreReader, on disk: any FileSystem) throws -> Double {
    var expected = StoreVerifier.Expectation(
      uuid: source.metadata.uuid, rows: Dictionary(zip(plan.tableNames, done.state.tableRows)) { first, _ in first },
      otherTables: Set(source.schema.rows.filter { $0.type == "table" }.map(\.name)),
      hasModelNames: !plan.step.isIdentity, isDense: true)
    expected.isSample = isSample
    // What is done once in a process, a run does, too.
    let places = ExternalDataPlaces(store: source.path)
    let (first, second) = (try verify(shape, expected, at: places), try verify(shape, expected, at: places))
    try copy(done.path, from: disk)
    (expected.digests, expected.early) = (done.state.digests, early)
    let rest = max(0, try verify(done.path, expected, at: places) - second)
    let isBeside = early != nil && mode == .fast
    return first + Self.behind(rest, idle: isBeside ? done.clock.idle : 0, growth: growth)
  }

  /// Seconds of a proof behind the rows that took `rest` seconds in a trial, in which a processor was idle for `idle`
  /// seconds: for what it then has time, there is always something that was written just now, but not more of it.
  static func behind(_ rest: Double, idle: Double, growth: Double) -> Double {
    rest + max(0, rest - idle * usable) * max(0, growth - 1)
  }

  private func verify(
    _ path: String, _ expected: StoreVerifier.Expectation, at places: ExternalDataPlaces
  ) throws -> Double {
    try ProcessorSpeed.seconds {
      _ = try Self.trying(path) {
        try StoreVerifier(path: path, model: plan.step.destination)
          .verify(expected, mode: mode, memory: memory, external: places)
      }
    }
  }

  private func copy(_ path: String, from disk: any FileSystem) throws {
    let file = try LocalFileSystem().open(path, .create)
    defer { file.close() }
    try FileCopy.forEachPiece(of: path, disk) { try file.write($0, at: $1) }
  }
}

extension StreamsError {
  /// Whether a file in a folder cannot be made, written or read.
  func isOfFiles(in folder: String) -> Bool {
    [.inputOutput, .diskFull].contains(code) && path?.hasPrefix(folder) == true
  }
}

extension DatabaseHeader {
  /// That of a new store which a source becomes.
  init(like source: StoreReader) {
    let header = source.snapshot.header
    self.init(pageSize: header.pageSize, autoVacuum: header.autoVacuum, version: .rollback)
  }
}
