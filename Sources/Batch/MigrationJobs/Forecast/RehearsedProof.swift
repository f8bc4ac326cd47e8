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
  /// The path of a store without rows.
  private let shape: String
  /// Verifies what is written at once; nil where a run does not either.
  let early: EarlyVerification?
  /// Seconds until it was ready.
  private(set) var preparing = 0.0

  /// Prepares the proof of what `plan` writes to `disk`. The store without rows goes into `folder`.
  init(
    _ plan: StepPlan, header: DatabaseHeader, mode: VerificationMode, memory: MemoryBudget, isSmall: Bool,
    folder: String, on disk: any FileSystem
  ) throws {
    (self.plan, self.mode, self.memory, shape) = (plan, mode, memory, FilePaths.join(folder, "shape.sqlite"))
    let (shape, local) = (self.shape, LocalFileSystem())
    let begin = ContinuousClock.now
    try StoreShape.write(plan, header: header, to: shape, local)
    guard mode != .full, !isSmall else {
      early = nil
      return
    }
    early = try EarlyVerification(
      shape: shape, on: local, layout: plan.layout, fileSystem: disk, memory: memory)
    preparing = (ContinuousClock.now - begin) / .seconds(1)
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
    expected.isSample = true
    // What is done once in a process, a run does, too.
    let (first, second) = (try verify(shape, expected), try verify(shape, expected))
    try copy(done.path, from: disk)
    (expected.digests, expected.early) = (done.state.digests, early)
    let rest = max(0, try verify(done.path, expected) - second)
    guard early != nil else { return first + rest * growth }
    // What idle processors have time for does not grow: there is always something that was written just now.
    return first + rest + max(0, rest - done.clock.idle * Self.usable) * (growth - 1)
  }

  private func verify(_ path: String, _ expected: StoreVerifier.Expectation) throws -> Double {
    try ProcessorSpeed.seconds {
      _ = try StoreVerifier(path: path, model: plan.step.destination).verify(expected, mode: mode, memory: memory)
    }
  }

  private func copy(_ path: String, from disk: any FileSystem) throws {
    let file = try LocalFileSystem().open(path, .create)
    defer { file.close() }
    try FileCopy.forEachPiece(of: path, disk) { try file.write($0, at: $1) }
  }
}
