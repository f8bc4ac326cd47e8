import Glibc
import Synchronization

/// What holds a run up on purpose: a pause, a limit to its rate, a machine that others want. Thread-safe.
final class RunPace: Sendable {
  private struct State {
    var bucket: TokenBucket?
    var load: SystemLoad?
    /// The share of its time that a run works which gives way.
    var share = 1.0
    var lastEnd: Double?
    var isPaused = false
    var isHeld = false
    var waitsSince: Double?
    var waited = 0.0

    /// Seconds of pauses and holds until then.
    func waited(at now: Double) -> Double { waited + (waitsSince.map { now - $0 } ?? 0) }
  }

  private static let slice = 0.05
  private static let leastShare = 1.0 / 16
  private let started = ContinuousClock.now
  private let isActive = Atomic<Bool>(false)
  private let pauses = Atomic<Bool>(false)
  private let state = Mutex(State())

  private var now: Double { (ContinuousClock.now - started) / .seconds(1) }
  /// Seconds since the beginning at work.
  var seconds: Double { times.worked }
  /// Seconds since the beginning: those at work, and those of pauses and holds.
  var times: (worked: Double, waited: Double) {
    state.withLock { state in
      let now = now
      let waited = state.waited(at: now)
      return (now - waited, waited)
    }
  }
  var isPaused: Bool { pauses.load(ordering: .relaxed) }
  var rate: RunRate? { state.withLock { $0.bucket?.rate } }

  func pause(_ isPaused: Bool) {
    change { $0.isPaused = isPaused }
    pauses.store(isPaused, ordering: .relaxed)
  }

  /// The run does nothing as long as others hold it.
  func hold(_ isHeld: Bool) { change { $0.isHeld = isHeld } }

  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      let now = now
      body(&state)
      state.waited = state.waited(at: now)
      state.waitsSince = state.isPaused || state.isHeld ? now : nil
    }
  }

  func limit(_ rate: RunRate?) {
    state.withLock { $0.bucket = rate.map { TokenBucket($0, at: now) } }
    activate()
  }

  func giveWay(to load: SystemLoad?) {
    state.withLock { ($0.load, $0.share, $0.lastEnd) = (load, 1, nil) }
    activate()
  }

  private func activate() { isActive.store(state.withLock { $0.bucket != nil || $0.load != nil }, ordering: .relaxed) }

  /// Looks at the load: called about twice a second. A busy machine halves the share of time at work, an idle one
  /// doubles it.
  func lookAtLoad() {
    guard let load = state.withLock({ $0.load }) else { return }
    let isBusy = load.isBusy
    state.withLock { $0.share = isBusy ? max(Self.leastShare, $0.share / 2) : min(1, $0.share * 2) }
  }

  /// Waits as long as the run is paused.
  @inline(__always)
  func waitWhilePaused(_ isStopped: () -> Bool) {
    while isPaused, !isStopped() { usleep(UInt32(Self.slice * 1e6)) }
  }

  /// Waits as long as what was done just now was done too early.
  func wait(rows: Int, bytes: Int, _ isStopped: () -> Bool) {
    guard isActive.load(ordering: .relaxed) else { return }
    var left = state.withLock { state in
      let now = now
      let wait = state.bucket?.take(rows: rows, bytes: bytes, at: now) ?? 0
      let worked = state.lastEnd.map { now - $0 } ?? 0
      return max(wait, state.load == nil ? 0 : min(1, worked * (1 / state.share - 1)))
    }
    // A new limit, or none, counts at once.
    let rate = rate
    while left > 0, !isStopped(), self.rate == rate {
      usleep(UInt32(min(left, Self.slice) * 1e6))
      left -= Self.slice
    }
    state.withLock { $0.lastEnd = now }
  }
}
