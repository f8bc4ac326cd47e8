import Foundation
import Streams
import Testing

@testable import MigrationJobs

/// A person puts the backup back by hand (`mv`) where a process was killed: a command always leads on.
@Suite("The life of a run, and a person's hand") struct LifeByHandTests {
  private let fileSystem = LocalFileSystem()

  private func job(_ fileSystem: any FileSystem = DyingFileSystem()) -> MigrationJob {
    MigrationJob(fileSystem: fileSystem)
  }

  /// A store that is closed, and where its run will be.
  private func stage() throws -> (JobTestFolder, JobDirectory) {
    let folder = try JobTestFolder()
    try StoreFixture.closed.write(to: folder.destination, in: folder)
    return (folder, try JobDirectory(destination: folder.destination))
  }

  private func cutOver(_ fileSystem: any FileSystem, _ folder: JobTestFolder) throws {
    let job = try folder.job()
    try StoreFixture.writeNew(to: job.newStore)
    _ = try CutOver(fileSystem: fileSystem, job: job).run(
      newStore: job.newStore, destination: job.destination, inPlace: true, backupSuffix: "backup-20250131T120000Z",
      verifySourceUnchanged: {})
  }

  /// As `mv`, which removes the name where both are of one file. False where there is no backup.
  private func putBack(_ folder: JobTestFolder) throws -> Bool {
    let backups = try StoreBackup.all(of: folder.destination, fileSystem).filter { $0.kind == .replaced }
    guard let backup = backups.last?.path else { return false }
    let (from, to) = (try fileSystem.status(backup), try fileSystem.status(folder.destination))
    if from?.inode == to?.inode {
      try fileSystem.remove(backup)
    } else {
      try fileSystem.rename(backup, to: folder.destination)
    }
    return true
  }

  @Test("A cut-over that died at any call: with the backup back in place nobody is told to finish it in vain")
  func afterCutOver() throws {
    var count = 0
    for call in 1...60 {
      let (folder, job) = try stage()
      guard (try? cutOver(DyingFileSystem(at: call), folder)) == nil else { continue }
      guard try putBack(folder) else { continue }
      count += 1
      let life = try RunLife.look(job, fileSystem)
      if life.answer(to: .resume) == .finish {
        #expect(throws: Never.self, "call \(call)") { try CutOver(fileSystem: fileSystem, job: job).resume() }
      }
      _ = try self.job().clean(folder.destination, all: true)
      #expect(try !job.exists(fileSystem), "call \(call)")
      #expect(
        [StoreFixture.wholeOld, StoreFixture.wholeNew].contains(
          try StoreFixture.look(at: folder.destination, in: folder)))
    }
    #expect(count > 3)
  }

  @Test("A rollback that died at any call: with the backup put back by hand it can be finished")
  func afterRollback() throws {
    var count = 0
    for call in 1...80 {
      let (folder, job) = try stage()
      try cutOver(DyingFileSystem(), folder)
      try job.remove(DyingFileSystem())
      guard (try? self.job(DyingFileSystem(at: call)).rollback(folder.destination)) == nil, try putBack(folder) else {
        continue
      }
      count += 1
      _ = try self.job().clean(folder.destination, all: true)
      #expect(try !job.exists(fileSystem), "call \(call)")
      #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeOld, "call \(call)")
    }
    #expect(count > 10)
  }

  @Test("Giving up a cut-over that dies at any call leaves none behind that has lost its new store")
  func whileGivingUp() throws {
    var count = 0
    for call in 1...60 {
      let (folder, job) = try stage()
      _ = try? cutOver(DyingFileSystem(at: 16), folder)
      guard try RunLife.look(job, fileSystem).phase == .cutOver else { continue }
      count += 1
      _ = try? self.job(DyingFileSystem(at: call)).clean(folder.destination, all: true)
      let life = try RunLife.look(job, fileSystem)
      if life.phase == .cutOver { #expect(try fileSystem.status(job.newStore) != nil, "call \(call)") }
      #expect(life.phase != .done, "call \(call)")
      #expect(try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeOld)
    }
    #expect(count > 3)
  }
}
