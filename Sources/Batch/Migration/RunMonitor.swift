import Streams
import Synchronization

/// How a running migration is watched and told to stop. Thread-safe.
public final class RunMonitor: Sendable {
  /// How far a run is.
  public struct Progress: Sendable, Equatable {
    /// The step at work, from 1.
    public var step = 1
    /// Steps of the path.
    public var steps = 1
    /// What is being done, in a few words.
    public var activity = ""
    /// Done, from 0 to 1; never goes back within a run.
    public var fraction = 0.0
    /// Source rows read by this process.
    public var rows: UInt64 = 0
    /// Checkpoints published by this process.
    public var checkpoints: UInt64 = 0
    /// Nothing done yet.
    public init() {}
  }

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
  private let state = Mutex(Progress())
  private let onChange: (@Sendable (Progress) -> Void)?
  /// When a checkpoint is due.
  public let interval: Interval

  /// Makes a monitor. `onChange` is called from the migrating thread, a few hundred times a second at most.
  public init(interval: Interval = RunMonitor.standardInterval, onChange: (@Sendable (Progress) -> Void)? = nil) {
    self.interval = interval
    self.onChange = onChange
  }

  /// Asks the run to publish a checkpoint and end; it throws ``BatchError`` (`stopped`) then.
  public func requestStop() { stop.store(true, ordering: .relaxed) }
  /// Was a stop asked for?
  public var isStopRequested: Bool { stop.load(ordering: .relaxed) }
  /// How far the run is.
  public var progress: Progress { state.withLock { $0 } }

  func update(_ body: (inout Progress) -> Void) {
    let progress = state.withLock { progress in
      let before = progress.fraction
      body(&progress)
      progress.fraction = max(before, min(progress.fraction, 1))
      return progress
    }
    onChange?(progress)
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
