import Testing

@testable import Migrations

@Suite("What of a unit is done")
struct StepWorkTests {
  @Test("Where look-ups do not grow, the work that is done is the part of the pages that was read")
  func even() {
    for read in [0, 0.25, 0.5, 1, 1.5] { #expect(StepWork.part(read: read, named: 0) == min(1, read)) }
  }

  @Test("Where each row brings a name, the first rows are less work; work only grows, and all of it is done at the end")
  func growing() {
    var before = 0.0
    for step in 1...100 {
      let read = Double(step) / 100
      let part = StepWork.part(read: read, named: 0.8)
      #expect(part > before && (part < read || step == 100))
      before = part
    }
    #expect(before == 1)
  }

  @Test("More names than every second row has make no difference")
  func most() { #expect(StepWork.part(read: 0.3, named: 0.5) == StepWork.part(read: 0.3, named: 3)) }
}
