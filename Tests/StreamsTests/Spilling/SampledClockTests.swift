import Testing

@testable import Streams

@Suite("What sampled calls are estimated to take")
struct SampledClockTests {
  @Test("A sampled call stands for seventeen, one that was interrupted for itself: a stall is not taken for seventeen")
  func interrupted() {
    var clock = SampledClock()
    for _ in 0..<10 { clock.add(2e-6) }
    #expect(abs(clock.seconds - 17 * 10 * 2e-6) < 1e-9)
    clock.add(0.05)
    #expect(abs(clock.seconds - 17 * 10 * 2e-6 - 0.05) < 1e-9)
  }

  @Test("On a slow disk, where all calls are long, each stands for seventeen")
  func slow() {
    var clock = SampledClock()
    for seconds in [0.004, 0.009, 0.005, 0.030] { clock.add(seconds) }
    #expect(abs(clock.seconds - 17 * 0.048) < 1e-9)
  }
}
