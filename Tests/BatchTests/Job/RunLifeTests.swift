import Foundation
import Streams
import Testing

@testable import MigrationJobs

/// I15: every refusal names a command that leads on.
@Suite("The life of a run") struct RunLifeTests {
  /// What becomes of a state when somebody follows the way out that a refusal names.
  private func after(_ life: RunLife, _ command: LifeCommand) -> RunLife? {
    var next = life
    switch life.answer(to: command) {
    case .begin, .giveUp, .giveUpFirst, .finish, .finishFirst, .goOn, .cutOverAgain, .nothing:
      next = RunLife(phase: .none)
    case .refuse(.putBack): next.store = .asItWas
    case .refuse, .look, .keep, .wait: return nil
    }
    return next
  }

  private func command(_ way: LifeAnswer.WayOut) -> LifeCommand {
    switch way {
    case .resume: .resume
    case .restart: .restart
    case .giveUp: .cleanAll
    case .rollback: .rollback
    case .putBack: .resume
    }
  }

  @Test("In every state some command leads on: whoever follows the refusals is done after three commands at most")
  func wayOut() {
    for life in RunLife.all {
      for first in LifeCommand.allCases where ![.status, .report, .verify, .clean].contains(first) {
        var (state, command, count) = (life, first, 0)
        while state.phase != .none, count < 3 {
          count += 1
          if let next = after(state, command) { state = next }
          if case .refuse(let way) = state.answer(to: command) { command = self.command(way) }
        }
        #expect(state.phase == .none, "\(life), \(first)")
      }
    }
  }

  @Test("Looking writes nothing in any state, and a live run is left alone by all")
  func others() {
    for life in RunLife.all {
      for command in [LifeCommand.status, .report, .verify] { #expect(life.answer(to: command) == .look) }
      var owned = life
      owned.isOwned = true
      for command in [LifeCommand.migrate, .restart, .resume, .rollback, .fleet] {
        #expect(owned.answer(to: command) == .wait)
      }
      for command in [LifeCommand.clean, .cleanAll] { #expect(owned.answer(to: command) == .keep) }
    }
  }

  @Test(
    "Nobody goes on with a run whose store was written to, replaced or lost; nobody gives up a new store that has its name"
  )
  func guards() {
    for life in RunLife.all {
      let resumed = life.answer(to: .resume)
      if [.working, .failed].contains(life.phase), life.store != .asItWas { #expect(resumed != .goOn, "\(life)") }
      if life.phase == .cutOver, life.store != .asItWas { #expect(resumed != .finish, "\(life)") }
      if [.renamed].contains(life.phase) {
        for command in LifeCommand.allCases {
          #expect(![.giveUp, .giveUpFirst].contains(life.answer(to: command)), "\(life)")
        }
      }
    }
  }

  @Test("ARCHITECTURE.md has the table that the code follows")
  func document() throws {
    let path =
      URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/").dropFirst() + "/ARCHITECTURE.md"
    let text = try String(contentsOfFile: String(path), encoding: .utf8)
    let table = RunLife.table.joined(separator: "\n")
    #expect(text.contains(table), "The table that the code follows:\n\(table)")
  }
}

/// What `RunLife` tells from the files of real runs.
@Suite("The life of a run, told from its files") struct RunLifeReaderTests {
  private let fileSystem = LocalFileSystem()

  private func life(_ job: JobDirectory) throws -> RunLife { try RunLife.look(job, fileSystem) }

  /// A cut-over that died at a call of its own.
  private func dying(at call: Int) throws -> (JobTestFolder, JobDirectory) {
    let folder = try JobTestFolder()
    try StoreFixture.closed.write(to: folder.destination, in: folder)
    let job = try folder.job()
    try StoreFixture.writeNew(to: job.newStore)
    _ = try? CutOver(fileSystem: DyingFileSystem(at: call), job: job).run(
      newStore: job.newStore, destination: job.destination, inPlace: true, verifySourceUnchanged: {})
    return (folder, job)
  }

  @Test("No directory, one without a plan, one with a live owner")
  func beginning() throws {
    let folder = try JobTestFolder()
    let job = try JobDirectory(destination: folder.destination)
    #expect(try life(job) == RunLife(phase: .none))
    try job.create(fileSystem)
    #expect(try life(job) == RunLife(phase: .leased))
    let lease = try Lease.take(in: job, fileSystem)
    #expect(try life(job) == RunLife(phase: .leased, isOwned: true))
    #expect(try RunLife.look(job, fileSystem, isOwn: true) == RunLife(phase: .leased))
    lease.release()
    try fileSystem.writeAndSync(Array("{".utf8), to: job.plan)
    #expect(try life(job) == RunLife(phase: .unreadable))
  }

  @Test(
    "At every call of a cut-over: the store as it was, written to, replaced by a copy (same inode or another one), missing"
  )
  func cutOver() throws {
    var seen: Set<String> = []
    for call in 1...30 {
      let (folder, job) = try dying(at: call)
      let found = try life(job)
      guard try fileSystem.status(job.cutOver) != nil else { continue }
      seen.insert("\(found.phase)")
      let isNew = try StoreFixture.look(at: folder.destination, in: folder) == StoreFixture.wholeNew
      #expect([.renamed, .done].contains(found.phase) == isNew, "call \(call)")
      #expect(found.store == .asItWas, "call \(call)")
      // A removed file leaves its number to the next one: the number alone must not be believed.
      let other = folder.file("other.sqlite")
      try StoreFixture.hotJournal.write(to: other, in: folder)
      try fileSystem.remove(other + "-journal")
      let bytes = try fileSystem.readAll(other, cap: 1 << 24)
      try FileManager.default.removeItem(atPath: other)
      let handle = try #require(FileHandle(forWritingAtPath: folder.destination))
      try handle.truncate(atOffset: 0)
      try handle.write(contentsOf: Data(bytes))
      try handle.close()
      #expect(try life(job).store != .asItWas, "call \(call)")
      try fileSystem.writeAndSync(bytes, to: folder.destination + ".copy")
      try fileSystem.rename(folder.destination + ".copy", to: folder.destination)
      #expect(try [RunLife.Store.replaced, .written].contains(life(job).store), "call \(call)")
      try fileSystem.remove(folder.destination)
      #expect(try life(job).store == .missing, "call \(call)")
    }
    #expect(seen == ["cutOver", "renamed", "done"])
  }

  @Test("A folder that was moved as a whole changes nothing")
  func moved() throws {
    let (folder, job) = try dying(at: 9)
    let found = try life(job)
    #expect(found.phase == .cutOver)
    let place = folder.path + "-moved"
    try FileManager.default.moveItem(atPath: folder.path, toPath: place)
    defer { try? FileManager.default.moveItem(atPath: place, toPath: folder.path) }
    #expect(try life(JobDirectory(destination: place + "/Store.sqlite")) == found)
  }
}
