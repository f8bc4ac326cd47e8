import Foundation
import GRDB
import Testing

@testable import MigrationJobs

/// Peak memory of the whole process, as the system counts it.
@Suite("Memory of a run", .serialized)
struct MemoryTests {
  /// A process counts from what its parent had; so the program is started by a small one.
  private static let launcher = ["/bin/sh", "-c", "\"$@\"; exit $?", "sh"]
  private static let megabytes = 150

  private func peak(_ outcome: CommandProcess.Outcome) throws -> Int {
    struct Summary: Decodable { var peakMemory: Int }
    return try JSONDecoder().decode(Summary.self, from: Data(outcome.output.utf8)).peakMemory
  }

  /// A store with a text of 150 MB in one of its rows; another column follows in the row.
  private func store(_ folder: CommandFolder) throws -> String {
    let store = try folder.sample(rows: 2000)
    let queue = try DatabaseQueue(path: store)
    try queue.writeWithoutTransaction { db in
      try db.execute(
        sql: "UPDATE ZBOOK SET ZTITLE = replace(hex(zeroblob(5)), '0', ?) WHERE Z_PK = 77",
        arguments: [String(repeating: "Longest ", count: Self.megabytes * 1_000_000 / 80)])
      try db.execute(sql: "VACUUM")
    }
    try queue.close()
    return store
  }

  private func expectSame(_ new: String, _ old: String) throws {
    let queue = try DatabaseQueue(path: new)
    defer { try? queue.close() }
    try queue.inDatabase { db in
      try db.execute(sql: "ATTACH ? AS old", arguments: [old])
      let same =
        "SELECT count(*), max(length(p.ZTITLE)) FROM ZBOOK p JOIN old.ZBOOK q USING (Z_PK) WHERE p.ZTITLE = q.ZTITLE"
      let row = try #require(try Row.fetchOne(db, sql: same))
      let (found, longest): (Int, Int) = (row[0], row[1])
      #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM old.ZBOOK") == found)
      #expect(longest > Self.megabytes * 990_000)
    }
  }

  @Test(
    "I7: a value of 150 MB in one row is migrated and verified within 64 MiB",
    arguments: [["--identity"], CommandFolder.models])
  func longValue(options: [String]) throws {
    let folder = try CommandFolder()
    let store = try store(folder)
    let output = folder.file("Output.sqlite")
    let models = options == CommandFolder.models ? [] : ["--models", ExampleFolder.models]
    let outcome = try folder.run(
      "book-migration", ["migrate", store, "--output", output, "--json"] + models + options, launcher: Self.launcher)
    #expect(outcome.code == 0, "\(outcome)")
    let peak = try peak(outcome)
    #expect(peak <= 64 << 20, "\(peak >> 10) KiB")
    try expectSame(output, store)
  }

  @Test("I7: such a value goes into ordinary tables and is read back within 64 MiB")
  func ordinaryTables() throws {
    let folder = try CommandFolder()
    let (store, output) = (try store(folder), folder.file("Plain.sqlite"))
    let outcome = try folder.run(
      "godwit",
      ["migrate", store, "--models", ExampleFolder.models, "--identity", "--to-sqlite", "plain", "--output", output]
        + ["--json"], launcher: Self.launcher)
    #expect(outcome.code == 0, "\(outcome)")
    let peak = try peak(outcome)
    #expect(peak <= 64 << 20, "\(peak >> 10) KiB")
    let queue = try DatabaseQueue(path: output)
    defer { try? queue.close() }
    try queue.inDatabase { db in
      try db.execute(sql: "ATTACH ? AS old", arguments: [store])
      let same = "SELECT count(*) FROM book p JOIN old.ZBOOK q ON q.Z_PK = p.id WHERE p.title = q.ZTITLE"
      #expect(try Int.fetchOne(db, sql: same) == Int.fetchOne(db, sql: "SELECT count(*) FROM old.ZBOOK"))
    }
  }

  @Test("I5, I7: killed within such a row and resumed, the run ends with the undisturbed bytes, within 64 MiB")
  func killed() throws {
    let folder = try CommandFolder()
    let store = try store(folder)
    let (whole, output) = (folder.file("Whole.sqlite"), folder.file("Killed.sqlite"))
    let arguments = ["--checkpoint-every", "20kB", "--json"] + CommandFolder.models
    #expect(try folder.run("book-migration", ["migrate", store, "--output", whole] + arguments).code == 0)
    let job = try JobDirectory(destination: output)
    let process = try CommandProcess("book-migration", ["migrate", store, "--output", output] + arguments, in: folder)
    // The books before the long one take less than a megabyte.
    func size(_ name: String) -> Int {
      (try? FileManager.default.attributesOfItem(atPath: job.path + "/" + name)[.size]) as? Int ?? 0
    }
    let working = {
      (try? FileManager.default.contentsOfDirectory(atPath: job.path))?.contains { size($0) > 30 << 20 } ?? false
    }
    while process.isRunning, !working() { usleep(500) }
    process.send(SIGKILL)
    #expect(try process.wait().code == 128 + SIGKILL)
    let outcome = try folder.run("book-migration", ["resume", output, "--json"], launcher: Self.launcher)
    #expect(outcome.code == 0, "\(outcome)")
    let peak = try peak(outcome)
    #expect(peak <= 64 << 20, "\(peak >> 10) KiB")
    #expect(try CommandFolder.bytes(output) == CommandFolder.bytes(whole))
  }
}
