import Migrations
import RunSupport
import Streams
import Synchronization

/// A migration for programs that use Swift's concurrency: progress as a sequence, the report as a result, cancellation.
///
/// ```swift
/// let migration = try Migration(of: "Library.sqlite", models: ["Library.xcdatamodeld"])
/// for await progress in migration.progress { print(progress.fraction) }
/// let report = try await migration.run()
/// ```
///
/// It begins when ``progress`` or ``run()`` is asked for first, once, and works on threads of its own: nothing blocks
/// the threads of Swift's tasks. Cancelling the task that waits for ``run()`` stops it at the next page of rows, after
/// a checkpoint; so does giving up the last reference to it and its progress. What was stopped is finished by
/// ``init(resuming:policies:)``.
public final class Migration: Sendable {
  private let state: MigrationState
  private let work: @Sendable (@escaping (RunMonitor.Interval) -> RunMonitor) throws -> MigrationJob.Report

  /// A migration with all options.
  public init(_ request: MigrationJob.Request, job: MigrationJob = MigrationJob()) {
    state = MigrationState()
    work = { monitor in try job.migrate(request, monitor: monitor(request.interval)) }
  }

  /// A migration of a store, in place with a backup, or to `output`.
  ///
  /// - Throws: ``BatchError`` (`noSuchFile`) if there is no store.
  public convenience init(
    of store: String, to output: String? = nil, models: [String], mappings: [String] = [],
    policies: [any EntityMigrationPolicy.Type] = []
  ) throws {
    guard try LocalFileSystem().status(store) != nil else {
      throw NearName.noSuchFile(store)
    }
    let request = MigrationJob.Request(source: store, output: output, models: models, mappings: mappings)
    self.init(request, job: MigrationJob(policies: PolicyRegistry(policies)))
  }

  /// The rest of an interrupted migration, found by its source or its destination. ``run()`` throws `refused` if there
  /// is none.
  public convenience init(resuming store: String, policies: [any EntityMigrationPolicy.Type] = []) {
    self.init(resuming: store, job: MigrationJob(policies: PolicyRegistry(policies)))
  }

  /// The rest of an interrupted migration, with another disk or logger.
  public init(resuming store: String, job: MigrationJob) {
    state = MigrationState()
    work = { monitor in try job.resume(store, monitor: monitor) }
  }

  deinit { state.requestStop() }

  /// Whether a stop was asked for, by cancelling the task that waits.
  public var isStopRequested: Bool { state.isStopRequested }

  /// How far the migration is, until it ends, well or badly. A slow reader gets only the newest. Leaving the loop does
  /// not stop the migration as long as somebody holds it.
  public var progress: AsyncStream<MigrationProgress> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: MigrationProgress.self, bufferingPolicy: .bufferingNewest(1))
    // Holds the migration as long as somebody listens.
    continuation.onTermination = { _ in withExtendedLifetime(self) {} }
    state.add(continuation)
    begin()
    return stream
  }

  /// Waits for the migration's end.
  ///
  /// - Throws: ``BatchError`` with its effect; `stopped` if the task was cancelled: the run can be resumed then, unless
  ///   it had not begun.
  public func run() async throws -> MigrationJob.Report {
    if Task.isCancelled, !state.isBegun {
      throw BatchError(.stopped, "the migration was cancelled before it began", effect: .nothingWritten)
    }
    begin()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { state.wait($0) }
    } onCancel: {
      state.requestStop()
    }
  }

  private func begin() {
    guard state.begin() else { return }
    let (state, work) = (state, work)
    do {
      _ = try Worker { state.end(Result { try work(state.makeMonitor) }) }
    } catch {
      // No thread, no run.
      var error = BatchError(wrapping: error)
      error.effect = .nothingWritten
      state.end(.failure(error))
    }
  }
}

/// What a migration's thread and those who wait for it share.
private final class MigrationState: Sendable {
  private struct State {
    var isBegun = false
    var isStopRequested = false
    var monitor: RunMonitor?
    var result: Result<MigrationJob.Report, any Error>?
    var listeners: [AsyncStream<MigrationProgress>.Continuation] = []
    var waiting: [CheckedContinuation<MigrationJob.Report, any Error>] = []
  }

  private let state = Mutex(State())

  var isBegun: Bool { state.withLock { $0.isBegun } }
  var isStopRequested: Bool { state.withLock { $0.isStopRequested } }

  /// True for the first who asks.
  func begin() -> Bool {
    state.withLock { state in
      defer { state.isBegun = true }
      return !state.isBegun
    }
  }

  func makeMonitor(_ interval: RunMonitor.Interval) -> RunMonitor {
    let monitor = RunMonitor(interval: interval) { [weak self] in self?.show($0) }
    let isStopRequested = state.withLock { state in
      state.monitor = monitor
      return state.isStopRequested
    }
    if isStopRequested { monitor.requestStop() }
    return monitor
  }

  func requestStop() {
    let monitor = state.withLock { state in
      state.isStopRequested = true
      return state.monitor
    }
    monitor?.requestStop()
  }

  func add(_ listener: AsyncStream<MigrationProgress>.Continuation) {
    let last: MigrationProgress? = state.withLock { state in
      guard state.result != nil else {
        state.listeners.append(listener)
        return nil
      }
      return state.monitor?.progress ?? MigrationProgress()
    }
    if let last {
      listener.yield(last)
      listener.finish()
    }
  }

  func wait(_ continuation: CheckedContinuation<MigrationJob.Report, any Error>) {
    let result = state.withLock { state in
      if state.result == nil { state.waiting.append(continuation) }
      return state.result
    }
    if let result { continuation.resume(with: result) }
  }

  private func show(_ progress: MigrationProgress) {
    for listener in state.withLock({ $0.listeners }) { listener.yield(progress) }
  }

  func end(_ result: Result<MigrationJob.Report, any Error>) {
    let (listeners, waiting) = state.withLock { state in
      state.result = result
      defer { (state.listeners, state.waiting) = ([], []) }
      return (state.listeners, state.waiting)
    }
    for listener in listeners { listener.finish() }
    for continuation in waiting { continuation.resume(with: result) }
  }
}
