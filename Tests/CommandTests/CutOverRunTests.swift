import Foundation
import Streams
import Testing

@testable import MigrationJobs

@Suite("The cut-over of a run", .serialized) struct CutOverRunTests {
  private let folder: CommandFolder
  private let store: String

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 1500)
  }

  @Test(
    "A damaged plan neither keeps a cut-over from being finished nor says that the source is untouched",
    arguments: [false, true])
  func damagedPlan(isDone: Bool) throws {
    let original = try CommandFolder.bytes(store)
    let job = try JobDirectory(destination: store)
    try job.create(LocalFileSystem())
    let new = try folder.sample("New.sqlite", rows: 700, seed: 2)
    try FileManager.default.moveItem(atPath: new, toPath: job.newStore)
    let bytes = try CommandFolder.bytes(job.newStore)
    let cutOver = CutOver(fileSystem: LocalFileSystem(), job: job)
    let suffix = "backup-20250131T120000Z"
    _ = try cutOver.run(newStore: job.newStore, destination: store, inPlace: true, backupSuffix: suffix) {}
    if !isDone {
      // Back before the swap, with the journal that was written then.
      var journal = try #require(try CutOverJournal.read(job, LocalFileSystem()))
      try FileManager.default.moveItem(atPath: store, toPath: job.newStore)
      try FileManager.default.moveItem(atPath: store + "." + suffix, toPath: store)
      journal.phase = .whole
      try journal.write(job, LocalFileSystem())
    }
    try Data("{".utf8).write(to: URL(fileURLWithPath: job.plan))
    let status = try folder.run("godwit", ["status", store])
    #expect(
      status.output.contains(isDone ? "finished" : "cut-over") && status.output.contains("resume \(store)`"),
      "\(status)")
    #expect(!status.output.contains("untouched") && !status.output.contains("start again"), "\(status)")
    let outcome = try folder.run("godwit", ["resume", store])
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try CommandFolder.bytes(store) == bytes && CommandFolder.bytes(store + "." + suffix) == original)
    #expect(!FileManager.default.fileExists(atPath: job.path))
  }

  @Test("A backup's name that is taken is left alone: the backup gets that of the next second that is free")
  func takenBackup() throws {
    let now = Date().timeIntervalSinceReferenceDate.rounded()
    let original = try CommandFolder.bytes(store)
    for second in 0..<600 {
      let name = store + "." + StoreBackup.suffix(.replaced, now + Double(second)) + (second % 2 == 0 ? "" : "-wal")
      try Data().write(to: URL(fileURLWithPath: name))
    }
    let outcome = try folder.run("book-migration", ["migrate", store] + CommandFolder.models)
    #expect(outcome.code == 0, "\(outcome)")
    let free = store + "." + StoreBackup.suffix(.replaced, now + 600)
    #expect(outcome.output.contains("backup: \(free)\n"), "\(outcome)")
    #expect(try CommandFolder.bytes(free) == original)
  }
}
