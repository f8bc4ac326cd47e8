import Foundation
import Glibc
import Streams
import Synchronization
import Testing

@testable import Fleets
@testable import MigrationJobs
@testable import RunSupport

/// I13: who comes back or comes second writes nothing.
@Suite("Claims and ends of fleets") struct FleetClaimTests {
  let folder: JobTestFolder
  let fileSystem = LocalFileSystem()
  let plan: FleetPlan
  let state: FleetState
  private static let elsewhere = "00000000-0000-4000-8000-000000000000"

  init() throws {
    folder = try JobTestFolder()
    plan = try FleetPlan(["/a", "/b"].map { FleetPlan.Store(path: $0) }, tasks: 1, options: [], models: "")
    state = FleetState(plan, planPath: folder.file("fleet.json"))
    try state.create()
  }

  private func taken(_ taking: FleetClaims.Taking) throws -> FleetClaim {
    guard case .taken(let claim) = taking else { throw BatchError(.leaseHeld, "it is held") }
    return claim
  }

  private func sign(_ taking: FleetClaims.Taking) throws -> FleetClaims.Sign {
    guard case .held(let sign) = taking else { throw BatchError(.failed, "it is not held") }
    return sign
  }

  private var path: String { folder.file("fleet-\(plan.id.prefix(12)).state/claims/000000.claim") }

  /// What an owner leaves that dies: its record, and no lock.
  private func leave(_ change: (inout LeaseOwner) -> Void) throws {
    var owner = LeaseOwner.current(epoch: 4)
    change(&owner)
    try fileSystem.writeAndSync(try owner.record(), to: path)
  }

  @Test("A claim has one owner at a time; given up it leaves nothing behind, and the next one's epoch is higher")
  func single() throws {
    let claim = try taken(try state.claims.take("000000", epoch: 3))
    #expect(claim.owner.epoch == 3 && claim.isHeld && !claim.isFromElsewhere)
    let held = try sign(try state.claims.take("000000"))
    let isLocked = try state.claims.isLocked("000000")
    #expect(held.owner == claim.owner && isLocked)
    // The kernel says that it lives here, whatever time has passed.
    _ = try sign(try state.claims.takeOver("000000", held))
    #expect(claim.isHeld)
    claim.release()
    #expect(try fileSystem.status(path) == nil)
    let next = try taken(try state.claims.take("000000", epoch: 4))
    #expect(next.owner.epoch == 4)
    next.release()
  }

  @Test(
    "An owner that died on this machine is followed at once, one elsewhere only when it has given no sign since it was seen"
  )
  func died() throws {
    try leave { $0.pid = 1 }
    let here = try taken(try state.claims.take("000000"))
    #expect(here.owner.epoch == 5)
    here.release()
    try leave { $0.bootID = Self.elsewhere }
    let seen = try sign(try state.claims.take("000000"))
    #expect(utimensat(AT_FDCWD, path, [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)], 0) == 0)
    // A sign is any change of the time: nobody's clock is asked.
    let again = try sign(try state.claims.takeOver("000000", seen))
    #expect(again != seen)
    let successor = try taken(try state.claims.takeOver("000000", again))
    #expect(successor.owner.epoch == 5 && successor.isFromElsewhere)
    _ = try sign(try state.claims.takeOver("000000", again))
    successor.release()
  }

  @Test(
    "An owner elsewhere that comes back finds its claim lost, and can write neither ledger nor end; its successor can")
  func comesBack() throws {
    let before = try taken(try state.claims.take("000000"))
    let isLost = Mutex(false)
    before.whenLost { isLost.withLock { $0 = true } }
    var record = before.owner
    record.bootID = Self.elsewhere
    let file = try fileSystem.open(path, .update)
    try record.record().withUnsafeBytes { try file.write($0, at: 0) }
    file.close()
    // It still gives signs of life here, which come in between sometimes.
    var found: FleetClaim?
    for _ in 0..<50 where found == nil {
      found = try? taken(try state.claims.takeOver("000000", try #require(try state.claims.sign("000000"))))
    }
    let successor = try #require(found)
    #expect(!before.isHeld && successor.isHeld && successor.owner.epoch == before.owner.epoch + 1)
    let ledger = FleetLedger(plan: plan.id, store: "/a")
    let end = FleetEnd(.failed, exitCode: 1, reason: "late", bytes: 0, after: ledger, by: before.owner)
    #expect(throws: BatchError.self) { try state.write(ledger, 0, under: before) }
    #expect(throws: BatchError.self) { try state.finish(end, 0, under: before) }
    #expect(try !state.isEnded(0))
    let right = FleetEnd(.done, exitCode: 0, reason: nil, bytes: 9, after: ledger, by: successor.owner)
    #expect(try state.finish(right, 0, under: successor))
    #expect(try state.end(0) == right)
    #expect(try state.ended() == [0])
    for _ in 0..<1200 where !isLost.withLock({ $0 }) { usleep(50_000) }
    #expect(isLost.withLock { $0 })
    // What the old owner gives up is not its own any more.
    before.release()
    #expect(successor.isHeld)
    successor.release()
    #expect(try fileSystem.list(folder.file("fleet-\(plan.id.prefix(12)).state/ends")) == ["000000.json"])
  }

  @Test("A store ends once: of two that write its end the first one stays")
  func once() throws {
    let claim = try taken(try state.claims.take("000001"))
    defer { claim.release() }
    let ledger = FleetLedger(plan: plan.id, store: "/b")
    let ends = [FleetEnd.Outcome.done, .failed].map {
      FleetEnd($0, exitCode: 0, reason: nil, bytes: 0, after: ledger, by: claim.owner)
    }
    #expect(try state.finish(ends[0], 1, under: claim))
    #expect(try !state.finish(ends[1], 1, under: claim))
    #expect(try state.end(1) == ends[0])
  }

  @Test(
    "What cannot be read of a store is refused with its file, and is never taken for another's or for none",
    arguments: [
      "", "{", "[]", "{\"format\":1,\"plan\":\"x\",\"store\":\"/a\",\"count\":0,\"deaths\":0,\"attempts\":[]}",
    ])
  func damaged(text: String) throws {
    for name in ["ledgers", "ends"] {
      let path = folder.file("fleet-\(plan.id.prefix(12)).state/\(name)/000000.json")
      try fileSystem.writeAndSync(Array(text.utf8), to: path)
      let error = #expect(throws: BatchError.self) {
        if name == "ends" { _ = try state.end(0) } else { _ = try state.ledger(0) }
      }
      #expect(error?.code == .refused && error?.path == path)
    }
  }

  @Test("A ledger stays small however often a store is tried; its first attempt stays in it")
  func ledger() throws {
    var ledger = FleetLedger(plan: plan.id, store: "/a")
    for epoch in 1...100 {
      ledger.begin(FleetAttempt(LeaseOwner.current(epoch: UInt64(epoch)), foundNoResult: epoch == 1))
    }
    #expect(ledger.count == 100 && ledger.attempts.count == 32)
    #expect(ledger.attempts.first?.epoch == 1 && ledger.attempts.last?.epoch == 100)
  }

  @Test("Of other tasks those that died are helped; those that live, have not begun, or ended in good order are not")
  func tasks() throws {
    let tasks = FleetTasks(state.claims, own: 0, patience: 3)
    defer { tasks.stop() }
    let living = try taken(try state.claims.take("task-000001"))
    defer { living.release() }
    try taken(try state.claims.take("task-000002")).release()
    try fileSystem.writeAndSync(
      try LeaseOwner.current(epoch: 1).record(), to: path.replacing("000000.claim", with: "task-000003.claim"))
    var helped: [Int] = []
    try tasks.takeOverDead { helped.append($0) }
    #expect(helped == [3])
    try tasks.takeOverDead { helped.append($0) }
    #expect(helped == [3] && living.isHeld)
  }
}
