import Testing

@testable import MigrationJobs

/// What is verified behind the rows grows with the store, but for what is verified beside them.
@Suite("The proof of a trial")
struct RehearsedProofTests {
  @Test(
    "What an idle processor has no time for grows with the store; half of its time can be used",
    arguments: [
      // rest, idle, growth, seconds
      (1.0, 0.0, 10.0, 10.0), (1.0, 1.0, 10.0, 5.5), (1.0, 2.0, 10.0, 1.0), (1.0, 5.0, 10.0, 1.0), (1.0, 0.0, 1.0, 1.0),
      (1.0, 0.0, 0.5, 1.0), (0.0, 0.0, 10.0, 0.0),
    ])
  func behind(rest: Double, idle: Double, growth: Double, seconds: Double) {
    #expect(RehearsedProof.behind(rest, idle: idle, growth: growth) == seconds)
  }
}
