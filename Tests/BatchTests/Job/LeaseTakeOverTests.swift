import Foundation
import Glibc
import Streams
import Testing

@testable import MigrationJobs
@testable import RunSupport

/// Trap 12: what becomes of an owner that is replaced. Python plays the owner, as another process.
@Suite("Taking the lease over", .enabled(if: LeaseProcess.python != nil, "python3 is not installed"))
struct LeaseTakeOverTests {
  let folder: JobTestFolder
  let job: JobDirectory
  let fileSystem = LocalFileSystem()

  init() throws {
    folder = try JobTestFolder()
    job = try folder.job()
  }

  /// A process that holds the lease, with a record that `change` may falsify.
  private func owner(clock offset: Double = 0, _ change: (inout LeaseOwner) -> Void = { _ in }) throws -> LeaseProcess {
    let owner = try LeaseProcess(job, clock: offset)
    var record = LeaseOwner.current(epoch: 4)
    record.pid = owner.process.processIdentifier
    record.processStart = LeaseOwner.processStart("\(record.pid)")
    change(&record)
    try record.record().withUnsafeBytes { bytes in
      let file = try fileSystem.open(job.lease, .update)
      try file.write(bytes, at: 0)
      file.close()
    }
    return owner
  }

  @Test("An owner that is stopped is killed and waited for, and the successor's epoch is higher")
  func stopped() throws {
    let owner = try owner()
    owner.send(SIGSTOP)
    let lease = try Lease.takeOver(job, fileSystem, patience: 0.5)
    #expect(lease.owner.epoch == 5 && !lease.isFromElsewhere)
    owner.process.waitUntilExit()
    #expect(owner.process.terminationReason == .uncaughtSignal && owner.process.terminationStatus == SIGKILL)
    #expect(try Lease.inspect(job, fileSystem) == .live(lease.owner))
  }

  @Test("An owner that gives signs of life is respected")
  func alive() throws {
    let owner = try owner()
    defer { owner.end() }
    let error = #expect(throws: BatchError.self) { try Lease.takeOver(job, fileSystem, patience: 20) }
    #expect(error?.code == .leaseHeld && error?.message.contains("signs of life") == true)
    #expect(owner.process.isRunning)
  }

  @Test(
    "Whatever an owner's clock says, a living one is respected, a stopped one replaced, and a dead one forgotten",
    arguments: [-1_700_000_000, 86_400, 4_000_000_000])
  func clocks(offset: Double) throws {
    let owner = try owner(clock: offset) { $0.started = Date(timeIntervalSinceNow: offset).ISO8601Format() }
    defer { owner.end() }
    let alive = #expect(throws: BatchError.self) { try Lease.takeOver(job, fileSystem, patience: 20) }
    #expect(alive?.code == .leaseHeld && owner.process.isRunning)
    owner.send(SIGSTOP)
    let lease = try Lease.takeOver(job, fileSystem, patience: 0.3)
    owner.process.waitUntilExit()
    #expect(lease.owner.epoch == 5)
    lease.release()
    let stamp = timespec(tv_sec: time(nil) + Int(offset), tv_nsec: 0)
    #expect(utimensat(AT_FDCWD, job.lease, [stamp, stamp], 0) == 0)
    #expect(try Lease.inspect(job, fileSystem) == .dead(lease.owner))
    let next = try Lease.take(in: job, fileSystem)
    #expect(next.owner.epoch == 6)
    next.release()
  }

  private func elsewhere() throws -> LeaseProcess { try owner { $0.bootID = "00000000-0000-4000-8000-000000000000" } }

  @Test("An owner elsewhere that is stopped is left alone: the lease's name gets another file, and it finds that out")
  func stoppedElsewhere() throws {
    try fileSystem.writeAndSync([], to: job.plan)
    let owner = try elsewhere()
    defer { owner.end() }
    let old = try #require(try LeaseOwner.read(job.lease, fileSystem))
    let file = try fileSystem.open(job.lease, .update)
    defer { file.close() }
    let before = Lease(old, file: file, in: try fileSystem.hold(job.path), job: job, fileSystem: fileSystem)
    try before.throwIfReplaced()
    owner.send(SIGSTOP)
    let lease = try Lease.takeOver(job, fileSystem, patience: 0.3)
    defer { lease.release() }
    #expect(lease.isFromElsewhere && lease.owner.epoch == 5 && owner.process.isRunning)
    #expect(try Lease.inspect(job, fileSystem) == .live(lease.owner))
    #expect(throws: BatchError.self) { try Lease.take(in: job, fileSystem) }
    let monitor = RunMonitor()
    before.guardRun(monitor)
    for _ in 0..<1200 where !monitor.isStopRequested { usleep(50_000) }
    let error = #expect(throws: BatchError.self) { try monitor.throwIfStopRequested() }
    #expect(error?.code == .leaseHeld && error?.message.contains("process \(getpid())") == true)
    before.release()
  }

  @Test(
    "An owner elsewhere whose lock is free may come back: who is told to take over works on copies; who only goes on does not"
  )
  func freeElsewhere() throws {
    var record = LeaseOwner.current(epoch: 4)
    record.bootID = "00000000-0000-4000-8000-000000000000"
    for (hasPlan, takesOver) in [(true, true), (true, false), (false, true)] {
      try fileSystem.writeAndSync(try record.record(), to: job.lease)
      if hasPlan { try fileSystem.writeAndSync([], to: job.plan) } else { try fileSystem.remove(job.plan) }
      let lease = takesOver ? try Lease.takeOver(job, fileSystem) : try Lease.take(in: job, fileSystem)
      #expect(lease.isFromElsewhere == (hasPlan && takesOver) && lease.owner.epoch == 5)
      lease.release()
    }
  }

  @Test("An owner elsewhere that gives signs of life, has no plan yet or is at its cut-over, is respected")
  func elsewhereRespected() throws {
    let owner = try elsewhere()
    defer { owner.end() }
    let living = #expect(throws: BatchError.self) { try Lease.takeOver(job, fileSystem, patience: 20) }
    #expect(living?.code == .leaseHeld)
    owner.send(SIGSTOP)
    for path in [job.lease, job.cutOver] {
      if path == job.cutOver {
        try fileSystem.writeAndSync([], to: job.plan)
        try fileSystem.writeAndSync([], to: path)
      }
      let error = #expect(throws: BatchError.self) { try Lease.takeOver(job, fileSystem, patience: 0.3) }
      #expect(error?.code == .refused && error?.hint?.contains("End process") == true)
    }
  }

  enum Falsehood: CaseIterable { case start, innocent }

  @Test(
    "Nobody is killed whose record names another process, or one without the lease",
    arguments: Falsehood.allCases)
  func falsified(_ falsehood: Falsehood) throws {
    let innocent = Process()
    innocent.executableURL = URL(fileURLWithPath: "/bin/sleep")
    innocent.arguments = ["600"]
    try innocent.run()
    let owner = try owner { record in
      switch falsehood {
      case .start: record.processStart += 1
      case .innocent:
        record.pid = innocent.processIdentifier
        record.processStart = LeaseOwner.processStart("\(record.pid)")
      }
    }
    defer {
      owner.end()
      kill(innocent.processIdentifier, SIGKILL)
      innocent.waitUntilExit()
    }
    owner.send(SIGSTOP)
    let error = #expect(throws: BatchError.self) { try Lease.takeOver(job, fileSystem, patience: 0.3) }
    #expect(error?.code == .refused, "\(String(describing: error))")
    #expect(owner.process.isRunning && innocent.isRunning)
  }

  @Test("The owner gives a sign of life every second, and none behind its end")
  func heartbeat() throws {
    let lease = try Lease.take(in: job, fileSystem)
    let first = try #require(try fileSystem.status(job.lease)).modified
    var now = first
    for _ in 0..<1200 where now == first {
      usleep(50_000)
      now = try #require(try fileSystem.status(job.lease)).modified
    }
    #expect(now != first)
    lease.release()
    let last = try #require(try fileSystem.status(job.lease)).modified
    usleep(1_200_000)
    #expect(try fileSystem.status(job.lease)?.modified == last)
  }
}
