import DiskSimulation
import Foundation
import Streams
import Testing

@testable import MigrationJobs
@testable import RunSupport

/// What damaging files at random found, and the worst that was thought of. Nothing is taken out again.
@Suite("A job directory with files that somebody made up") struct DamagedJobCorpusTests {
  private static let deep = String(repeating: "[", count: 100_000)
  private static let long = String(repeating: " ", count: 1 << 21)

  /// Files by name, each with contents of its own, or with replacements in what is there.
  private static let contents: [(name: String, texts: [String])] = [
    ("lease", ["", "\0\0\0", "{}", deep, long, "\u{FEFF}{}", "{\"pid\":1e308}"]),
    ("plan.json", ["", "{}", "null", deep, long, "{\"format\":10}", "{\"format\":-1}", "{\"format\":99}", "\0"]),
    (
      "cutover.json",
      ["", "{}", deep, long, #"{"format":1,"phase":"done","newStore":"x","destination":"/etc/passwd"}"#]
    ),
    ("cutover.2.json", ["", "{}"]), ("checkpoints/checkpoint-9999999999.lz4", ["", "\0", long, "\u{4}\"M\u{18}"]),
    ("checkpoints/checkpoint-18446744073709551616.lz4", [""]), ("checkpoints/checkpoint-.lz4", ["x"]),
    ("checkpoints.9223372036854775807/x", [""]), ("checkpoints.9223372036854775806/x", [""]),
    ("checkpoints.-1/x", [""]),
    ("log", [long]), ("g2.step-1.sqlite", ["x"]), ("recovered/x", ["x"]),
  ]

  private static let replacements: [(name: String, pattern: String, texts: [String])] = [
    // A number below 1 would name a group of processes, and 1 is the first of all.
    ("lease", #""pid":[0-9]+"#, [#""pid":-1"#, #""pid":0"#, #""pid":1"#, #""pid":-2147483648"#]),
    (
      "lease", #""epoch":[0-9]+"#, [#""epoch":18446744073709551615"#, #""epoch":-1"#, #""epoch":18446744073709551616"#]
    ),
    ("lease", #""host":"[^"]*""#, [#""host":"\u0000\u001b[2J""#]),
    ("plan.json", #""memory" : [0-9]+"#, [#""memory" : -1"#, #""memory" : 9223372036854775807"#, #""memory" : 0"#]),
    ("plan.json", #""now" : [-0-9.]+"#, [#""now" : 1e308"#, #""now" : -1e308"#]),
    ("plan.json", #""steps" : [0-9]+"#, [#""steps" : 9223372036854775807"#, #""steps" : -1"#]),
    ("plan.json", #""backupSuffix" : "[^"]*""#, [#""backupSuffix" : "../../x""#, #""backupSuffix" : """#]),
    ("plan.json", #""source" : "[^"]*""#, [#""source" : "/""#, #""source" : """#]),
    ("plan.json", #"models/0"#, ["../../../../../../etc", "/dev", "models/0/../../../.."]),
    ("plan.json", #""checkpointBytes" : [0-9]+"#, [#""checkpointBytes" : 0"#, #""checkpointSeconds" : -1e308"#]),
    ("plan.json", #""planFingerprint" : "[^"]*""#, [#""planFingerprint" : "é""#, #""planFingerprint" : "0""#]),
  ]

  /// All of them, as changes of a job directory.
  private static var all: [(name: String, change: (String) throws -> Void)] {
    contents.flatMap { file in
      file.texts.map { text in
        (
          "\(file.name) of \(text.utf8.count) bytes: \(text.prefix(80))",
          { try write(Data(text.utf8), "\($0)/\(file.name)") }
        )
      }
    }
      + replacements.flatMap { file in
        file.texts.map { text in
          (
            "\(file.name) with \(text)",
            { job in
              let old = try String(contentsOfFile: "\(job)/\(file.name)", encoding: .utf8)
              let new = old.replacing(try Regex(file.pattern), maxReplacements: 1) { _ in text }
              #expect(new != old, "\(file.pattern)")
              try write(Data(new.utf8), "\(job)/\(file.name)")
            }
          )
        }
      }
  }

  private static func write(_ data: Data, _ path: String) throws {
    try FileManager.default.createDirectory(atPath: FilePaths.directory(of: path), withIntermediateDirectories: true)
    try data.write(to: URL(fileURLWithPath: path))
  }

  @Test("I6: whoever looks is told, and a resume is refused or ends as undisturbed; nothing outside is touched")
  func everyOne() throws {
    let migration = try DiskCase.policies.make()
    let change = 65 * migration.events.count / 100
    for (name, damage) in Self.all {
      let stage = try migration.stage()
      let disk = try SimulatedDisk(stage.directory, faults: [change: .kill(.after)])
      #expect(throws: (any Error).self) {
        try migration.folder.job(disk).migrate(stage.request, monitor: RunMonitor(interval: stage.request.interval))
      }
      try damage(try JobDirectory(destination: stage.destination).path)
      do {
        _ = try migration.folder.job().clean(stage.directory, dryRun: true)
        _ = try migration.folder.job().resume(stage.store) { RunMonitor(interval: $0) }
        #expect(try migration.isFinished(stage), "\(name)")
      } catch let error where error is BatchError || error is StreamsError {
        try migration.checkStores(stage)
      } catch { Issue.record("\(name): an error of another kind: \(error)") }
      try stage.remove()
    }
    print("made-up job files: \(Self.all.count)")
  }

  @Test(
    "Nobody is killed whose number a lease makes up",
    .enabled(if: LeaseProcess.python != nil, "python3 is not installed"),
    arguments: [-1, 0, 1, Int32.min])
  func numbers(pid: Int32) throws {
    let folder = try JobTestFolder()
    let job = try folder.job()
    let owner = try LeaseProcess(job)
    defer { owner.end() }
    var record = LeaseOwner.current(epoch: 1)
    (record.pid, record.processStart) = (pid, LeaseOwner.processStart("\(pid)"))
    let file = try LocalFileSystem().open(job.lease, .update)
    try record.record().withUnsafeBytes { try file.write($0, at: 0) }
    file.close()
    owner.send(SIGSTOP)
    let error = #expect(throws: BatchError.self) { try Lease.takeOver(job, LocalFileSystem(), patience: 0.2) }
    #expect(error?.code == .refused)
    #expect(owner.process.isRunning)
  }
}
