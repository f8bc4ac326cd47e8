import Streams
import Synchronization

/// How a running migration is watched and told to stop. Thread-safe.
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
  private let started = ContinuousClock.now
  private let onChange: (@Sendable (MigrationProgress) -> Void)?
  /// When a checkpoint is due.
  public let interval: Interval

  /// Makes a monitor. `onChange` is called from the migrating thread, a few hundred times a second at most.
  public init(interval: Interval = RunMonitor.standardInterval, onChange: (@Sendable (MigrationProgress) -> Void)? = nil) {
    self.interval = interval
    self.onChange = onChange
  }

  /// Asks the run to publish a checkpoint and end; it throws ``BatchError`` (`stopped`) then.
  public func requestStop() { requestStop(because: nil) }

  /// The same; the run throws `reason` where there is one.
  func requestStop(because reason: (any Error)?) {
    if let reason { self.reason.withLock { $0 = reason } }
    stop.store(true, ordering: .relaxed)
    // Under the lock, so that whoever ends its watch knows that nobody is about to call it.
    watches.withLock { for body in $0.values { body() } }
  }
  /// Was a stop asked for?
  public var isStopRequested: Bool { stop.load(ordering: .relaxed) }
  /// What ``onStop(_:)`` gives: to be ended before what its body touches goes away.
  struct Watch: Sendable {
    fileprivate let monitor: RunMonitor
    fileprivate let number: UInt64

    /// The body is not called any more; waits for a call that is under way.
    func end() { monitor.watches.withLock { $0[number] = nil } }
  }

  /// Has a body called, on any thread, when a stop is asked for; at once where one was.
  func onStop(_ body: @escaping @Sendable () -> Void) -> Watch {
    let number = numbers.add(1, ordering: .relaxed).newValue
    watches.withLock { $0[number] = body }
    if isStopRequested { body() }
    return Watch(monitor: self, number: number)
  }

  /// Throws `stopped` once a stop was asked for.
  func throwIfStopRequested() throws {
    guard isStopRequested else { return }
    if let reason = reason.withLock({ $0 }) { throw reason }
    throw BatchError(.stopped, "the migration stopped on request", hint: "Run \(ProgramName.current) resume to go on")
  }
  /// How far the run was when it last said something.
  public var progress: MigrationProgress { state.withLock { $0 } }

  /// How far the run is, at this time: also for one that says nothing for a while.
  public var progressNow: MigrationProgress {
    var progress = progress
    if progress.fraction < 1 { progress.tell(at: seconds) }
    return progress
  }

  private var seconds: Double { (ContinuousClock.now - started) / .seconds(1) }

  /// Changes the progress and tells who watches.
  func update(_ body: (inout MigrationProgress) -> Void) { onChange?(note(body)) }

  /// Changes the progress before anything is done that could be told.
  @discardableResult
  func note(_ body: (inout MigrationProgress) -> Void) -> MigrationProgress {
    state.withLock { progress in
      progress.tell(at: seconds)
      body(&progress)
      progress.tell(at: seconds)
      return progress
    }
  }
}

/// Decides when a checkpoint is due.
struct CheckpointClock {
  private let interval: RunMonitor.Interval
  private var last = ContinuousClock.now
  private var bytes: UInt64 = 0

  init(_ interval: RunMonitor.Interval) { self.interval = interval }

  /// Counts finished bytes; true when a checkpoint is due, and the counting begins again.
  mutating func isDue(adding count: Int) -> Bool {
    bytes += UInt64(count)
    let isDue: Bool
    switch interval {
    case .seconds(let seconds): isDue = ContinuousClock.now - last >= .seconds(seconds)
    case .bytes(let limit): isDue = bytes >= limit
    }
    if isDue { (last, bytes) = (ContinuousClock.now, 0) }
    return isDue
  }
}
