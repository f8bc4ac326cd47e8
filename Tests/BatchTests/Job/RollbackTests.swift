import Foundation
import GRDB
import Streams
import Testing

@testable import CoreDataStore
@testable import MigrationJobs
@testable import RunSupport

@Suite("The way back") struct RollbackTests {
  private static let suffix = "backup-20250131T120000Z"
  private let fileSystem = LocalFileSystem()

  private func job(_ fileSystem: any FileSystem = DyingFileSystem()) -> MigrationJob {
    MigrationJob(fileSystem: fileSystem)
  }

  /// A store that a cut-over replaced; its old and its new state have one value outside each besides a common one.
  private func migrated(_ fixture: StoreFixture = .closed) throws -> JobTestFolder {
    let folder = try JobTestFolder()
    let job = try folder.job()
    try fixture.write(to: folder.destination, in: folder)
    try external(["common", "old"], in: folder)
    try StoreFixture.writeNew(to: job.newStore)
    _ = try CutOver(fileSystem: DyingFileSystem(), job: job).run(
      newStore: job.newStore, destination: job.destination, inPlace: true, backupSuffix: Self.suffix,
      verifySourceUnchanged: {})
    try job.remove(DyingFileSystem())
    return folder
  }

  private func external(_ names: [String], in folder: JobTestFolder) throws {
    let files = ExternalDataFolder(store: folder.destination).files
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
    for name in names { try Data(name.utf8).write(to: URL(fileURLWithPath: files + "/" + name)) }
  }

  private func externalNames(_ store: String) throws -> [String] {
    try fileSystem.list(ExternalDataFolder(store: store).files)
  }

  private func write(_ folder: JobTestFolder) throws {
    let queue = try DatabaseQueue(path: folder.destination)
    try queue.write { try $0.execute(sql: "INSERT INTO ZROW VALUES(1000, 'late')") }
    try queue.close()
  }

  private func expectRolledBack(_ folder: JobTestFolder, _ note: String) throws {
    #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeOld, "\(note)")
    let setAside = try StoreBackup.all(of: folder.destination, fileSystem)
    #expect(setAside.map(\.kind) == [.setAside], "\(note)")
    #expect(
      try StoreFixture.look(at: try #require(setAside.first).path, in: folder) == StoreFixture.wholeNew, "\(note)")
    #expect(try externalNames(folder.destination).contains("old"), "\(note)")
    let rest = try fileSystem.list(folder.path).filter { !$0.hasSuffix("_SUPPORT") && !$0.contains("rolled-back") }
    #expect(rest == ["Store.sqlite"], "\(note)")
  }

  @Test(
    "The old store comes back whole with its external data, and the new one is set aside",
    arguments: StoreFixture.allCases)
  func wholeAndBack(fixture: StoreFixture) throws {
    let folder = try migrated(fixture)
    let report = try job().rollback(folder.destination)
    #expect(report.restored == folder.file("Store.sqlite." + Self.suffix) && report.setAside != nil)
    try expectRolledBack(folder, "\(fixture)")
    // What a second call would do again, it must not undo.
    let error = #expect(throws: BatchError.self) { try job().rollback(folder.destination) }
    #expect(error?.code == .refused)
    try expectRolledBack(folder, "\(fixture), twice")
  }

  @Test(
    "I9: a crash at any call of a rollback leaves one store whole, and another call or a resume finishes it",
    arguments: [true, false])
  func crashes(knowsLinks: Bool) throws {
    let counting = DyingFileSystem(knowsLinks: knowsLinks)
    let undisturbed = try migrated()
    _ = try job(counting).rollback(undisturbed.destination)
    #expect(counting.calls > 20)
    for call in 1...counting.calls {
      for moment in DyingFileSystem.Moment.allCases {
        let note = "call \(call), \(moment)"
        let folder = try migrated()
        #expect(throws: (any Error).self, "\(note)") {
          try job(DyingFileSystem(at: call, moment, knowsLinks: knowsLinks)).rollback(folder.destination)
        }
        let found = try StoreFixture.look(at: folder.destination, in: folder)
        #expect([StoreFixture.wholeOld, StoreFixture.wholeNew].contains(found), "\(note)")
        try finish(folder, byResume: call.isMultiple(of: 2))
        try expectRolledBack(folder, note)
      }
    }
  }

  @Test(
    "A rollback that dies, and whose backup a person puts back, leaves nothing behind of a store that it never set aside"
  )
  func putBackByHand() throws {
    let (counting, undisturbed) = (DyingFileSystem(), try migrated())
    _ = try job(counting).rollback(undisturbed.destination)
    for call in 1...counting.calls {
      let folder = try migrated()
      _ = try? job(DyingFileSystem(at: call, .before)).rollback(folder.destination)
      let backups = try StoreBackup.all(of: folder.destination, fileSystem).filter { $0.kind == .replaced }
      guard let backup = backups.first else { continue }
      try fileSystem.rename(backup.path, to: folder.destination)
      _ = try? job().rollback(folder.destination)
      let (names, kept) = (try fileSystem.list(folder.path), try StoreBackup.all(of: folder.destination, fileSystem))
      let strays = names.filter { $0.hasSuffix(".new") || $0.contains("rolled-back") && $0.hasSuffix(".json") }
      #expect(
        strays.allSatisfy { stray in kept.contains { $0.path + ".json" == folder.file(stray) } },
        "call \(call): \(names)")
    }
  }

  /// Where nothing was begun yet a resume refuses, and where all was done there is no backup any more.
  private func finish(_ folder: JobTestFolder, byResume: Bool) throws {
    if byResume { _ = try? job().resume(folder.destination) { RunMonitor(interval: $0) } }
    if try StoreBackup.all(of: folder.destination, fileSystem).contains(where: { $0.kind == .replaced }) {
      _ = try job().rollback(folder.destination)
    } else if try JobDirectory(destination: folder.destination).exists(fileSystem) {
      _ = try? job().rollback(folder.destination)
    }
  }

  @Test("A store that was written since its migration is refused, and by force set aside with what was written")
  func writtenSince() throws {
    let folder = try migrated()
    try write(folder)
    try external(["late"], in: folder)
    let error = #expect(throws: BatchError.self) { try job().rollback(folder.destination) }
    #expect(error?.code == .refused && error?.description.contains("--force") == true)
    #expect(try StoreFixture.look(at: folder.destination, in: folder).hasPrefix("8 "))
    let report = try job().rollback(folder.destination, force: true)
    #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeOld)
    let setAside = try #require(report.setAside)
    #expect(try StoreFixture.look(at: setAside, in: folder).hasPrefix("8 "))
    #expect(try externalNames(setAside) == ["common", "late", "old"])
  }

  @Test("Values that the new store lost outside are there again")
  func externalData() throws {
    let folder = try migrated()
    try fileSystem.remove(ExternalDataFolder(store: folder.destination).files + "/old")
    _ = try job().rollback(folder.destination)
    #expect(try externalNames(folder.destination) == ["common", "old"])
  }

  @Test("A write in WAL mode that leaves page 1 and the samples alone is seen by the time of the change")
  func quietWrite() throws {
    let folder = try migrated()
    let before = try StoreState(folder.destination, fileSystem)
    utimensat(AT_FDCWD, folder.destination, [timespec(tv_sec: 1, tv_nsec: 5), timespec(tv_sec: 1, tv_nsec: 5)], 0)
    #expect(try StoreState(folder.destination, fileSystem).fingerprint == before.fingerprint)
    #expect(throws: BatchError.self) { try job().rollback(folder.destination) }
  }

  @Test("Store, backup and receipt may be moved together")
  func moved() throws {
    let folder = try migrated()
    let other = try JobTestFolder()
    for name in try fileSystem.list(folder.path) {
      try FileManager.default.moveItem(atPath: folder.file(name), toPath: other.file(name))
    }
    _ = try job().rollback(other.destination)
    try expectRolledBack(other, "moved")
  }

  @Test("Without a receipt nothing is known of the new store, and a store or a backup in use is left alone")
  func refusals() throws {
    let folder = try migrated()
    let backup = folder.file("Store.sqlite." + Self.suffix)
    for path in [folder.destination, backup] {
      let file = try fileSystem.open(path, .update)
      #expect(try file.lock(.shared, start: (1 << 30) + 2, length: 510))
      let error = #expect(throws: BatchError.self) { try job().rollback(folder.destination) }
      #expect(error?.message.contains("is open in another process") == true)
      file.close()
      #expect(try !JobDirectory(destination: folder.destination).exists(fileSystem))
    }
    _ = try job().rollback(folder.destination)
    try expectRolledBack(folder, "after the refusals")
    let another = try migrated()
    try fileSystem.remove(another.file("Store.sqlite.\(Self.suffix).json"))
    let error = #expect(throws: BatchError.self) { try job().rollback(another.destination) }
    #expect(error?.message.contains("cannot be known") == true)
    _ = try job().rollback(another.destination, force: true)
    try expectRolledBack(another, "by force")
  }

  @Test(
    "A clock that was set back misleads neither a rollback nor the removal of old backups: the last one counts, not the latest name"
  )
  func clockSetBack() throws {
    let folder = try migrated()
    let (last, earlier) = (
      folder.file("Store.sqlite." + Self.suffix), folder.file("Store.sqlite.backup-20990101T000000Z")
    )
    try StoreFixture.writeNew(to: earlier)
    try BackupReceipt(new: try StoreState(earlier, fileSystem), ownsFolder: false).write(for: earlier, fileSystem)
    let backups = try StoreBackup.all(of: folder.destination, fileSystem)
    #expect(backups.map(\.path) == [last, earlier])
    let future = 3e9
    #expect(BackupLimit.count(1).surplus(backups, latest: last, now: 0).map(\.path) == [earlier])
    #expect(BackupLimit.days(1).surplus(backups, latest: last, now: future).map(\.path) == [])
    #expect(BackupLimit.days(1).surplus(backups, latest: last, now: 4e9).map(\.path) == [earlier])
    for none in [BackupLimit.count(0), .days(0)] { #expect(none.surplus(backups, latest: last, now: 4e9).count == 2) }
    let report = try job().rollback(folder.destination)
    #expect(report.restored == last)
    #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeOld)
  }

  @Test("A store that is gone comes back from its backup")
  func missingStore() throws {
    let folder = try migrated()
    try fileSystem.remove(folder.destination)
    let report = try job().rollback(folder.destination)
    #expect(report.setAside == nil)
    #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeOld)
  }
}
