import Foundation
import Synchronization

/// How a running migration is watched and stopped. Thread-safe.
public final class RunMonitor: Sendable {
  /// When a checkpoint is due.
  public enum Interval: Sendable, Equatable {
    /// After that many seconds.
    case seconds(Double)
    /// After that many bytes of finished records.
    case bytes(UInt64)
  }

  /// The default: at most one second of work is lost.
  public static let standardInterval = Interval.seconds(1)

  private let stop = Atomic<Bool>(false)
  private let reason = Mutex<(any Error)?>(nil)
  private let state = Mutex(MigrationProgress())
  private let watches = Mutex<[UInt64: @Sendable () -> Void]>([:])
  private let numbers = Atomic<UInt64>(0)
  private let pace = RunPace()
  private let deadline = Mutex<(date: Date, what: String)?>(nil)
  private let onChange: (@Sendable (MigrationProgress) -> Void)?
  private let hookState = Mutex(RunHooks())
  /// When a checkpoint is due.
  public let interval: Interval
  /// What the run is called where it is said that it stopped.
  package let work: String

  /// Makes a monitor of a migration, or of `work`. `onChange` is called from the migrating thread, a few hundred times a
  /// second at most.
  public init(
    interval: Interval = RunMonitor.standardInterval, work: String = "migration",
    onChange: (@Sendable (MigrationProgress) -> Void)? = nil
  ) {
    (self.interval, self.work) = (interval, work)
    self.onChange = onChange
  }

  /// What is done on the way: to be set before the run begins.
  public var hooks: RunHooks {
    get { hookState.withLock { $0 } }
    set { hookState.withLock { $0 = newValue } }
  }

  /// Asks the run to publish a checkpoint and end; it throws ``BatchError`` (`stopped`) then.
  public func requestStop() { requestStop(because: nil) }

  /// The same; the run throws `reason` if there is one.
  package func requestStop(because reason: (any Error)?) {
    if let reason { self.reason.withLock { $0 = reason } }
    stop.store(true, ordering: .relaxed)
    // Under the lock, so that whoever ends its watch knows that nobody is about to call it.
    watches.withLock { for body in $0.values { body() } }
  }
  /// Hands a stop that came too late for this run on to the one that follows it. One that was meant for this run alone,
  /// as it had lost its lease, ends with it.
  public func handStop(to next: RunMonitor) {
    guard isStopRequested else { return }
    let reason = reason.withLock { $0 }
    if reason == nil || (reason as? BatchError)?.code == .stopped { next.requestStop(because: reason) }
  }

  /// Whether a stop was asked for.
  public var isStopRequested: Bool { stop.load(ordering: .relaxed) }
  /// What ``onStop(_:)`` gives: to be ended before what its body touches goes away.
  package struct Watch: Sendable {
    fileprivate let monitor: RunMonitor
    fileprivate let number: UInt64

    /// The body is no longer called; waits for a call that is under way.
    package func end() { monitor.watches.withLock { $0[number] = nil } }
  }

  /// Calls a body, on any thread, when a stop is asked for; at once if one was.
  package func onStop(_ body: @escaping @Sendable () -> Void) -> Watch {
    let number = numbers.add(1, ordering: .relaxed).newValue
    watches.withLock { $0[number] = body }
    if isStopRequested { body() }
    return Watch(monitor: self, number: number)
  }

  /// Throws `stopped` once a stop was asked for. Waits as long as the run is paused.
  package func throwIfStopRequested() throws {
    pace.waitWhilePaused { isStopRequested }
    guard isStopRequested else { return }
    if let reason = reason.withLock({ $0 }) { throw reason }
    throw BatchError(.stopped, "the \(work) stopped on request")
  }
  /// How far the run was when it last said something.
  public var progress: MigrationProgress { state.withLock { $0 } }

  /// How far the run is, at this time: also for one that says nothing for a while.
  public var progressNow: MigrationProgress {
    var progress = progress
    let times = pace.times
    progress.waited = times.waited
    if progress.fraction < 1 { progress.tell(at: times.worked) }
    return progress
  }

  /// Changes the progress and informs who watches.
  package func update(_ body: (inout MigrationProgress) -> Void) {
    // First of all: arguments of a call that is not made are not evaluated.
    let progress = note(body)
    onChange?(progress)
  }

  /// Changes the progress before there is any progress to report.
  @discardableResult
  package func note(_ body: (inout MigrationProgress) -> Void) -> MigrationProgress {
    state.withLock { progress in
      progress.tell(at: pace.seconds)
      body(&progress)
      progress.tell(at: pace.seconds)
      return progress
    }
  }
}

// What holds a run up, and ends it in time.
extension RunMonitor {
  /// Pauses the run at its next page of rows, or resumes it. It keeps its lease and gives its signs of life.
  ///
  /// What SQLite does comes to its end first: single checks of the full verification, and indexes that it builds.
  public func pause(_ isPaused: Bool) {
    pace.pause(isPaused)
    note { $0.isPaused = isPaused }
  }

  /// Does what only waits for others: the time is none of the run's work.
  package func waiting<Result>(_ body: () throws -> Result) rethrows -> Result {
    pace.hold(true)
    defer { pace.hold(false) }
    return try body()
  }

  /// Whether the run is paused.
  public var isPaused: Bool { pace.isPaused }

  /// Limits how much is read or written in a second; nil for no limit. The proof only reads, and is not held up.
  public func throttle(_ rate: RunRate?) { pace.limit(rate) }

  /// The limit that holds.
  public var rate: RunRate? { pace.rate }

  /// The monitor of what comes after this one's work, with the limit that holds by now.
  package func successor(_ monitor: RunMonitor) -> RunMonitor {
    monitor.throttle(rate)
    return monitor
  }

  /// Makes the run work less, down to a sixteenth of its time, as long as others want the machine; nil for not at all.
  public func giveWay(to load: SystemLoad?) { pace.giveWay(to: load) }

  /// Stops the run when that time has come, so that it can be resumed. It takes a moment to publish its last
  /// checkpoint: give an earlier time than the one at which it must have ended. `what` names the time in the error.
  public func stop(at date: Date, _ what: String) { deadline.withLock { $0 = (date, what) } }

  /// Looks at clock and load. Whoever runs a migration has this called about twice a second.
  package func tick(now: Date = Date()) {
    pace.lookAtLoad()
    guard !isStopRequested, let (date, what) = deadline.withLock({ $0 }), now >= date else { return }
    requestStop(because: BatchError(.stopped, "the \(work) stopped: \(what)"))
  }

  /// Waits at a page of rows as long as a pause, a limit or the load of the machine wants it.
  package func hold(rows: Int = 0, bytes: Int) {
    pace.wait(rows: rows, bytes: bytes) { isStopRequested }
    // Last of all: a pause that comes while a limit is waited for must not let one more page through.
    pace.waitWhilePaused { isStopRequested }
  }
}

/// Decides when a checkpoint is due.
package struct CheckpointClock {
  private let interval: RunMonitor.Interval
  private var last: ContinuousClock.Instant
  private var bytes: UInt64 = 0

  package init(_ interval: RunMonitor.Interval, since last: ContinuousClock.Instant = .now) {
    (self.interval, self.last) = (interval, last)
  }

  /// Counts finished bytes; true when a checkpoint is due, and the counting begins again.
  package mutating func isDue(adding count: Int) -> Bool {
    bytes += UInt64(count)
    let isDue: Bool
    switch interval {
    // As a quotient: the number may come from a damaged file, and no duration is as long as every number.
    case .seconds(let seconds): isDue = (ContinuousClock.now - last) / .seconds(1) >= seconds
    case .bytes(let limit): isDue = bytes >= limit
    }
    if isDue { (last, bytes) = (ContinuousClock.now, 0) }
    return isDue
  }
}
