import Foundation
import GRDB
import Glibc
import Testing

@testable import MigrationJobs

// Every test has a run of its own that really is interrupted; one after the other, so that they do not slow each other
// down.
@Suite("A run that was interrupted", .serialized)
struct InterruptedRunTests {
  private let folder: CommandFolder
  private let store: String

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 6000)
  }

  private func expectResumable(_ text: String = "verified") throws {
    let outcome = try folder.run("book-migration", ["resume", store])
    #expect(outcome.code == 0 && outcome.output.contains(text), "\(outcome)")
    #expect(try ExampleFolder.rows(store, "PRAGMA integrity_check") == ["[integrity_check:\"ok\"]"])
    #expect(try folder.tree().keys.filter { $0.contains(".godwit") && !$0.hasSuffix(".godwit-report") }.isEmpty)
  }

  // Trap 12: a stopped owner keeps its lease, so that it cannot go on beside another.
  @Test("A live run keeps others away, even while it is stopped, and ends undisturbed")
  func lease() throws {
    let (process, _) = try folder.running(store)
    process.send(SIGSTOP)
    // The kernel stops the process in its own time; what it still writes is no change by the others.
    usleep(200_000)
    let takeOver = "resume --take-over \(store)"
    let words = [store, "process \(process.pid)", "is at work on this store", "wait until it ends", takeOver]
    for arguments in [["migrate", store] + CommandFolder.models, ["resume", store]] {
      try expectRefusal(21, words, arguments, in: folder)
    }
    let status = try folder.run("godwit", ["status", store])
    #expect(status.code == 0 && status.output.contains("running"))
    process.send(SIGCONT)
    let outcome = try process.wait()
    #expect(outcome.code == 0 && outcome.output.contains("verified"), "\(outcome)")
  }

  /// The bytes that a migration of the same objects has which nobody disturbs.
  private func undisturbedBytes() throws -> Data {
    let other = try folder.sample("Undisturbed.sqlite", rows: 6000)
    let outcome = try folder.run("book-migration", ["migrate", other] + CommandFolder.models)
    #expect(outcome.code == 0, "\(outcome)")
    return try CommandFolder.bytes(other)
  }

  // Trap 12.
  @Test("A stopped owner is killed by its successor, which ends with the bytes of an undisturbed run")
  func takeOver() throws {
    let undisturbed = try undisturbedBytes()
    let (process, _) = try folder.running(store)
    process.send(SIGSTOP)
    let outcome = try folder.run("book-migration", ["resume", store, "--take-over"])
    #expect(outcome.code == 0 && outcome.output.contains("verified"), "\(outcome)")
    #expect(try process.wait().code == 128 + SIGKILL)
    #expect(try CommandFolder.bytes(store) == undisturbed)
  }

  /// Gets SQLite's locks of a file as soon as nobody else has them: the kernel hands them over.
  private func lock(_ path: String) throws -> FileHandle {
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    var range = flock()
    (range.l_type, range.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
    (range.l_start, range.l_len) = (Int(CutOver.sqliteLockStart), Int(CutOver.sqliteLockLength))
    // F_OFD_SETLKW, which Glibc's module does not have.
    #expect(fcntl(file.fileDescriptor, 38, &range) == 0)
    return file
  }

  // The first one alone would end nothing there: a cut-over runs to its end, and waits for its store.
  @Test("A second SIGINT ends a run at once with 130, in the cut-over too, and it can be resumed")
  func secondInterrupt() throws {
    try folder.keepInLog(store)
    let (process, job) = try folder.running(store)
    let file = try lock(store)
    while process.isRunning, !FileManager.default.fileExists(atPath: job + "/cutover.json") { usleep(1000) }
    while process.isRunning {
      process.send(SIGINT)
      usleep(300_000)
    }
    let ended = try process.wait()
    #expect(ended.code == 130 && ended.error.contains("ended at once; `book-migration status \(store)`"), "\(ended)")
    try file.close()
    try expectResumable()
  }

  enum Place: CaseIterable { case moved, moreMemory, otherMachine, clockSetBack, clockSetForward }

  @Test(
    "Moved, with other memory, on another machine, or when the clock was set: the bytes of an undisturbed run",
    arguments: Place.allCases)
  func elsewhere(_ place: Place) throws {
    let undisturbed = try undisturbedBytes()
    let job = try folder.interrupted(store)
    var (path, memory) = (store, "64M")
    switch place {
    case .moved:
      let moved = folder.newPath("moved")
      try FileManager.default.moveItem(atPath: folder.path, toPath: moved)
      path = moved + "/Library.sqlite"
    case .moreMemory: memory = "256M"
    case .otherMachine:
      let lease = try String(contentsOfFile: job + "/lease", encoding: .utf8)
      try lease.replacing(#/"bootID":"[^"]*"/#, with: #""bootID":"00000000-0000-4000-8000-000000000000""#)
        .write(toFile: job + "/lease", atomically: false, encoding: .utf8)
    case .clockSetBack: try setClock(of: job, to: Date(timeIntervalSinceNow: 86_400))
    case .clockSetForward: try setClock(of: job, to: Date(timeIntervalSince1970: 86_400))
    }
    let outcome = try folder.run("book-migration", ["resume", path, "--memory", memory])
    #expect(outcome.code == 0 && outcome.output.contains("verified"), "\(outcome)")
    #expect(try CommandFolder.bytes(path) == undisturbed)
  }

  /// What a run leaves that began at that time.
  private func setClock(of job: String, to time: Date) throws {
    let lease = try String(contentsOfFile: job + "/lease", encoding: .utf8)
    try lease.replacing(#/"started":"[^"]*"/#, with: "\"started\":\"\(time.ISO8601Format())\"")
      .write(toFile: job + "/lease", atomically: false, encoding: .utf8)
    for name in try FileManager.default.subpathsOfDirectory(atPath: job) {
      try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: job + "/" + name)
    }
  }

  @Test("A source that was written without a trace in its fingerprint is refused for its time of change")
  func changedTime() throws {
    _ = try folder.interrupted(store)
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 5)], ofItemAtPath: store)
    let outcome = try folder.run("book-migration", ["resume", store])
    #expect(outcome.code == 22 && outcome.error.contains("was written to since"), "\(outcome)")
  }

  enum Damage: String, CaseIterable {
    case truncated
    case flipped
    case empty
  }

  private func damage(_ path: String, _ damage: Damage) throws {
    var bytes = try CommandFolder.bytes(path)
    switch damage {
    case .truncated: bytes.removeLast(5)
    case .flipped: bytes[bytes.count / 2] ^= 0x10
    case .empty: bytes = Data()
    }
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  @Test("Only damaged checkpoints are refused, each named, and nothing is begun anew", arguments: Damage.allCases)
  func allDamaged(_ kind: Damage) throws {
    let job = try folder.interrupted(store)
    let checkpoints = CommandFolder.checkpoints(job)
    #expect(checkpoints.count >= 2)
    let source = try CommandFolder.bytes(store)
    for path in checkpoints { try damage(path, kind) }
    let outcome = try folder.run("book-migration", ["resume", store])
    #expect(outcome.code == 22, "\(outcome)")
    for word in checkpoints + ["no checkpoint can be used", "started again", "source is untouched"] {
      #expect(outcome.error.contains(word), "\(word): \(outcome.error)")
    }
    #expect(try CommandFolder.bytes(store) == source && CommandFolder.checkpoints(job) == checkpoints)
  }

  @Test("A damaged newest checkpoint sends the run back to the one before it", arguments: Damage.allCases)
  func newestDamaged(_ kind: Damage) throws {
    let job = try folder.interrupted(store)
    let newest = try #require(CommandFolder.checkpoints(job).last)
    try damage(newest, kind)
    let status = try folder.run("godwit", ["status", store])
    #expect(status.output.contains("problem: \(newest)"), "\(status)")
    try expectResumable()
  }

  @Test("A program without the policy refuses, naming it; the right one goes on")
  func missingPolicy() throws {
    let job = try folder.interrupted(store)
    let (source, checkpoints) = (try CommandFolder.bytes(store), CommandFolder.checkpoints(job))
    let outcome = try folder.run("godwit", ["resume", store])
    #expect(outcome.code == 20 && outcome.error.contains("LibraryBookPolicy"), "\(outcome)")
    #expect(try CommandFolder.bytes(store) == source && CommandFolder.checkpoints(job) == checkpoints)
    try expectResumable()
  }

  @Test("A source that changed meanwhile is refused and keeps its change")
  func changedSource() throws {
    _ = try folder.interrupted(store)
    let queue = try DatabaseQueue(path: store)
    try queue.write {
      try $0.execute(sql: "UPDATE ZUSER SET ZNAME = 'another' WHERE Z_PK = (SELECT min(Z_PK) FROM ZUSER)")
    }
    try queue.close()
    let source = try CommandFolder.bytes(store)
    let outcome = try folder.run("book-migration", ["resume", store])
    #expect(outcome.code == 22, "\(outcome)")
    for word in [store, "was written to since", "migrate \(store)", "--restart`", "nothing was written"] {
      #expect(outcome.error.contains(word), "\(word): \(outcome.error)")
    }
    #expect(try CommandFolder.bytes(store) == source)
  }

  @Test("SIGTERM and SIGINT end a run with 75, and it can be resumed", arguments: [SIGTERM, SIGINT])
  func stopped(signal: Int32) throws {
    let source = try CommandFolder.bytes(store)
    _ = try folder.interrupted(store, with: signal)
    #expect(try CommandFolder.bytes(store) == source)
    try expectResumable()
  }

  @Test("Another migration of the store is refused while one is interrupted")
  func secondMigration() throws {
    _ = try folder.interrupted(store)
    let words = [store, "interrupted migration", "resume \(store)`", "clean --all \(store)`", "nothing was written"]
    // The lease is asked for, which names who asked: all else stays.
    let before = try folder.tree().filter { !$0.key.hasSuffix("/lease") && !$0.key.isEmpty }
    let outcome = try folder.run("book-migration", ["migrate", store] + CommandFolder.models)
    #expect(outcome.code == 20)
    for word in words { #expect(outcome.error.contains(word), "\(word): \(outcome.error)") }
    #expect(try folder.tree().filter { !$0.key.hasSuffix("/lease") && !$0.key.isEmpty } == before)
  }

  @Test("A store that is open elsewhere at the cut-over is left alone, and the cut-over is finished later")
  func inUse() throws {
    let source = try CommandFolder.bytes(store)
    let job = try refusedAtCutOver()
    #expect(try CommandFolder.bytes(store) == source)
    let status = try folder.run("godwit", ["status", store])
    #expect(status.code == 0 && status.output.contains("cut-over"), "\(status)")
    // Nothing is left that would need a policy.
    let outcome = try folder.run("godwit", ["resume", store])
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try CommandFolder.bytes(store) != source && !FileManager.default.fileExists(atPath: job))
  }

  // Trap 18: what a kill in the removal leaves is the journal of the cut-over alone, or an empty directory.
  @Test("Its directory half removed at the very end is a finished run", arguments: [true, false])
  func halfRemoved(keepsJournal: Bool) throws {
    let job = try refusedAtCutOver()
    let journal = try String(contentsOfFile: job + "/cutover.json", encoding: .utf8)
    #expect(try folder.run("book-migration", ["resume", store]).code == 0)
    try FileManager.default.createDirectory(atPath: job, withIntermediateDirectories: true)
    if keepsJournal {
      try journal.replacing(#/"phase" : "[a-z]+"/#, with: #""phase" : "done""#)
        .write(toFile: job + "/cutover.json", atomically: false, encoding: .utf8)
    }
    let done = try CommandFolder.bytes(store)
    let outcome = try folder.run("book-migration", ["resume", store])
    #expect(outcome.code == (keepsJournal ? 0 : 20), "\(outcome)")
    #expect(try CommandFolder.bytes(store) == done && !FileManager.default.fileExists(atPath: job))
  }

  /// Runs a migration up to its cut-over, which is refused since the store is read here. Returns the job directory.
  ///
  /// A run keeps others away until just before its cut-over, so this one has to slip in between: where it comes too
  /// late, the run is done and everything begins again with the old store.
  private func refusedAtCutOver() throws -> String {
    let original = try CommandFolder.bytes(store)
    for _ in 0..<20 {
      let (process, job) = try folder.running(store)
      let outcome = try reading(store, whenever: process) ?? process.wait()
      if outcome.code == 20 {
        for word in [store, "open in another process", "Close every program", "resume \(store)`"] {
          #expect(outcome.error.contains(word), "\(word): \(outcome.error)")
        }
        return job
      }
      #expect(outcome.code == 0, "\(outcome)")
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        try FileManager.default.removeItem(atPath: folder.file(name))
      }
      try Data(original).write(to: URL(fileURLWithPath: store))
    }
    throw CommandProcess.Missing(description: "20 runs were done before the store could be read")
  }

  /// Opens the store as soon as the run lets go of it and reads until the process ends; nil when the process was
  /// faster.
  private func reading(_ store: String, whenever process: CommandProcess) throws -> CommandProcess.Outcome? {
    while process.isRunning {
      do {
        let queue = try DatabaseQueue(path: store)
        defer { try? queue.close() }
        return try queue.read { db in
          _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM ZUSER")
          return try process.wait()
        }
      } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
        usleep(100)
      }
    }
    return nil
  }
}
