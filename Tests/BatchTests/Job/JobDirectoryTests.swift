import Foundation
import Glibc
import Streams
import Synchronization
import Testing

@testable import MigrationJobs
@testable import RunSupport

@Suite struct JobDirectoryTests {
  let folder: JobTestFolder
  let fileSystem = LocalFileSystem()

  init() throws { folder = try JobTestFolder() }

  @Test func itLiesBesideTheDestinationUnderAHiddenName() throws {
    let job = try JobDirectory(destination: folder.destination)
    #expect(job.path == folder.file(".Store.sqlite.godwit"))
    #expect(try !job.exists(fileSystem))
    #expect(try fileSystem.list(folder.path).isEmpty)
    try job.create(fileSystem)
    try job.create(fileSystem)
    #expect(try job.exists(fileSystem))
    for path in [job.path, job.checkpoints, job.models, job.mappings] {
      #expect(try #require(try fileSystem.status(path)).mode & 0o7777 == 0o700)
    }
  }

  /// A rename over a link would replace the link and leave the store where it was.
  @Test func aLinkToAStoreHasTheJobOfTheStore() throws {
    try fileSystem.makeDirectory(folder.file("real"))
    try fileSystem.writeAndSync([], to: folder.file("real/A.sqlite"))
    #expect(symlink(folder.file("real/A.sqlite"), folder.file("link.sqlite")) == 0)
    let job = try JobDirectory(destination: folder.file("link.sqlite"))
    #expect(job.path == folder.file("real/.A.sqlite.godwit"))
    #expect(job.destination == folder.file("real/A.sqlite"))
    #expect(symlink(folder.file("nowhere"), folder.file("broken.sqlite")) == 0)
    for name in ["broken.sqlite", "none/A.sqlite", ""] {
      #expect(throws: BatchError.self) { try JobDirectory(destination: folder.file(name) + (name == "" ? ".." : "")) }
    }
  }

  /// Another run's cut-over gives the destination its name between two looks.
  @Test func aDestinationThatComesAndGoesIsFound() throws {
    let isOver = Mutex(false)
    let (store, aside) = (folder.destination, folder.file("aside"))
    try fileSystem.writeAndSync([], to: store)
    let ended = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      while !isOver.withLock({ $0 }) {
        rename(store, aside)
        rename(aside, store)
      }
      ended.signal()
    }
    defer {
      isOver.withLock { $0 = true }
      ended.wait()
    }
    for _ in 0..<20_000 { #expect(try JobDirectory.resolve(store) == store) }
  }

  @Test func aLinkOrAFileInItsPlaceIsRefused() throws {
    let job = try JobDirectory(destination: folder.destination)
    try fileSystem.makeDirectory(folder.file("elsewhere"))
    #expect(symlink(folder.file("elsewhere"), job.path) == 0)
    for call in [{ try job.create(fileSystem) }, { _ = try job.exists(fileSystem) }] {
      let error = #expect(throws: BatchError.self) { try call() }
      #expect(error?.code == .refused)
    }
    #expect(try fileSystem.list(folder.file("elsewhere")).isEmpty)
    try fileSystem.remove(job.path)
    try fileSystem.writeAndSync([], to: job.path)
    #expect(throws: BatchError.self) { try job.create(fileSystem) }
  }

  @Test func removingItFollowsNoLinks() throws {
    let job = try folder.job()
    try fileSystem.writeAndSync([1], to: folder.file("precious"))
    #expect(symlink(folder.path, job.file("up")) == 0)
    try fileSystem.writeAndSync([1], to: FilePaths.join(job.models, "a"))
    try job.remove(fileSystem)
    #expect(try fileSystem.list(folder.path) == ["precious"])
  }

  /// A new run under the name of one that is being removed: of it nothing may go.
  private func newRun(_ job: JobDirectory) throws -> Lease {
    try fileSystem.rename(job.path, to: folder.file("given up"))
    let lease = try Lease.take(in: try folder.job(), fileSystem)
    try fileSystem.writeAndSync([2], to: job.plan)
    try fileSystem.writeAndSync([2], to: FilePaths.join(job.checkpoints, "checkpoint-1"))
    return lease
  }

  @Test("Trap 12: an owner that is too late to remove its job leaves alone what has the job's name by now")
  func late() throws {
    let job = try folder.job()
    try fileSystem.writeAndSync([1], to: job.plan)
    let old = try Lease.take(in: job, fileSystem)
    defer { old.release() }
    let new = try newRun(job)
    defer { new.release() }
    let before = try folder.contents()
    let error = #expect(throws: BatchError.self) { try job.remove(fileSystem, under: old) }
    #expect(error?.code == .leaseHeld && error?.path == job.lease)
    #expect(try folder.contents() == before)
  }

  @Test(
    "Trap 12: an owner that is stopped behind its last look removes what it was about to remove, and nothing under that name"
  )
  func stoppedInTheMiddle() throws {
    let job = try folder.job()
    try fileSystem.writeAndSync([1], to: job.plan)
    let old = try Lease.take(in: job, fileSystem)
    defer { old.release() }
    var new: Lease?
    try old.withoutSuccessor { held in
      new = try newRun(job)
      try job.empty(held, fileSystem)
    }
    defer { new?.release() }
    #expect(try fileSystem.list(folder.file("given up")).isEmpty)
    #expect(try fileSystem.readAll(job.plan, cap: 9) == [2])
    #expect(try fileSystem.list(job.checkpoints) == ["checkpoint-1"])
    try new?.throwIfReplaced()
  }

  @Test(
    "Trap 12: what its owner is removing nobody takes over, and what somebody is about to take over its owner does not remove"
  )
  func turn() throws {
    let job = try folder.job()
    let lease = try Lease.take(in: job, fileSystem)
    defer { lease.release() }
    let successor = try fileSystem.open(job.lease, .update)
    #expect(try successor.lock(.exclusive, start: Lease.turn, length: 1))
    let error = #expect(throws: BatchError.self) { try job.remove(fileSystem, under: lease) }
    #expect(error?.code == .leaseHeld)
    #expect(try job.exists(fileSystem))
    successor.close()
    try lease.withoutSuccessor { _ in
      let late = try fileSystem.open(job.lease, .update)
      defer { late.close() }
      #expect(try !late.lock(.exclusive, start: Lease.turn, length: 1))
    }
    try job.remove(fileSystem, under: lease)
    #expect(try !job.exists(fileSystem))
  }
}

@Suite struct JobLogTests {
  let folder: JobTestFolder
  let fileSystem = LocalFileSystem()
  let now: @Sendable () -> Date = { Date(timeIntervalSince1970: 1_000_000_000) }

  init() throws { folder = try JobTestFolder() }

  private func text(_ path: String) throws -> String {
    String(decoding: try fileSystem.readAll(path, cap: 1 << 20), as: UTF8.self)
  }

  @Test func linesHaveTheTimeAndAreAppended() throws {
    let job = try folder.job()
    for word in ["one", "two\nforged"] {
      let log = try JobLog(job, fileSystem, now: now)
      try log.append(word)
      try log.sync()
      log.close()
      #expect(throws: StreamsError.self) { try log.append("late") }
    }
    #expect(try text(job.log) == "2001-09-09T01:46:40Z one\n2001-09-09T01:46:40Z two forged\n")
  }

  @Test func aLineThatACrashTookApartIsEnded() throws {
    let job = try folder.job()
    try fileSystem.writeAndSync(Array("half a li".utf8), to: job.log)
    try JobLog(job, fileSystem, now: now).append("next")
    #expect(try text(job.log) == "half a li\n2001-09-09T01:46:40Z next\n")
  }

  @Test func itNeverHoldsMoreThanTwiceItsCap() throws {
    let job = try folder.job()
    let log = try JobLog(job, fileSystem, cap: 200, now: now)
    for number in 0..<100 { try log.append("line \(number)") }
    #expect(try text(job.log).hasSuffix("line 99\n"))
    #expect(try text(job.log).utf8.count <= 200)
    #expect(try text(job.log + ".1").utf8.count <= 200)
  }

  @Test func aFailureIsSurfaced() throws {
    let job = try folder.job()
    let log = try JobLog(job, DyingFileSystem(at: 2), now: now)
    #expect(throws: StreamsError.self) { try log.append("x") }
  }
}

/// Another process removes a directory just before this one lists it.
private final class VanishingFileSystem: FileSystem {
  private let base = LocalFileSystem()
  func list(_ path: String) throws -> [String] {
    try FileManager.default.removeItem(atPath: path)
    return try base.list(path)
  }
  func open(_ path: String, _ mode: OpenMode) throws -> any File { try base.open(path, mode) }
  func rename(_ source: String, to destination: String) throws { try base.rename(source, to: destination) }
  func link(_ source: String, to destination: String) throws { try base.link(source, to: destination) }
  func remove(_ path: String) throws { try base.remove(path) }
  func makeDirectory(_ path: String) throws { try base.makeDirectory(path) }
  func removeDirectory(_ path: String) throws { try base.removeDirectory(path) }
  func status(_ path: String) throws -> FileStatus? { try base.status(path) }
  func syncDirectory(_ path: String) throws { try base.syncDirectory(path) }
  func availableSpace(_ path: String) throws -> UInt64 { try base.availableSpace(path) }
  func adopt(_ status: FileStatus, on path: String) throws { try base.adopt(status, on: path) }
}

@Suite struct VanishingJobDirectoryTests {
  @Test("A run that ends while another process looks at its directory is no error")
  func vanishes() throws {
    let folder = try JobTestFolder()
    let job = try folder.job()
    #expect(try job.current(VanishingFileSystem()) == job)
  }
}
