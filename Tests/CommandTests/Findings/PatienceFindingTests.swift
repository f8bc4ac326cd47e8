import Foundation
import GRDB
import Streams
import Testing

@testable import Batch

@Suite("Faults that were found: runs that gave up on plans of their own kind")
struct PatienceFindingTests {
  @Test("A migration waits longer than two seconds for a plan or a proof of this program")
  func waits() throws {
    let folder = try FindingFolder()
    let store = try folder.store("a.sqlite")
    // As a plan does that comes slowly forward.
    let held = try DatabaseSnapshot.hold(store, LocalFileSystem(), .shared)
    #expect(FileUsers.isLockedByFilesAlone(store))
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
    #expect(!FileUsers.isLockedByFilesAlone(store))
    let queue = try DatabaseQueue(path: store)
    try queue.inDatabase { database in
      try database.execute(sql: "BEGIN IMMEDIATE")
      #expect(!FileUsers.isLockedByFilesAlone(store))
      try database.execute(sql: "ROLLBACK")
    }
  }
}
