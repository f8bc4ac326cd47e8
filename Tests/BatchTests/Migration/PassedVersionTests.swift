import Foundation
import Streams
import Testing

@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Passes with several stages: mapping files with filters, rules and policies between inferred steps, held against the
/// same steps one after the other.
@Suite struct PassedVersionTests {
  @Test(
    "I8: random chains of inferred steps, filters, rules and policies give the bytes of one by one", arguments: 0..<8)
  func random(_ number: Int) throws {
    let chain = PassedChain(seed: UInt64(number) &+ 70)
    print("seed \(chain.seed): \(chain.kinds.map(\.rawValue).joined(separator: ", "))")
    let (folder, request) = try chain.prepare(rows: 150)
    let plan = try folder.job().plan(request)
    let ends = chain.kinds.dropLast().count { $0 == .objects || $0 == .policy }
    #expect(plan.steps.count == 1 + ends || chain.hasComics, "\(plan.notes)")
    let reports = try [true, false].map { fuses in
      var request = request
      (request.fuses, request.output) = (fuses, try folder.place("fused-\(fuses)"))
      return try folder.migrate(request)
    }
    let outputs = try [true, false].map { try MigrationFolder.bytes(folder.place("fused-\($0)")) }
    #expect(outputs[0] == outputs[1], "seed \(chain.seed)")
    // I12: what is left out on the way is counted as well.
    let notes = reports.map { Set($0.notes.filter { $0.contains("were left out by") }) }
    #expect(notes[0] == notes[1])
  }

  @Test("I5, I8: stopped anywhere and resumed, a pass with stages ends with the undisturbed bytes and counts")
  func interrupted() throws {
    let chain = PassedChain([.inferred, .filter, .rules, .objects], seed: 5)
    let (folder, request) = try chain.prepare(rows: 900)
    #expect(try folder.job().plan(request).steps.map(\.passed.count) == [3])
    var undisturbed = request
    undisturbed.output = try folder.place("undisturbed")
    let notes = try folder.migrate(undisturbed).notes
    let expected = try MigrationFolder.bytes(folder.place("undisturbed"))
    for count in StopAfter.counts(every: 67) {
      var request = request
      request.interval = .bytes(4000)
      request.output = try folder.place("stopped-\(count)")
      let stop = StopAfter(count)
      do {
        _ = try folder.job().migrate(request, monitor: stop.monitor(request.interval))
      } catch let error as BatchError where error.code == .stopped {
        #expect(try folder.job().resume(request.output ?? "") { RunMonitor(interval: $0) }.notes == notes)
      }
      #expect(try MigrationFolder.bytes(folder.place("stopped-\(count)")) == expected, "stopped after \(count)")
      if !stop.isSpent { return }
    }
  }

  @Test("A row that a rule cannot take is an error with the entity and key that it has one step after the other")
  func errors() throws {
    let chain = PassedChain([.inferred, .rules, .inferred], seed: 3)
    let (folder, request) = try chain.prepare(rows: 60)
    try MigrationFolder.execute(request.source, "UPDATE ZBOOK SET ZWORD = CASE Z_PK WHEN 9 THEN 'nine' ELSE '9' END")
    let errors = [true, false].map { fuses in
      var request = request
      request.fuses = fuses
      request.output = try? folder.place("output-\(fuses)")
      return #expect(throws: BatchError.self) { try folder.migrate(request) }
    }
    #expect(errors[0]?.key == 9 && errors[0]?.entity == "Book" && errors[0]?.message == errors[1]?.message)
    #expect(errors[0]?.entity == errors[1]?.entity && errors[0]?.key == errors[1]?.key)
  }

  @Test("I7: a pass sees no more versions between than it has memory for, and the plan says so")
  func many() throws {
    let chain = PassedChain(Array(repeating: .rules, count: 6), seed: 8)
    let (folder, request) = try chain.prepare(rows: 40)
    let plan = try folder.job().plan(request)
    #expect(
      plan.steps.map(\.passed.count) == [4, 0] && plan.notes.contains { $0.contains("spans 4 versions already") })
  }
}
