/// Adds up how long calls take. Of short ones every seventeenth is timed, and stands for all: up to some times of what such
/// calls took before, for beyond that its thread has mostly waited for a processor.
struct SampledClock {
  /// A prime: calls of different kinds often come in turns.
  private static let every = 17
  /// Times the mean of those before that a sample stands for all with. What calls take may change by more, as from memory
  /// to a disk: the mean follows within a few samples.
  private static let most = 20.0
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
    let mean = sampled.count > 0 ? sampled.seconds / sampled.count : taken
    let usual = min(taken, Self.most * mean)
    sampled = (sampled.count + 1, sampled.seconds + usual)
    seconds += Double(Self.every - 1) * usual + taken
  }
}
