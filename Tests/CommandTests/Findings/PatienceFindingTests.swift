import Foundation
import GRDB
import Streams
import Testing

@testable import MigrationJobs

@Suite("Faults that were found: runs that gave up on plans of their own kind")
struct PatienceFindingTests {
  @Test("A migration waits longer than two seconds for a plan or a proof of this program")
  func waits() throws {
    let folder = try FindingFolder()
    let store = try folder.store("a.sqlite")
    // As a plan does that comes slowly forward.
    let held = try DatabaseSnapshot.hold(store, in: LocalFileSystem(), .shared)
    #expect(FileUsers.holder(store) == .thisProgram)
    // Not a task: all threads of tasks may be waiting for commands.
    let release = Thread {
      Thread.sleep(forTimeInterval: 4)
      held.close()
    }
    release.start()
    let outcome = try folder.run(folder.migrate(store))
    #expect(outcome.code == 0, "\(outcome)")
  }

  @Test("A lock of another program is told from one of this program")
  func owners() throws {
    let folder = try FindingFolder()
    let store = try folder.store("a.sqlite")
    #expect(FileUsers.holder(store) == nil)
    let queue = try DatabaseQueue(path: store)
    try queue.inDatabase { database in
      try database.execute(sql: "BEGIN IMMEDIATE")
      #expect(FileUsers.holder(store) == .otherProgram)
      try database.execute(sql: "ROLLBACK")
    }
  }

  @Test("An owner that lets go between an attempt and the look at it ends no waiting")
  func letsGo() throws {
    let folder = try FindingFolder()
    let store = try folder.store("a.sqlite")
    let begin = ContinuousClock.now
    var late = 0
    // Past the two seconds for others, the lock is always gone by the time that its owner is looked for.
    let attempts = try Patience.whileLocked(store) {
      if ContinuousClock.now - begin > .seconds(2) { late += 1 }
      guard late == 3 else { throw StreamsError(.locked, "locked", path: store) }
      return late
    }
    #expect(attempts == 3)
  }

  @Test("An owner that the kernel never shows is waited for little longer than two seconds")
  func hidden() throws {
    let folder = try FindingFolder()
    let store = try folder.store("a.sqlite")
    var attempts = 0
    #expect(
      try !Patience.wait(for: store) {
        attempts += 1; return false
      })
    // 20 ms at least lie between two attempts: 2 s, and five more.
    #expect(attempts <= 106)
  }
}
