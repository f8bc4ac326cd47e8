import Foundation
import GRDB
import Streams
import Testing

@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreExports

/// Stores whose last change was not finished: it is taken back on a private copy, and the store stays as it is.
@Suite struct HotJournalTests {
  let folder: MigrationFolder
  /// The same store before the change.
  let sound: String
  let store: String

  init() throws {
    folder = try MigrationFolder(MigrationModels.all)
    sound = try folder.sample("V1", rows: 600, seed: 21)
    store = try folder.place("hot")
    let scratch = try folder.copy(sound, as: "scratch")
    let queue = try DatabaseQueue(path: scratch)
    try queue.inDatabase { db in
      let table = try #require(
        try String.fetchOne(
          db, sql: "SELECT name FROM sqlite_schema WHERE sql LIKE '%Z_OPT%' AND name <> 'Z_PRIMARYKEY'"))
      _ = try String.fetchAll(db, sql: "PRAGMA journal_mode = DELETE")
      try db.execute(sql: "PRAGMA synchronous = OFF; PRAGMA cache_size = 2; BEGIN")
      // Written to the main file by the small cache, never committed: only the journal can take it back.
      try db.execute(sql: "UPDATE \(table) SET Z_OPT = Z_OPT + 77; DELETE FROM \(table) WHERE Z_PK % 2 = 0")
      for suffix in ["", "-journal"] {
        try FileManager.default.copyItem(atPath: scratch + suffix, toPath: store + suffix)
      }
      try db.execute(sql: "ROLLBACK")
    }
    try queue.close()
    #expect(try MigrationFolder.bytes(store) != MigrationFolder.bytes(sound))
  }

  /// The store's folder before and after must be the same, and no copy may be left.
  private func expectUntouched<R>(_ body: () throws -> R) throws -> R {
    let place = FilePaths.directory(of: store)
    let before = try MigrationFolder.tree(place)
    let result = try body()
    #expect(try MigrationFolder.tree(place) == before)
    return result
  }

  @Test("It is planned, inspected and exported as before the change, and what was done is told")
  func looks() throws {
    let plan = try expectUntouched { try folder.job().plan(folder.request(store)) }
    let expected = try folder.job().plan(folder.request(sound))
    #expect(plan.rows == expected.rows && plan.notes == expected.notes + [SourceStore.recoveryNote])
    let inspection = try expectUntouched {
      try StoreInspection(path: store, models: nil, fileSystem: LocalFileSystem())
    }
    let other = try StoreInspection(path: sound, models: nil, fileSystem: LocalFileSystem())
    #expect(inspection.entities.map(\.rows) == other.entities.map(\.rows) && inspection.problems.isEmpty)
    #expect(inspection.traps.contains(SourceStore.recoveryNote) && !other.traps.contains(SourceStore.recoveryNote))
    let reader = try StoreExport.open(store, LocalFileSystem())
    #expect(reader.isRecovered && reader.path == store)
    reader.close()
  }

  @Test(
    "It migrates to an output with the bytes of the store before the change, also when the run is stopped and resumed")
  func output() throws {
    let (whole, expected) = (try folder.place("output"), try folder.place("expected"))
    let report = try expectUntouched { try folder.migrate(folder.request(store, output: whole)) }
    _ = try folder.migrate(folder.request(sound, output: expected))
    #expect(report.notes.contains(SourceStore.recoveryNote) && report.isVerified)
    #expect(try MigrationFolder.bytes(whole) == MigrationFolder.bytes(expected))
    let resumed = try folder.place("resumed")
    let stop = StopAfter(5)
    let request = folder.request(store, output: resumed)
    let error = #expect(throws: BatchError.self) {
      try folder.job().migrate(request, monitor: stop.monitor(request.interval))
    }
    #expect(error?.code == .stopped)
    _ = try expectUntouched { try folder.job().resume(resumed) { RunMonitor(interval: $0) } }
    #expect(try MigrationFolder.bytes(resumed) == MigrationFolder.bytes(expected))
    let left = try FileManager.default.contentsOfDirectory(atPath: FilePaths.directory(of: resumed)).sorted()
    #expect(left == [".Store.sqlite.godwit-report", "Store.sqlite"])
  }

  @Test("It migrates in place; the backup is the store before the change")
  func inPlace() throws {
    let expected = try folder.place("expected")
    _ = try folder.migrate(folder.request(sound, output: expected))
    let report = try folder.migrate(folder.request(store))
    #expect(try MigrationFolder.bytes(store) == MigrationFolder.bytes(expected))
    let backup = try #require(report.backup)
    let sql = "SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT"
    #expect(try MigrationFolder.rows(backup, sql) == MigrationFolder.rows(sound, sql))
    #expect(!FileManager.default.fileExists(atPath: store + "-journal"))
  }

  @Test("A run of it does not go on after somebody changed the store")
  func changed() throws {
    let output = try folder.place("output")
    let request = folder.request(store, output: output)
    let stop = StopAfter(5)
    #expect(throws: BatchError.self) { try folder.job().migrate(request, monitor: stop.monitor(request.interval)) }
    // The application comes back: it recovers, which changes nothing, and then writes.
    let queue = try DatabaseQueue(path: store)
    try queue.inDatabase { db in
      _ = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema")
      try db.execute(sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1")
    }
    try queue.close()
    let error = #expect(throws: BatchError.self) { try folder.job().resume(output) { RunMonitor(interval: $0) } }
    #expect(error?.code == .badCheckpoint)
  }

  @Test("A store that even its journal does not make whole is an error that names it")
  func failures() throws {
    var bytes = [UInt8](try MigrationFolder.bytes(store))
    bytes.replaceSubrange(0..<100, with: [UInt8](repeating: 0x11, count: 100))
    var journal = [UInt8](try MigrationFolder.bytes(store + "-journal"))
    // A page size that SQLite does not accept.
    journal.replaceSubrange(24..<28, with: [0, 0, 0, 3])
    try Data(bytes).write(to: URL(fileURLWithPath: store))
    try Data(journal).write(to: URL(fileURLWithPath: store + "-journal"))
    let error = #expect(throws: BatchError.self) { try folder.job().plan(folder.request(store)) }
    #expect(error?.code == .badStore && error?.path == store)
  }
}
