import Foundation
import Glibc
import Streams
import Testing

@testable import Batch

/// Trap 12: what becomes of an owner that is replaced. Python plays the owner, as another process.
@Suite("Taking the lease over", .enabled(if: LeaseTests.python != nil, "python3 is not installed"))
struct LeaseTakeOverTests {
  let folder: JobTestFolder
  let job: JobDirectory
  let fileSystem = LocalFileSystem()

  init() throws {
    folder = try JobTestFolder()
    job = try folder.job()
  }

  /// A process that holds the lease's lock and gives a sign of life every 50 ms, with a record that `change` may falsify.
  private func owner(_ change: (inout LeaseOwner) -> Void = { _ in }) throws -> Process {
    try fileSystem.writeAndSync([], to: job.lease)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(LeaseTests.python))
    let script = """
      import fcntl, os, struct, sys, time
      f = open(sys.argv[1], 'r+b')
      fcntl.fcntl(f, 37, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 1, 0))
      os.write(1, b'!')
      while True:
        time.sleep(0.05)
        os.utime(f.fileno())
      """
    process.arguments = ["-c", script, job.lease]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    #expect(output.fileHandleForReading.availableData == Data("!".utf8))
    var record = LeaseOwner.current(epoch: 4)
    record.pid = process.processIdentifier
    record.processStart = LeaseOwner.processStart("\(record.pid)")
    change(&record)
    try record.record().withUnsafeBytes { bytes in
      let file = try fileSystem.open(job.lease, .update)
      try file.write(bytes, at: 0)
      file.close()
    }
    return process
  }

  private func end(_ process: Process) {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  @Test("An owner that is stopped is killed and waited for, and the successor's epoch is higher")
  func stopped() throws {
    let process = try owner()
    kill(process.processIdentifier, SIGSTOP)
    let lease = try Lease.takeOver(job, fileSystem, patience: 0.5)
    #expect(lease.owner.epoch == 5)
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL)
    #expect(try Lease.inspect(job, fileSystem) == .live(lease.owner))
  }

  @Test("An owner that gives signs of life is respected")
  func alive() throws {
    let process = try owner()
    defer { end(process) }
    let error = #expect(throws: BatchError.self) { try Lease.takeOver(job, fileSystem, patience: 2) }
    #expect(error?.code == .leaseHeld && error?.message.contains("signs of life") == true)
    #expect(process.isRunning)
  }

  enum Falsehood: CaseIterable { case boot, start, innocent }

  @Test(
    "Nobody is killed whose record names another machine, another process, or one without the lease",
    arguments: Falsehood.allCases)
  func falsified(_ falsehood: Falsehood) throws {
    let innocent = Process()
    innocent.executableURL = URL(fileURLWithPath: "/bin/sleep")
    innocent.arguments = ["60"]
    try innocent.run()
    let process = try owner { record in
      switch falsehood {
      case .boot: record.bootID = "00000000-0000-4000-8000-000000000000"
      case .start: record.processStart += 1
      case .innocent:
        record.pid = innocent.processIdentifier
        record.processStart = LeaseOwner.processStart("\(record.pid)")
      }
    }
    defer { for running in [process, innocent] { end(running) } }
    kill(process.processIdentifier, SIGSTOP)
    let error = #expect(throws: BatchError.self) { try Lease.takeOver(job, fileSystem, patience: 0.3) }
    #expect(error?.code == .refused, "\(String(describing: error))")
    #expect(process.isRunning && innocent.isRunning)
  }

  @Test("The owner gives a sign of life every second, and none behind its end")
  func heartbeat() throws {
    let lease = try Lease.take(in: job, fileSystem)
    let first = try #require(try fileSystem.status(job.lease)).modified
    var now = first
    for _ in 0..<40 where now == first {
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
