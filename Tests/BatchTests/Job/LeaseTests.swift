import Foundation
import Glibc
import Streams
import Testing

@testable import MigrationJobs
@testable import RunSupport

@Suite struct LeaseTests {
  let folder: JobTestFolder
  let job: JobDirectory
  let fileSystem = LocalFileSystem()

  init() throws {
    folder = try JobTestFolder()
    job = try folder.job()
  }

  @Test func theOwnerIsNamedByProcessHostBootAndTime() throws {
    let lease = try Lease.take(in: job, fileSystem)
    #expect(lease.owner.pid == getpid())
    #expect(!lease.owner.host.isEmpty)
    #expect(lease.owner.bootID.count == 36)
    #expect(lease.owner.processStart > 0)
    #expect(lease.owner.epoch == 1)
    #expect(lease.owner.started.hasSuffix("Z"))
    #expect(try fileSystem.status(job.lease)?.size == 512)
    #expect(try Lease.inspect(job, fileSystem) == .live(lease.owner))
  }

  @Test func aSecondOwnerIsRefusedAndToldWhoHasIt() throws {
    let lease = try Lease.take(in: job, fileSystem)
    let error = try #require(throws: BatchError.self) { try Lease.take(in: job, fileSystem) }
    #expect(error.code == .leaseHeld)
    #expect(error.message.contains("process \(getpid()) on \(lease.owner.host), since \(lease.owner.started)"))
    lease.release()
    #expect(try Lease.take(in: job, fileSystem).owner.epoch == 2)
  }

  /// Trap 1: a look writes nothing and gets in nobody's way.
  @Test func inspectingTellsNoneDeadAndLiveAndWritesNothing() throws {
    #expect(try Lease.inspect(job, fileSystem) == .none)
    let lease = try Lease.take(in: job, fileSystem)
    var before = try folder.contents()
    #expect(try Lease.inspect(job, fileSystem) == .live(lease.owner))
    #expect(try folder.contents() == before)
    lease.release()
    before = try folder.contents()
    #expect(try Lease.inspect(job, fileSystem) == .dead(lease.owner))
    #expect(try folder.contents() == before)
  }

  @Test(arguments: ["", "garbage", "{\"pid\":1}", String(repeating: " ", count: 5000)])
  func aDamagedRecordOfADeadOwnerKeepsNobodyOut(text: String) throws {
    try fileSystem.writeAndSync(Array(text.utf8), to: job.lease)
    #expect(try Lease.inspect(job, fileSystem) == .dead(nil))
    let lease = try Lease.take(in: job, fileSystem)
    #expect(text.isEmpty ? lease.owner.epoch == 1 : lease.owner.epoch > 1_000_000_000)
    #expect(try Lease.inspect(job, fileSystem) == .live(lease.owner))
    #expect(try fileSystem.status(job.lease)?.size == 512)
  }

  /// Trap 12: the lock of a killed owner ends with it, that of a stopped one does not.
  // Skipped without Python, which plays the other process: flock(1) takes another kind of lock.
  @Test(.enabled(if: LeaseProcess.python != nil, "python3 is not installed"))
  func aKilledOwnersLeaseHealsAndAStoppedOwnersStaysHeld() throws {
    let owner = try LeaseProcess(job)
    defer { owner.end() }
    #expect(owner.send(SIGSTOP) == 0)
    #expect(throws: BatchError.self) { try Lease.take(in: job, fileSystem) }
    #expect(try Lease.inspect(job, fileSystem) == .live(nil))
    #expect(owner.send(SIGKILL) == 0)
    owner.process.waitUntilExit()
    #expect(try Lease.inspect(job, fileSystem) == .dead(nil))
    _ = try Lease.take(in: job, fileSystem)
  }

  @Test("Trap 9: an owner that cannot know whether it was replaced stops its run, as if it were")
  func doubt() throws {
    let disk = VanishingLease(job.lease)
    let lease = try Lease.take(in: job, disk)
    defer { lease.release() }
    try lease.throwIfReplaced()
    #expect(!lease.mayBeReplaced)
    disk.isUnreadable = true
    #expect(throws: StreamsError.self) { try lease.throwIfReplaced() }
    #expect(lease.mayBeReplaced)
    let monitor = RunMonitor()
    lease.guardRun(monitor)
    for _ in 0..<1200 where !monitor.isStopRequested { usleep(50_000) }
    #expect(throws: StreamsError.self) { try monitor.throwIfStopRequested() }
    disk.isUnreadable = false
    for text in ["", "garbage"] {
      try fileSystem.writeAndSync(Array(text.utf8), to: job.lease)
      #expect(lease.mayBeReplaced)
    }
  }

  /// The job directory is removed at the end of a run; whoever locked the file that lost its name has locked nothing.
  @Test func aLeaseOnAFileThatLostItsNameIsTakenAgain() throws {
    let vanishing = VanishingLease(job.lease)
    let lease = try Lease.take(in: job, vanishing)
    #expect(try Lease.inspect(job, fileSystem) == .live(lease.owner))
    #expect(throws: BatchError.self) { try Lease.take(in: job, fileSystem) }
  }

  /// Between the removal of a directory and the end of its name the kernel lets nobody make a file in it.
  @Test func aDirectoryThatIsBeingRemovedIsWaitedFor() throws {
    let vanishing = VanishingLease(job.lease)
    vanishing.closedUntil = ContinuousClock.now + .milliseconds(40)
    let lease = try Lease.take(in: job, vanishing)
    #expect(try Lease.inspect(job, fileSystem) == .live(lease.owner))
  }
}

/// Removes the lease file right after it was opened for the first time, as an owner that ends its job does; or cannot
/// read it.
private final class VanishingLease: FileSystem, @unchecked Sendable {
  private let base = LocalFileSystem()
  private let lease: String
  private var isFirst = true
  var isUnreadable = false
  var closedUntil: ContinuousClock.Instant?

  init(_ lease: String) { self.lease = lease }

  func open(_ path: String, _ mode: OpenMode) throws -> any File {
    if path == lease, let closedUntil, ContinuousClock.now < closedUntil {
      throw StreamsError(.inputOutput, "cannot open: No such file or directory", path: path)
    }
    if path == lease, isUnreadable, mode == .read { throw StreamsError(.inputOutput, "cannot read", path: path) }
    let file = try base.open(path, mode)
    if path == lease, isFirst {
      isFirst = false
      try base.remove(lease)
    }
    return file
  }
  func rename(_ source: String, to destination: String) throws { try base.rename(source, to: destination) }
  func link(_ source: String, to destination: String) throws { try base.link(source, to: destination) }
  func remove(_ path: String) throws { try base.remove(path) }
  func makeDirectory(_ path: String) throws { try base.makeDirectory(path) }
  func list(_ path: String) throws -> [String] { try base.list(path) }
  func status(_ path: String) throws -> FileStatus? { try base.status(path) }
  func syncDirectory(_ path: String) throws { try base.syncDirectory(path) }
  func availableSpace(_ path: String) throws -> UInt64 { try base.availableSpace(path) }
}
