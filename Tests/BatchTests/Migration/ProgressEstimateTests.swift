import Testing

@testable import RunSupport

@Suite("What progress is foreseen")
struct ProgressEstimateTests {
  /// A run as it was seen: a part, the work that was foreseen for it, and the seconds that it took.
  struct Timeline: Sendable, CustomStringConvertible {
    var description: String
    var steps = 1
    var parts: [(part: ProgressEstimate.Part, work: Double, seconds: Double)]

    var seconds: Double { parts.reduce(0) { $0 + $1.seconds } }
  }

  /// Works of the benchmark with two million rows: what their parts took, as far as medians of its results tell them
  /// apart.
  static let recorded = [
    Timeline(description: "W1", parts: [(.rows(step: 1), 0.40, 0.41), (.proof, 0.17, 0.19)]),
    Timeline(description: "W2", parts: [(.rows(step: 1), 0.59, 0.59), (.indexes, 0.40, 0.40), (.proof, 0.26, 0.30)]),
    Timeline(
      description: "W3", steps: 2,
      parts: [
        (.rows(step: 1), 1.04, 1.05), (.rows(step: 2), 1.30, 1.45), (.indexes, 0.78, 0.72), (.proof, 0.39, 0.55),
      ]),
  ]

  /// What is told of a run, a hundred times a part.
  private func replay(_ timeline: Timeline, _ body: (_ fraction: Double, _ left: Double?, _ seconds: Double) -> Void) {
    var estimate = ProgressEstimate(steps: timeline.steps)
    for part in timeline.parts { estimate.foresee(part.part, work: part.work) }
    var seconds = 0.0
    for part in timeline.parts {
      for place in 0..<100 {
        estimate.advance(part.part, to: Double(place) / 100, at: seconds)
        body(estimate.fraction, estimate.secondsLeft(at: seconds), seconds)
        seconds += part.seconds / 100
      }
    }
    estimate.finish(at: seconds)
    body(estimate.fraction, estimate.secondsLeft(at: seconds), seconds)
  }

  @Test("Once a tenth is done, the time of the whole run is foreseen to 15 % of what it takes", arguments: recorded)
  func accuracy(_ timeline: Timeline) throws {
    var worst = 0.0
    replay(timeline) { fraction, left, seconds in
      guard fraction >= 0.1 else { return }
      guard let left else {
        Issue.record("nothing is foreseen at \(fraction)")
        return
      }
      worst = max(worst, abs(seconds + left - timeline.seconds) / timeline.seconds)
    }
    #expect(worst <= 0.15, "\(worst)")
  }

  @Test("The fraction never goes back, ends at 1 with nothing left, and is 1 at the end alone", arguments: recorded)
  func monotone(_ timeline: Timeline) {
    var fractions: [Double] = []
    var last: Double?
    replay(timeline) { fraction, left, _ in
      fractions.append(fraction)
      last = left
    }
    #expect(zip(fractions, fractions.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(fractions.dropLast().allSatisfy { $0 < 1 } && fractions.last == 1 && last == 0)
  }

  @Test("A run that goes on begins where another one stopped, and its time is foreseen by its own pace")
  func resumed() throws {
    var estimate = ProgressEstimate(steps: 2)
    for step in 1...2 { estimate.foresee(.rows(step: step), work: 10) }
    estimate.advance(.rows(step: 2), to: 0.5, at: 0)
    #expect(estimate.fraction == 0.75 && estimate.secondsLeft(at: 0) == nil)
    // Three times as slow as foreseen.
    estimate.advance(.rows(step: 2), to: 0.7, at: 6)
    let left = try #require(estimate.secondsLeft(at: 6))
    #expect(abs(left - 9) < 0.001)
  }

  @Test("Trap 10: a part that ends early does not make less of what there was to do, and one that says nothing goes on")
  func early() throws {
    var estimate = ProgressEstimate()
    estimate.foresee(.rows(step: 1), work: 8)
    estimate.foresee(.proof, work: 2)
    estimate.advance(.rows(step: 1), to: 0.25, at: 0)
    estimate.advance(.rows(step: 1), to: 0.5, at: 2)
    let (before, after) = (try #require(estimate.secondsLeft(at: 2)), try #require(estimate.secondsLeft(at: 3)))
    #expect(abs(before - after - 1) < 0.001)
    #expect(estimate.fraction == 0.4)
    estimate.advance(.proof, to: 0, at: 3)
    #expect(estimate.fraction == 0.8)
    // Foreseen too late.
    estimate.foresee(.proof, work: 0.1)
    #expect(estimate.fraction == 0.8)
  }

  @Test("Time that is a part's own affair slows down what is foreseen of that part, and of no other")
  func aside() throws {
    var estimate = ProgressEstimate(steps: 2)
    for step in 1...2 { estimate.foresee(.rows(step: step), work: 10) }
    estimate.advance(.rows(step: 1), to: 0, at: 0)
    estimate.advance(.rows(step: 1), to: 0.5, at: 25)
    estimate.setAside(20, of: .rows(step: 1))
    // The other half of the step takes as long; what comes then, a second for each second of work.
    let left = try #require(estimate.secondsLeft(at: 25))
    #expect(abs(left - 35) < 0.001)
    estimate.advance(.rows(step: 2), to: 0, at: 50)
    let rest = try #require(estimate.secondsLeft(at: 50))
    #expect(abs(rest - 30) < 0.001)
    estimate.setAside(40, of: .rows(step: 1))
    #expect(abs(try #require(estimate.secondsLeft(at: 50)) - 10) < 0.001)
  }

  @Test("Nothing foreseen is nothing done, until the end")
  func empty() {
    var estimate = ProgressEstimate()
    #expect(estimate.fraction == 0 && estimate.secondsLeft(at: 1) == nil)
    estimate.finish(at: 1)
    #expect(estimate.fraction == 1 && estimate.secondsLeft(at: 1) == 0)
  }

  @Test(
    "A pass that comes once, as the numbering of names, makes what is left of its rows neither longer nor shorter, and the rest a half longer at most"
  )
  func pass() throws {
    var estimate = ProgressEstimate()
    estimate.foresee(.rows(step: 1), work: 1)
    estimate.foresee(.proof, work: 0.5)
    var seconds = 0.0
    func left() throws -> Double { try #require(estimate.secondsLeft(at: seconds)) }
    for place in 0...10 {
      estimate.advance(.rows(step: 1), to: Double(place) / 100, at: seconds)
      seconds += 0.01
    }
    let before = try left()
    #expect(abs(before - 1.4) < 0.02, "\(before)")
    estimate.pass(true, of: .rows(step: 1), at: seconds)
    seconds += 0.5
    let during = try left()
    #expect(abs(during - before) < 0.001, "\(during)")
    estimate.pass(false, of: .rows(step: 1), at: seconds)
    for place in 11...99 {
      estimate.advance(.rows(step: 1), to: Double(place) / 100, at: seconds)
      let rows = 1 - Double(place) / 100
      let found = try left()
      #expect((rows + 0.48...rows + 0.77).contains(found), "\(place): \(found)")
      seconds += 0.01
    }
    estimate.advance(.proof, to: 0, at: seconds)
    let last = try left()
    #expect((0.48...0.65).contains(last), "\(last)")
  }

  @Test("Work that is next to nothing leaves the time unknown, and not without end")
  func tiny() {
    var estimate = ProgressEstimate()
    estimate.foresee(.rows(step: 1), work: 1)
    // The least of all numbers: a quotient by it is infinite.
    estimate.foresee(.indexes, work: 3 * .leastNonzeroMagnitude)
    estimate.foresee(.proof, work: 1)
    estimate.advance(.rows(step: 1), to: 0, at: 0)
    estimate.advance(.indexes, to: 0, at: 1)
    estimate.advance(.indexes, to: 0.4, at: 2)
    #expect(estimate.secondsLeft(at: 2) == nil)
  }
}
