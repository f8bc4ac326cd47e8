import Testing

@testable import Streams

@Suite("What sampled calls are estimated to take")
struct SampledClockTests {
  @Test("A sampled call stands for seventeen; one that was interrupted hardly for more than itself")
  func interrupted() {
    var clock = SampledClock()
    for _ in 0..<10 { clock.add(2e-6) }
    #expect(abs(clock.seconds - 17 * 10 * 2e-6) < 1e-9)
    clock.add(0.05)
    #expect(clock.seconds > 0.05 && clock.seconds < 0.052)
  }

  @Test("On a slow disk, where all calls are long, each stands for seventeen")
  func slow() {
    var clock = SampledClock()
    for seconds in [0.004, 0.009, 0.005, 0.030] { clock.add(seconds) }
    #expect(abs(clock.seconds - 17 * 0.048) < 1e-9)
  }

  @Test("Calls that become longer for good, as when memory no longer holds what they read, count as they are")
  func longer() {
    var clock = SampledClock()
    for _ in 0..<100 { clock.add(2e-7) }
    for _ in 0..<1000 { clock.add(5e-5) }
    #expect(abs(clock.seconds / (17 * (100 * 2e-7 + 1000 * 5e-5)) - 1) < 0.1)
  }
}
