import Testing

@testable import RunSupport

@Suite("The bar of a resumed run goes on where it ended")
struct ResumedEstimateTests {
  @Test(
    "From there it goes on to the end with the work that is left, also where less seems done",
    arguments: [0.5, 0.79, 1])
  func goesOn(shown: Double) {
    var estimate = ProgressEstimate(steps: 2, shownBefore: shown)
    // Nobody knows any more what the first step was estimated to take.
    estimate.foresee(.rows(step: 2), work: 60)
    estimate.foresee(.indexes, work: 20)
    estimate.foresee(.proof, work: 20)
    estimate.advance(.rows(step: 2), to: 0.25, at: 0)
    let begin = min(shown, 0.99)
    #expect(abs(estimate.fraction - begin) < 1e-9)
    estimate.advance(.indexes, to: 0, at: 10)
    #expect(estimate.fraction > begin && estimate.fraction < 1)
    estimate.advance(.proof, to: 1, at: 20)
    #expect(abs(estimate.fraction - 1) < 1e-9)
  }

  @Test("Where more is done than was shown, that is shown")
  func ahead() {
    var estimate = ProgressEstimate(steps: 1, shownBefore: 0.1)
    estimate.foresee(.rows(step: 1), work: 100)
    estimate.advance(.rows(step: 1), to: 0.3, at: 0)
    #expect(abs(estimate.fraction - 0.3) < 1e-9)
  }
}
