import Foundation
import GRDB
import Testing

/// What is made of an XML store for a migration is only gone on from where a run has begun with it.
@Suite("XML stores that are replaced while nothing can go on, or while a process is at work", .serialized)
struct XMLStoreReplacedTests {
  private let store: XMLStoreFolder
  private var output: String { store.folder.file("New.sqlite") }
  private var copy: String { store.folder.file(".New.sqlite.from-xml") }
  private var words: [String] { ["migrate", store.xml, "--output", output] + store.arguments }

  init() throws { store = try XMLStoreFolder(rows: 600) }

  private func kill(at phase: String) throws {
    let hook = "sh -c '[ $GODWIT_PHASE != \(phase) ] || kill -9 $PPID'"
    let killed = try store.folder.run("godwit", words + ["--on-phase", hook])
    try #require(killed.code == 128 + SIGKILL, "\(killed)")
  }

  /// Another store under the same name, with an earlier time: as `cp -p` puts a backup back.
  private func replace() throws {
    let other = try XMLStoreFolder(rows: 300, seed: 2)
    try FileManager.default.removeItem(atPath: store.xml)
    try FileManager.default.copyItem(atPath: other.xml, toPath: store.xml)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_600_000_000)], ofItemAtPath: store.xml)
  }

  private func objects(_ path: String) throws -> Int {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read { db in
      let tables = try String.fetchAll(
        db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%Z_ENT INTEGER, Z_OPT%'")
      return try tables.reduce(0) { try $0 + (Int.fetchOne(db, sql: "SELECT count(*) FROM \($1)") ?? 0) }
    }
  }

  @Test(
    "A run that was killed before its plan leaves nothing to go on from: the file that is there now is migrated",
    arguments: [[], ["--continue"]])
  func beforePlan(more: [String]) throws {
    try kill(at: "planned")
    #expect(FileManager.default.fileExists(atPath: copy))
    try replace()
    #expect(try store.folder.run("godwit", ["status", "--check", store.xml]).code == 3)
    let done = try store.folder.run("godwit", words + more)
    #expect(done.code == 0 && done.output.contains("verified"), "\(done)")
    let wanted = store.folder.file("Wanted.sqlite")
    _ = try store.godwit(["migrate", store.xml, "--output", wanted] + store.arguments)
    let (found, expected) = (try objects(output), try objects(wanted))
    #expect(found == expected && found > 0)
    #expect(!FileManager.default.fileExists(atPath: copy))
  }

  @Test("A run that is over but for its end is finished, whatever the XML store is by now")
  func afterCutOver() throws {
    try kill(at: "after-cut-over")
    try replace()
    let done = try store.folder.run("godwit", words + ["--continue"])
    #expect(done.code == 0, "\(done)")
    #expect(try store.folder.run("godwit", ["status", "--check", output]).code == 0)
  }

  @Test(
    "While a process is at work, each other command is refused with 21, and takes nothing away from it",
    arguments: [[], ["--continue"], ["--restart"]])
  func atWork(more: [String]) throws {
    let hold = store.folder.newPath("hold")
    try store.write("", to: hold)
    let process = try CommandProcess("godwit", words + ["--postpone-cut-over", hold, "--quiet"], in: store.folder)
    let plan = store.folder.file(".New.sqlite.godwit/plan.json")
    while process.isRunning, !FileManager.default.fileExists(atPath: plan) { usleep(1000) }
    let before = try FileManager.default.attributesOfItem(atPath: copy)[.systemFileNumber] as? Int
    try replace()
    let refused = try store.folder.run("godwit", words + more)
    #expect(refused.code == 21, "\(refused)")
    #expect(try FileManager.default.attributesOfItem(atPath: copy)[.systemFileNumber] as? Int == before)
    try FileManager.default.removeItem(atPath: hold)
    let done = try process.wait()
    #expect(done.code == 0, "\(done)")
  }
}
