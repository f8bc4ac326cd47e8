import Foundation
import GRDB
import Glibc
import Streams
import Testing

@testable import MigrationJobs
@testable import RunSupport

@Suite struct CutOverTests {
  private struct Changed: Error {}

  /// A folder with the job, the new store in it and the old one at the destination.
  private func stage(_ fixture: StoreFixture?) throws -> (JobTestFolder, JobDirectory) {
    let folder = try JobTestFolder()
    let job = try folder.job()
    if let fixture { try fixture.write(to: folder.destination, in: folder) }
    try StoreFixture.writeNew(to: job.newStore)
    return (folder, job)
  }

  @discardableResult private func cutOver(
    _ job: JobDirectory, _ fileSystem: any FileSystem = LocalFileSystem(), inPlace: Bool = true,
    verify: () throws -> Void = {}
  ) throws -> CutOverResult {
    try CutOver(fileSystem: fileSystem, job: job).run(
      newStore: job.newStore, destination: job.destination, inPlace: inPlace, backupSuffix: "v1",
      verifySourceUnchanged: verify)
  }

  /// One cut-over without a crash.
  private func countCalls(_ fixture: StoreFixture?, _ counting: DyingFileSystem) throws {
    let (folder, job) = try stage(fixture)
    let result = try cutOver(job, counting, inPlace: fixture != nil)
    #expect(result.backup == (fixture == nil ? nil : folder.file("Store.sqlite.v1")))
  }

  private func expectFinished(_ folder: JobTestFolder, _ job: JobDirectory, _ note: String) throws {
    #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeNew, "\(note)")
    #expect(try StoreFixture.look(at: folder.file("Store.sqlite.v1"), in: folder) == StoreFixture.wholeOld, "\(note)")
    let names = try LocalFileSystem().list(folder.path)
    #expect(names == [".Store.sqlite.godwit", "Store.sqlite", "Store.sqlite.v1", "Store.sqlite.v1.json"], "\(note)")
    #expect(try LocalFileSystem().list(job.path) == ["checkpoints", "cutover.json", "mappings", "models"], "\(note)")
  }

  /// The fixtures are what they say, or nothing below proves anything.
  @Test func theMainFileAloneIsNotTheStore() throws {
    for fixture in [StoreFixture.walOnly, .hotJournal] {
      let (folder, _) = try stage(fixture)
      #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeOld)
      for suffix in ["-wal", "-journal"] { try LocalFileSystem().remove(folder.destination + suffix) }
      let alone = try? StoreFixture.look(at: folder.destination, in: folder)
      #expect(alone != StoreFixture.wholeOld, "\(fixture): \(alone ?? "unreadable")")
    }
  }

  /// Trap 13: rows that only the -wal has are in the backup, and nothing of the old store stays beside the new one.
  @Test(arguments: StoreFixture.allCases)
  func inPlaceLeavesTheNewStoreAndTheWholeOldOneAsBackup(fixture: StoreFixture) throws {
    let (folder, job) = try stage(fixture)
    #expect(chmod(folder.destination, 0o640) == 0)
    let result = try cutOver(job)
    #expect(result == CutOverResult(destination: folder.destination, backup: folder.file("Store.sqlite.v1")))
    try expectFinished(folder, job, "\(fixture)")
    for name in ["Store.sqlite", "Store.sqlite.v1"] {
      #expect(try #require(try LocalFileSystem().status(folder.file(name))).mode & 0o777 == 0o640)
    }
  }

  /// I9 and trap 18, at every call and on both sides of it.
  @Test(arguments: StoreFixture.allCases, [true, false])
  func aCrashAtAnyCallLeavesOldOrNewWholeAndIsFinishedLater(fixture: StoreFixture, knowsLinks: Bool) throws {
    let counting = DyingFileSystem(knowsLinks: knowsLinks)
    try countCalls(fixture, counting)
    #expect(counting.calls > 10)
    for call in 1...counting.calls {
      for moment in DyingFileSystem.Moment.allCases {
        let note = "\(fixture), call \(call), \(moment)"
        let (folder, job) = try stage(fixture)
        #expect(throws: (any Error).self, "\(note)") {
          try cutOver(job, DyingFileSystem(at: call, moment, knowsLinks: knowsLinks))
        }
        let found = try StoreFixture.look(at: folder.destination, in: folder)
        #expect([StoreFixture.wholeOld, StoreFixture.wholeNew].contains(found), "\(note)")
        guard try isFinishable(fixture, job, note) else { continue }
        try cutOver(job, DyingFileSystem(knowsLinks: knowsLinks))
        try expectFinished(folder, job, note)
      }
    }
  }

  /// A hot journal that was rolled back just before the crash leaves nothing to prove that nobody else wrote since.
  /// Then the cut-over refuses, and the old store is whole.
  private func isFinishable(_ fixture: StoreFixture, _ job: JobDirectory, _ note: String) throws -> Bool {
    guard fixture == .hotJournal, let journal = try CutOverJournal.read(job, LocalFileSystem()),
      journal.phase == .started, try LocalFileSystem().status(job.destination + "-journal") == nil
    else { return true }
    let error = #expect(throws: BatchError.self, "\(note)") { try cutOver(job) }
    #expect(error?.code == .refused, "\(note)")
    #expect(try LocalFileSystem().statusOfName(job.destination + ".v1") == nil, "\(note)")
    return false
  }

  /// Trap 17.
  @Test func aCrashDuringTheRecoveryFromACrashIsFinishedToo() throws {
    let counting = DyingFileSystem()
    try countCalls(.walOnly, counting)
    for first in 1...counting.calls {
      for second in stride(from: 1, through: counting.calls, by: 5) {
        let (folder, job) = try stage(.walOnly)
        _ = try? cutOver(job, DyingFileSystem(at: first, .after))
        _ = try? cutOver(job, DyingFileSystem(at: second))
        let found = try StoreFixture.look(at: folder.destination, in: folder)
        #expect([StoreFixture.wholeOld, StoreFixture.wholeNew].contains(found), "\(first), \(second)")
        try cutOver(job)
        try expectFinished(folder, job, "\(first), \(second)")
      }
    }
  }

  @Test func aNewDestinationGetsTheStoreAtAnyCrash() throws {
    let counting = DyingFileSystem()
    try countCalls(nil, counting)
    for knowsLinks in [true, false] {
      for call in 1...counting.calls {
        for moment in DyingFileSystem.Moment.allCases {
          let (folder, job) = try stage(nil)
          _ = try? cutOver(job, DyingFileSystem(at: call, moment, knowsLinks: knowsLinks), inPlace: false)
          if try LocalFileSystem().status(folder.destination) != nil {
            #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeNew)
          }
          try cutOver(job, inPlace: false)
          #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeNew)
          try CutOver(fileSystem: LocalFileSystem(), job: job).clear()
          #expect(try LocalFileSystem().list(job.path) == ["checkpoints", "mappings", "models"], "call \(call)")
        }
      }
    }
  }

  /// Trap 13: a stale -wal beside the destination would be applied to the new store.
  @Test(arguments: ["", "-wal", "-journal"]) func aNewDestinationIsNeverWrittenOver(suffix: String) throws {
    let (folder, job) = try stage(nil)
    try LocalFileSystem().writeAndSync([1], to: folder.destination + suffix)
    let error = #expect(throws: BatchError.self) { try cutOver(job, inPlace: false) }
    #expect(error?.code == .refused)
    #expect(try LocalFileSystem().readAll(folder.destination + suffix, cap: 10) == [1])
    #expect(try LocalFileSystem().status(job.cutOver) == nil)
  }

  /// Whatever the caller still has to do after a cut-over may be interrupted as well.
  @Test func aFinishedCutOverIsReportedAgainUntilItIsCleared() throws {
    let (folder, job) = try stage(.closed)
    let result = try cutOver(job)
    #expect(try cutOver(job) { throw Changed() } == result)
    let cutOver = CutOver(fileSystem: LocalFileSystem(), job: job)
    #expect(try cutOver.resume() == result)
    try cutOver.clear()
    try cutOver.clear()
    #expect(try cutOver.resume() == nil)
    #expect(try !cutOver.isPending())
    try expectFinishedStore(folder)
  }

  private func expectFinishedStore(_ folder: JobTestFolder) throws {
    #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeNew)
  }

  /// The journal goes behind all that matters, so that a job whose removal was interrupted is seen as finished.
  @Test(arguments: [false, true]) func aJobWhoseRemovalWasInterruptedIsStillFinished(hasSuccessor: Bool) throws {
    var call = 1
    var isComplete = false
    while !isComplete {
      var (folder, job) = try stage(.closed)
      if hasSuccessor { job = try job.succeeding(LocalFileSystem()) }
      let result = try cutOver(job, DyingFileSystem())
      isComplete = (try? job.remove(DyingFileSystem(at: call))) != nil
      let files = try LocalFileSystem().status(job.path) == nil ? [] : LocalFileSystem().list(job.path)
      let isEmpty = files.allSatisfy { [FilePaths.name(of: job.checkpoints), "lease"].contains($0) }
      let found = try job.current(LocalFileSystem())
      #expect(try isEmpty || CutOver(fileSystem: LocalFileSystem(), job: found).resume() == result, "call \(call)")
      try expectFinishedStore(folder)
      if try job.exists(LocalFileSystem()) { try job.remove(DyingFileSystem()) }
      call += 1
    }
    #expect(call > 5)
  }

  /// What came in the last moment of an exchange gets the store's name back, but not beside a log of the new store.
  @Test(arguments: [false, true]) func aFileThatCameInTheLastMomentIsNotLost(hasLog: Bool) throws {
    let (folder, job) = try stage(.closed)
    var call = 1
    while try LocalFileSystem().status(job.newStore) != nil {
      call += 1
      _ = try? cutOver(job, DyingFileSystem(at: call, .after))
      if try CutOver(fileSystem: LocalFileSystem(), job: job).isPending() { break }
    }
    while try LocalFileSystem().status(job.newStore) != nil {
      call += 1
      _ = try? CutOver(fileSystem: DyingFileSystem(at: call, .after), job: job).resume()
    }
    #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeNew)
    try LocalFileSystem().writeAndSync([1, 2, 3], to: job.newStore)
    if hasLog { try LocalFileSystem().writeAndSync([1], to: folder.destination + "-wal") }
    let resumed = try? CutOver(fileSystem: LocalFileSystem(), job: job).resume()
    #expect((resumed != nil) == hasLog)
    try LocalFileSystem().remove(folder.destination + "-wal")
    let paths = try LocalFileSystem().list(folder.path).map(folder.file).filter { $0.hasPrefix(folder.destination) }
    let kept = try paths.filter { try LocalFileSystem().readAll($0, cap: 1 << 20) == [1, 2, 3] }
    #expect(hasLog ? kept.count == 1 && kept[0].contains(".rolled-back-") : kept == [folder.destination], "\(paths)")
  }

  /// A log that came beside the old store while it was being taken away holds what somebody wrote.
  @Test(arguments: ["-wal", "-journal"]) func aLogThatADeadCutOverTookGetsItsNameBack(suffix: String) throws {
    let (folder, job) = try stage(.closed)
    var call = 1
    while try !CutOver(fileSystem: LocalFileSystem(), job: job).isPending() {
      _ = try? cutOver(job, DyingFileSystem(at: call, .after))
      call += 1
    }
    try LocalFileSystem().writeAndSync([1, 2, 3], to: job.file("beside" + suffix))
    let error = #expect(throws: BatchError.self) { try CutOver(fileSystem: LocalFileSystem(), job: job).resume() }
    #expect(error?.code == .refused)
    #expect(try LocalFileSystem().readAll(folder.destination + suffix, cap: 10) == [1, 2, 3])
  }

  @Test func aDestinationThatCameIntoBeingMeanwhileIsKept() throws {
    let (folder, job) = try stage(nil)
    // Dies right after the journal was written; then somebody else makes the file.
    _ = try? cutOver(job, DyingFileSystem(at: 7), inPlace: false)
    #expect(try CutOver(fileSystem: LocalFileSystem(), job: job).isPending())
    try LocalFileSystem().writeAndSync([1], to: folder.destination)
    #expect(throws: (any Error).self) { try cutOver(job, inPlace: false) }
    #expect(try LocalFileSystem().readAll(folder.destination, cap: 10) == [1])
  }
}

/// Another program that has a store open and does nothing.
private final class IdleConnection {
  private let process = Process()
  private let input = Pipe()
  /// What it read.
  let rows: String

  init(_ store: String) throws {
    let output = Pipe()
    process.executableURL = LeaseProcess.python.map { URL(fileURLWithPath: $0) }
    process.arguments = [
      "-c",
      "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); print(c.execute('select count(*) from ZROW').fetchone()[0], flush=True); sys.stdin.read()",
      store,
    ]
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    rows = said.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}

@Suite struct CutOverRefusalTests {
  private let fileSystem = LocalFileSystem()

  private func refusal(_ folder: JobTestFolder, _ verify: () throws -> Void = {}) throws -> BatchError? {
    let job = try folder.job()
    try StoreFixture.writeNew(to: job.newStore)
    return #expect(throws: BatchError.self) {
      try CutOver(fileSystem: fileSystem, job: job).run(
        newStore: job.newStore, destination: job.destination, inPlace: true, backupSuffix: "v1",
        verifySourceUnchanged: verify)
    }
  }

  @Test func aSourceThatChangedIsNotTouched() throws {
    let folder = try JobTestFolder()
    try StoreFixture.walOnly.write(to: folder.destination, in: folder)
    let before = try folder.contents()
    let error = try refusal(folder) { throw BatchError(.refused, "changed") }
    #expect(error?.message == "changed")
    #expect(try folder.contents().filter { before[$0.key] != nil } == before)
    #expect(try fileSystem.status(try folder.job().cutOver) == nil)
  }

  @Test func aStoreThatIsWrittenDuringTheVerificationIsRefused() throws {
    let folder = try JobTestFolder()
    try StoreFixture.closed.write(to: folder.destination, in: folder)
    let error = try refusal(folder) {
      let queue = try DatabaseQueue(path: folder.destination)
      try queue.write { try $0.execute(sql: "DELETE FROM ZROW WHERE Z_PK = 1") }
      try queue.close()
    }
    #expect(error?.code == .refused)
  }

  /// A row that another program wrote between a crash and the resume must not vanish into the backup.
  @Test(arguments: [StoreFixture.closed, .walOnly])
  func aStoreThatWasWrittenSinceTheCrashIsRefused(fixture: StoreFixture) throws {
    var refusals = 0
    for call in 1...20 {
      let folder = try JobTestFolder()
      try fixture.write(to: folder.destination, in: folder)
      let job = try folder.job()
      try StoreFixture.writeNew(to: job.newStore)
      _ = try? CutOver(fileSystem: DyingFileSystem(at: call), job: job).run(
        newStore: job.newStore, destination: job.destination, inPlace: true, verifySourceUnchanged: {})
      let cutOver = CutOver(fileSystem: fileSystem, job: job)
      guard try cutOver.isPending(), try fileSystem.status(job.newStore) != nil else { continue }
      let queue = try DatabaseQueue(path: folder.destination)
      try queue.write { try $0.execute(sql: "INSERT INTO ZROW VALUES(1000, 'late')") }
      try queue.close()
      let error = #expect(throws: BatchError.self) { try cutOver.resume() }
      #expect(error?.code == .refused)
      #expect(try StoreFixture.look(at: folder.destination, in: folder).hasPrefix("61 "))
      refusals += 1
    }
    #expect(refusals > 4)
  }

  @Test func aStoreThatIsOpenElsewhereIsRefused() throws {
    let folder = try JobTestFolder()
    try StoreFixture.closed.write(to: folder.destination, in: folder)
    // A lock of another open file stands for another process: to the kernel both are other owners.
    let file = try fileSystem.open(folder.destination, .update)
    #expect(try file.lock(.shared, start: (1 << 30) + 2, length: 510))
    #expect(try refusal(folder)?.message == "the old store is open in another process")
    file.close()
    // Nothing is lost by it: the cut-over is finished later.
    #expect(try CutOver(fileSystem: fileSystem, job: try folder.job()).resume() != nil)
    #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeNew)
  }

  /// A connection in WAL mode holds a lock as long as it is open, though it does nothing.
  @Test(.enabled(if: LeaseProcess.python != nil, "python3 is not installed"))
  func aStoreWithAnIdleConnectionIsRefusedAndReplacedOnceItIsClosed() throws {
    let folder = try JobTestFolder()
    try StoreFixture.walOnly.write(to: folder.destination, in: folder)
    // In a process of its own: what closes a file of this one drops the locks that SQLite has here.
    let application = try IdleConnection(folder.destination)
    #expect(application.rows == "\(StoreFixture.oldRows)")
    #expect(try refusal(folder)?.message == "the old store is open in another process")
    #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeOld)
    application.end()
    #expect(try CutOver(fileSystem: fileSystem, job: try folder.job()).resume() != nil)
    #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeNew)
    #expect(try StoreFixture.look(at: folder.file("Store.sqlite.v1"), in: folder) == StoreFixture.wholeOld)
  }

  @Test(arguments: ["Store.sqlite.v1", "Store.sqlite.v1-wal"]) func aTakenBackupNameIsRefused(name: String) throws {
    let folder = try JobTestFolder()
    try StoreFixture.closed.write(to: folder.destination, in: folder)
    try fileSystem.writeAndSync([1], to: folder.file(name))
    #expect(try refusal(folder)?.code == .refused)
    #expect(try fileSystem.readAll(folder.file(name), cap: 10) == [1])
    #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeOld)
  }

  @Test func anotherJobsNewStoreOrAnOpenOneIsRefused() throws {
    let folder = try JobTestFolder()
    try StoreFixture.closed.write(to: folder.destination, in: folder)
    let job = try folder.job()
    let cutOver = CutOver(fileSystem: fileSystem, job: job)
    try StoreFixture.writeNew(to: folder.file("elsewhere.sqlite"))
    #expect(throws: BatchError.self) {
      try cutOver.run(
        newStore: folder.file("elsewhere.sqlite"), destination: job.destination, inPlace: true,
        verifySourceUnchanged: {})
    }
    try StoreFixture.writeNew(to: job.newStore)
    try fileSystem.writeAndSync([1], to: job.newStore + "-wal")
    let error = #expect(throws: BatchError.self) {
      try cutOver.run(
        newStore: job.newStore, destination: job.destination, inPlace: true, verifySourceUnchanged: {})
    }
    #expect(error?.code == .failed)
    #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeOld)
  }

  @Test func aJournalThatCannotBeReadEndsInAnErrorAndNotInASecondCutOver() throws {
    let folder = try JobTestFolder()
    try StoreFixture.closed.write(to: folder.destination, in: folder)
    let job = try folder.job()
    for text in ["", "{}", "{\"format\": 2}", "garbage"] {
      try fileSystem.writeAndSync(Array(text.utf8), to: job.cutOver)
      #expect(try refusal(folder)?.code == .failed)
      try fileSystem.remove(job.newStore)
    }
    #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeOld)
  }
}
