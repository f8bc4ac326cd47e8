/// Adds up how long calls take. Of short ones every seventeenth is timed, and stands for all; one that was interrupted
/// stands for itself alone.
struct SampledClock {
  /// A prime: calls of different kinds often come in turns.
  private static let every = 17
  /// Times the mean of those before: as long are only calls whose thread had to wait for a processor.
  private static let interrupted = 20.0
  private(set) var seconds = 0.0
  private var calls = 0
  private var sampled = (count: 0.0, seconds: 0.0)

  /// A long call.
  mutating func time<R>(_ body: () throws -> R) rethrows -> R {
    let begin = ContinuousClock.now
    defer { seconds += (ContinuousClock.now - begin) / .seconds(1) }
    return try body()
  }

  /// A call that is hardly longer than to look at a clock.
  @inline(__always)
  mutating func sample<R>(_ body: () throws -> R) rethrows -> R {
    calls &+= 1
    guard calls % Self.every == 0 else { return try body() }
    let begin = ContinuousClock.now
    defer { add((ContinuousClock.now - begin) / .seconds(1)) }
    return try body()
  }

  /// Adds what a sampled call took.
  mutating func add(_ taken: Double) {
    if sampled.count > 0, taken * sampled.count > Self.interrupted * sampled.seconds { return seconds += taken }
    sampled = (sampled.count + 1, sampled.seconds + taken)
    seconds += Double(Self.every) * taken
  }
}
