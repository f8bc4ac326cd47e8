import Foundation
import GRDB
import Testing

@testable import MigrationJobs

@Suite("Objects that are set aside, and the exit code")
struct RejectCommandTests {
  @Test("One too many ends the run with 11, which goes on with more and ends with 10 and the list's path")
  func exitCodes() throws {
    let folder = try CommandFolder()
    let (store, output) = (folder.file("Plain.sqlite"), folder.file("Output.sqlite"))
    let model = ExampleFolder.root + "/Benchmarks/Models/Plain.xcdatamodeld"
    let sample = ["sample", model, "--version", "Plain 2", "--rows", "1000", "--output", store]
    #expect(try folder.run("godwit", sample).code == 0)
    // Back: doubles at the borders of their type do not become integers.
    let migrate = ["migrate", store, "--models", model, "--versions", "Plain 2,Plain 1", "--output", output]
    let over = try folder.run("godwit", migrate + ["--max-rejects", "1"])
    #expect(over.code == 11 && over.error.contains("more than 1 object cannot be migrated"), "\(over)")
    // Nobody is told to resume it as it is: that would end in the same way.
    #expect(try folder.run("godwit", ["status", "--check", output]).code == 11)
    for text in [over.error, try folder.run("godwit", ["report", output]).output] {
      #expect(text.contains("--restart`") && text.contains("resume \(output) --max-rejects 10`"), "\(text)")
      #expect(!text.contains("resume \(output)`"), "\(text)")
    }
    let done = try folder.paste("godwit resume \(output) --max-rejects 10")
    #expect(done.code == 10 && done.output.contains("\(output).rejects-"), "\(done)")
    let report = try folder.run("godwit", ["report", output]).output
    #expect(report.contains("after a fix, migrate all objects again: godwit migrate"))
    // The limit in force, and not the first one (POL2).
    #expect(report.contains("rejects: at most 10\n") && !report.contains("rejects: at most 1\n"), "\(report)")
    #expect(try folder.run("godwit", migrate + ["--max-rejects", "many"]).code == 64)
    #expect(try folder.run("godwit", migrate + ["--reject-values"]).code == 64)
  }

  @Test("A larger limit is advised that leads on: twice as much, ten at least, and never too large for a number")
  func largerLimit() {
    #expect([0, 4, 5, 6, 1 << 62].map(RejectPlan.limit(above:)) == [10, 10, 10, 12, 1 << 63])
    #expect([1 << 63, .max].map(RejectPlan.limit(above:)) == [.max, .max])
  }

  @Test("Behind too many rejects the advised --restart, pasted when the data are mended, goes to the end")
  func restart() throws {
    let folder = try CommandFolder()
    let (store, output) = (folder.file("Plain.sqlite"), folder.file("Output.sqlite"))
    let model = ExampleFolder.root + "/Benchmarks/Models/Plain.xcdatamodeld"
    let sample = ["sample", model, "--version", "Plain 2", "--rows", "1000", "--output", store]
    #expect(try folder.run("godwit", sample).code == 0)
    let migrate = ["migrate", store, "--models", model, "--versions", "Plain 2,Plain 1", "--output"]
    let over = try folder.run("godwit", migrate + [output, "--max-rejects", "1"])
    let restart = try #require(over.error.firstMatch(of: #/`(godwit migrate [^`]+ --restart)`/#)?.1, "\(over)")
    let trial = folder.file("Trial.sqlite")
    #expect(try folder.run("godwit", migrate + [trial, "--max-rejects", "50%", "--quiet"]).code == 10)
    let list = try #require(
      FileManager.default.contentsOfDirectory(atPath: folder.path).first { $0.hasPrefix("Trial.sqlite.rejects-") })
    let lines = try String(contentsOfFile: folder.file(list), encoding: .utf8).split(separator: "\n")
    let keys = try lines.map { try JSONDecoder().decode(RunReport.Reject.self, from: Data($0.utf8)).key }
    let queue = try DatabaseQueue(path: store)
    let wrong = keys.map(String.init).joined(separator: ",")
    try queue.write { try $0.execute(sql: "DELETE FROM ZROW WHERE Z_PK IN (\(wrong))") }
    try queue.close()
    let done = try folder.paste(String(restart))
    #expect(done.code == 0 && done.output.contains("verified") && !keys.isEmpty, "\(done)")
    #expect(try folder.run("godwit", ["verify", output, "--models", model]).code == 0)
    #expect(try folder.run("godwit", ["status", "--check", output]).code == 0)
  }

  @Test(
    "The last line of summary and report has the command that replays the rejects after a fix, whatever the paths are called"
  )
  func replay() throws {
    let folder = try CommandFolder()
    let (store, model) = (
      folder.file("It's a $HOME store.sqlite"), ExampleFolder.root + "/Benchmarks/Models/Plain.xcdatamodeld"
    )
    let sample = ["sample", model, "--version", "Plain 2", "--rows", "1000", "--output", store]
    #expect(try folder.run("godwit", sample).code == 0)
    let versions = folder.file("the versions")
    try "Plain 2\nPlain 1\n".write(toFile: versions, atomically: true, encoding: .utf8)
    let migrate = ["migrate", store, "--models", model, "--versions", versions, "--max-rejects", "50%"]
    let done = try folder.run("godwit", migrate)
    #expect(done.code == 10, "\(done)")
    let report = try JSONDecoder().decode(
      RunReport.self, from: Data(folder.run("godwit", ["report", store, "--json"]).output.utf8))
    let (rejects, backup) = (try #require(report.rejects), try #require(report.backup))
    let command = try #require(rejects.replay)
    let last = "\nafter a fix, migrate all objects again: \(command)\n"
    #expect(done.output.hasSuffix(last), "\(done)")
    #expect(try folder.run("godwit", ["report", store]).output.hasSuffix(last))
    // The fix: the objects that do not fit are gone from the old store.
    let lines = try String(contentsOfFile: rejects.path, encoding: .utf8).split(separator: "\n")
    let keys = try lines.map { try JSONDecoder().decode(RunReport.Reject.self, from: Data($0.utf8)).key }
    let list = keys.map(String.init).joined(separator: ",")
    try DatabaseQueue(path: backup).write { try $0.execute(sql: "DELETE FROM ZROW WHERE Z_PK IN (\(list))") }
    let words = command.split(separator: " ", maxSplits: 1)
    #expect(words.first == "godwit")
    let again = try Self.shell("'\(CommandProcess.path(of: "godwit"))' \(words[1])")
    #expect(again.code == 0, "\(again)")
    #expect(try folder.run("godwit", ["verify", store + ".replayed", "--models", model]).code == 0)
  }

  @Test(
    "What somebody has written into a run's files makes no other command: options that run things are refused, words are quoted"
  )
  func hostileArguments() {
    func line(_ arguments: [String], _ store: String = "/a") -> String? {
      ReplayCommand.line(arguments, store: store, destination: "/b")
    }
    #expect(line(["--models", "/m", "--on-success", "touch /x"]) == nil)
    #expect(line(["--models", "/m", "-x"]) == nil && line(["--models", "/m"], "--version") == nil)
    let words = "'$(touch /x)' '`touch /x`' 'a;b' 'it'\\''s' '' '~/m'"
    #expect(
      line(["--models", "$(touch /x)", "`touch /x`", "a;b", "it's", "", "~/m"])?.hasSuffix(
        " /a --models \(words) --output /b.replayed") == true)
  }

  /// Runs a line in a shell, in another folder than the test's.
  private static func shell(_ line: String) throws -> (code: Int32, output: String) {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    (process.arguments, process.currentDirectoryURL) = (["-c", line], URL(fileURLWithPath: "/"))
    (process.standardOutput, process.standardError) = (pipe, pipe)
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }
}
