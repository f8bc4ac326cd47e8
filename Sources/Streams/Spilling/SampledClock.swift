/// Adds up how long calls take. Of short ones every seventeenth is timed, and stands for all.
struct SampledClock {
  /// A prime: calls of different kinds often come in turns.
  private static let every = 17
  private(set) var seconds = 0.0
  private var calls = 0

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
    defer { seconds += Double(Self.every) * ((ContinuousClock.now - begin) / .seconds(1)) }
    return try body()
  }
}
