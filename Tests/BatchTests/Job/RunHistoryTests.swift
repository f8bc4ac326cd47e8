import Foundation
import Streams
import Testing

@testable import MigrationJobs
@testable import RunSupport

@Suite("What a run writes down for its report")
struct RunHistoryTests {
  private typealias Line = RunHistory.Line
  private let folder: JobTestFolder
  private let job: JobDirectory

  init() throws {
    folder = try JobTestFolder()
    job = try folder.job()
  }

  private func facts(_ run: String) -> RunHistory.Facts {
    RunHistory.Facts(
      run: run, program: "godwit", source: "/a", destination: folder.destination, sourceVersion: "1",
      targetVersion: "2",
      settings: [], memory: 64 << 20)
  }

  private func sample(_ process: Int, _ at: Double, rows: UInt64, memory: UInt64 = 1) -> Line {
    Line(
      sample: RunHistory.Sample(
        process: process, at: at, rows: rows, bytes: rows, memory: memory, checkpoints: rows / 10, done: 0.5, step: 1,
        activity: "Book", paused: false))
  }

  @Test(
    "It has at most 2000 lines however long a run takes, however often it is begun again; counts and the most memory stay"
  )
  func bounds() throws {
    var file = try HistoryFile(job, run: "a")
    try file.add(Line(facts: facts("a")))
    try file.add(Line(process: RunHistory.Process(number: 1, at: 0, pid: 1, host: "h")))
    for second in 1...2600 {
      try file.add(sample(1, Double(second), rows: UInt64(second), memory: second == 777 ? 99 : 1))
    }
    file.close()
    func lines() throws -> Int { try String(contentsOfFile: job.history, encoding: .utf8).split(separator: "\n").count }
    let found = try #require(RunHistory(path: job.history))
    #expect(try lines() <= 2000 && found.samples.count > 500 && found.every > 1)
    #expect(found.samples.last?.rows == 2600 && found.samples.map(\.memory).max() == 99)
    var report = RunReport(outcome: .running, destination: folder.destination)
    report.take(found)
    #expect(report.rowsRead == 2600 && report.checkpoints == 260 && report.seconds == 2600 && report.peakMemory == 99)
    for number in 2...400 {
      // Another process goes on with the file of the one before.
      if number % 100 == 0 || number == 2 { file = try HistoryFile(job, run: "a") }
      try file.add(Line(process: RunHistory.Process(number: number, at: 5000 + Double(number), pid: 1, host: "h")))
      try file.add(sample(number, 5000.5 + Double(number), rows: 1))
      if number % 100 == 99 { file.close() }
    }
    file.close()
    let crashing = try #require(RunHistory(path: job.history))
    #expect(try lines() <= 2000 && crashing.processes.first?.number == 1 && crashing.processes.last?.number == 400)
    var last = RunReport(outcome: .interrupted, destination: folder.destination)
    last.take(crashing)
    #expect(last.processes == 400 && last.interruptions.count { $0.code == nil && $0.pause == 0.5 } > 50)
    // Another run's history is not gone on with.
    #expect(try HistoryFile(job, run: "b").history == RunHistory())
  }

  @Test("A torn last line is left out and written over; bytes that mean nothing, or too much, do no harm")
  func damage() throws {
    var file = try HistoryFile(job, run: "a")
    try file.add(Line(facts: facts("a")))
    try file.add(Line(process: RunHistory.Process(number: 1, at: 1, pid: 1, host: "h")))
    try file.add(sample(1, 2, rows: 7))
    file.close()
    let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: job.history)))
    for length in stride(from: 0, through: whole.count, by: 11) {
      #expect(RunHistory(Array(whole[..<length])).samples.count <= 1)
    }
    try Data(whole.dropLast(3)).write(to: URL(fileURLWithPath: job.history))
    file = try HistoryFile(job, run: "a")
    #expect(file.history.samples.isEmpty && file.history.processes.count == 1)
    try file.add(sample(1, 3, rows: 8))
    file.close()
    #expect(RunHistory(path: job.history)?.samples.map(\.rows) == [8])
    var random = SystemRandomNumberGenerator()
    for _ in 0..<100 {
      var bytes = whole
      for _ in 0..<4 {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      var report = RunReport(outcome: .running, destination: folder.destination)
      report.take(RunHistory(bytes))
      #expect(report.seconds.isFinite, "\(bytes)")
    }
    let hostile = [
      "{\"process\":{\"number\":9223372036854775807,\"at\":-1e300,\"pid\":0,\"host\":\"\"}}",
      "{\"process\":{\"number\":1,\"at\":1e300,\"pid\":0,\"host\":\"\"}}",
      "{\"sample\":{\"process\":1,\"at\":-1e308,\"rows\":18446744073709551615,\"bytes\":1,\"memory\":18446744073709551615,"
        + "\"checkpoints\":18446744073709551615,\"done\":1e308,\"step\":-9,\"activity\":\"\",\"paused\":true}}",
    ]
    var report = RunReport(outcome: .running, destination: folder.destination)
    report.take(
      RunHistory([UInt8]((hostile + Array(repeating: hostile[2], count: 2500) + hostile).joined(separator: "\n").utf8)))
    #expect(
      report.seconds.isFinite && (0...1).contains(report.done) && report.curve.count <= 2 * RunHistory.mostSamples)
    try Data(count: RunHistory.fileCap + 1).write(to: URL(fileURLWithPath: job.history))
    #expect(RunHistory(path: job.history) == nil)
    try FileManager.default.removeItem(atPath: job.history)
    try FileManager.default.createSymbolicLink(atPath: job.history, withDestinationPath: "/dev/zero")
    #expect(RunHistory(path: job.history) == nil)
  }

  @Test("A history that cannot be written ends no migration, and is told")
  func failure() throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let store = try folder.sample("V1", rows: 50, seed: 1)
    let record = try JobDirectory(destination: store).record
    try FileManager.default.createDirectory(atPath: record + "/taken", withIntermediateDirectories: true)
    let report = try folder.migrate(folder.request(store))
    #expect(
      report.isVerified && report.notes.contains { $0.contains("run record cannot be written") }, "\(report.notes)")
    #expect(throws: BatchError.self) { try folder.job().report(store) }
  }

  @Test("Stopped and resumed, a run's report has both processes, counts of every entity, and bytes of their pages")
  func report() throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let store = try folder.sample("V1", rows: 1000, seed: 9)
    #expect(throws: BatchError.self) { try folder.job().report(store) }
    let stop = StopAfter(5)
    var request = folder.request(store)
    request.interval = .bytes(1000)
    #expect(throws: BatchError.self) { try folder.job().migrate(request, monitor: stop.monitor(request.interval)) }
    let stopped = try folder.job().report(store)
    #expect(stopped.outcome == .stopped && stopped.reason?.contains("stopped") == true && stopped.ended == nil)
    #expect(
      !stopped.path.isEmpty && stopped.entities.contains { $0.before?.rows ?? 0 > 0 }
        && stopped.entities.allSatisfy { $0.after == nil })
    let done = try folder.job().resume(store) { RunMonitor(interval: $0) }
    let report = try folder.job().report(store)
    #expect(report.outcome == .done && report.processes == 2 && report.interruptions.map(\.code) == ["stopped"])
    #expect(
      report.backup == done.backup && report.bytesAfter == done.bytes
        && report.steps == done.accounts.map(RunHistory.Tally.init))
    #expect(report.proof?.rows ?? 0 > 0 && report.done == 1 && report.targetVersion == done.targetVersion)
    for entity in report.entities {
      #expect(entity.after.map { $0.rows == done.rows[entity.name] && !$0.isEstimate } ?? true, "\(entity)")
      #expect(entity.after.map { ($0.bytes ?? 0 > 0) == ($0.rows > 0) } ?? true, "\(entity)")
    }
    // The store moves with what is told of it.
    let moved = try folder.job().report(try JobDirectory(destination: store).path)
    #expect(moved == report)
  }
}
