@preconcurrency import Dispatch
import Glibc
import RunSupport
import Streams

// A successor for an owner that lives and does nothing: stopped, or stuck.
extension Lease {
  /// How long an owner may give no sign of life, in seconds: it gives one every second.
  public static let patience = 5.0

  /// Takes the lease, from an owner that gives no sign of life too. One on this machine is killed first, and its end is
  /// waited for, so that it can write nothing any longer. One on another machine keeps its file, which nobody asks for
  /// any longer: it may continue, so that the run has to continue with copies of what it has open.
  ///
  /// - Throws: ``BatchError``: `leaseHeld` when the owner gives a sign, within ``patience``; and `refused` when it
  ///   cannot be shown that the owner is the process of that number on this machine, if nobody is killed, or when one
  ///   elsewhere is at its cut-over.
  public static func takeOver(_ job: JobDirectory, _ fileSystem: any FileSystem, patience: Double = patience) throws
    -> Lease
  {
    do {
      // A network file system gives the lock of a machine that it has lost to others; that machine may come back.
      let last = try LeaseOwner.read(job.lease, fileSystem)
      let isElsewhere = try last?.isOnThisMachine == false && isUnderWay(job, fileSystem)
      guard let lease = try takeIfThere(in: job, fileSystem, fromElsewhere: isElsewhere) else {
        return try take(in: job, fileSystem)
      }
      return lease
    } catch let error as BatchError where error.code == .leaseHeld {
      let sign = try sign(of: job, fileSystem)
      guard let owner = try LeaseOwner.read(job.lease, fileSystem) else { throw error }
      for _ in 0..<Int(patience * 10) {
        usleep(100_000)
        // The clock is not asked: a sign is any change of the time, whatever it is.
        guard try self.sign(of: job, fileSystem) == sign else {
          if try isFree(job, fileSystem) { break }
          throw alive(owner, job)
        }
      }
      if try !isFree(job, fileSystem) {
        guard owner.isOnThisMachine else { return try replace(owner, sign: sign, job: job, fileSystem: fileSystem) }
        try end(owner, job)
      }
      return try takeAfterEnd(of: owner, job, fileSystem)
    }
  }

  /// The time of change. Opening the file first has a network file system ask its server.
  private static func sign(of job: JobDirectory, _ fileSystem: any FileSystem) throws -> Int64? {
    guard try fileSystem.status(job.lease) != nil else { return nil }
    try fileSystem.open(job.lease, .read).close()
    return try fileSystem.status(job.lease)?.modified
  }

  /// Gives the lease's name to a file of this process.
  private static func replace(
    _ owner: LeaseOwner, sign: Int64?, job: JobDirectory, fileSystem: any FileSystem
  ) throws -> Lease {
    guard try isUnderWay(job, fileSystem) else { throw try notUnderWay(owner, in: job, fileSystem) }
    // Of two successors one is first, and the other one finds its record. An owner that removes the job has had its
    // turn, too.
    let directory = try fileSystem.hold(job.path)
    let old = try fileSystem.open(job.lease, .update)
    defer { old.close() }
    guard try old.lock(.exclusive, start: turn, length: 1) else { throw held(nil, job) }
    guard try LeaseOwner.read(job.lease, fileSystem) == owner, try self.sign(of: job, fileSystem) == sign else {
      throw alive(owner, job)
    }
    let successor = LeaseOwner.current(epoch: owner.epoch &+ 1)
    let file = try fileSystem.open(job.lease + ".new", .create)
    guard try file.lock(.exclusive, start: 0, length: 1) else { throw held(nil, job) }
    try write(successor, to: file)
    try fileSystem.rename(job.lease + ".new", to: job.lease)
    try fileSystem.syncDirectory(job.path)
    return Lease(successor, file: file, in: directory, job: job, fileSystem: fileSystem, isFromElsewhere: true)
  }

  /// Whether the run is between its beginning and its end.
  private static func isUnderWay(_ job: JobDirectory, _ fileSystem: any FileSystem) throws -> Bool {
    try fileSystem.status(job.plan) != nil && !CutOver(fileSystem: fileSystem, job: job).isPending()
  }

  /// For the beginning and the end of a run: a few files are moved and removed by name then, and nobody could do that
  /// beside it.
  private static func notUnderWay(_ owner: LeaseOwner, in job: JobDirectory, _ fileSystem: any FileSystem) throws
    -> BatchError
  {
    let (who, end) = ("process \(owner.pid) on \(owner.host)", "End process \(owner.pid) on \(owner.host)")
    guard try CutOver(fileSystem: fileSystem, job: job).isPending() else {
      return BatchError(
        .refused, "\(who) gives no sign of life, and is at the beginning of its run: nothing is there to take over",
        hint: "\(end), then migrate again", path: job.lease)
    }
    let resume = ProgramName.command("resume", job.destination)
    return BatchError(
      .refused, "\(who) gives no sign of life, and is at the end of its run",
      hint: "\(end), then go on with \(resume)", next: [resume.line], path: job.lease)
  }

  private static func isFree(_ job: JobDirectory, _ fileSystem: any FileSystem) throws -> Bool {
    if case .live = try inspect(job, fileSystem) { return false }
    return true
  }

  private static func takeAfterEnd(of owner: LeaseOwner, _ job: JobDirectory, _ fileSystem: any FileSystem) throws
    -> Lease
  {
    // A process that is writing to a slow disk ends when that call returns.
    for _ in 0..<100 where try !isFree(job, fileSystem) { usleep(100_000) }
    return try take(in: job, fileSystem)
  }

  /// Kills the owner, if it is what the record says and has the lease file open.
  private static func end(_ owner: LeaseOwner, _ job: JobDirectory) throws {
    // The handle first, the proof after: a number that is used again between the two cannot be mistaken.
    guard let process = ProcessHandle(owner.pid) else { return }
    defer { process.close() }
    guard owner.isRunning, process.hasOpen(job.lease) else {
      let resume = ProgramName.command("resume", job.destination)
      throw BatchError(
        .refused, "the lease is held, but not by process \(owner.pid), which its record names",
        hint: "Find who has it open (lsof), end that process, then go on with \(resume)", next: [resume.line],
        path: job.lease)
    }
    process.kill()
  }

  private static func alive(_ owner: LeaseOwner, _ job: JobDirectory) -> BatchError {
    BatchError(
      .leaseHeld, "process \(owner.pid) on \(owner.host) is running this job, and gives signs of life",
      hint: "Wait for it to end, or stop that process", path: job.lease)
  }
}
