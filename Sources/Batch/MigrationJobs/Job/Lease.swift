import Foundation
import RunSupport
import Streams
import Synchronization

/// The right to write to a job directory: one process at a time.
///
/// It is a lock on an open file, kept for the whole run. The kernel drops it when the process ends in whatever way, so
/// the lease of a dead owner heals by itself, and one of a stopped owner stays held: nobody can come between, except
/// for ``takeOver(_:_:patience:)``: it kills an owner on this machine, and gives the name of the lease to another file
/// where the owner is on another one. That owner finds out by itself, and leaves.
public final class Lease: Sendable {
  /// This process, as the lease file names it.
  public let owner: LeaseOwner
  /// Whether it was taken from an owner on another machine, which may still be running.
  let isFromElsewhere: Bool
  /// The bytes of the lease file that name it.
  private let record: [UInt8]?
  private let file: any File
  private let directory: HeldDirectory
  private let job: JobDirectory
  private let fileSystem: any FileSystem
  private let heartbeat: Heartbeat
  private let monitor = Mutex<RunMonitor?>(nil)
  /// Whether this process has removed the directory, and the lease with it.
  private let isEnded = Mutex(false)

  /// `directory` is the one that the file was opened in.
  init(
    _ owner: LeaseOwner, file: any File, in directory: HeldDirectory, job: JobDirectory,
    fileSystem: any FileSystem,
    isFromElsewhere: Bool = false
  ) {
    (self.owner, self.file, self.directory, self.job, self.fileSystem) = (owner, file, directory, job, fileSystem)
    self.isFromElsewhere = isFromElsewhere
    record = try? owner.record()
    // Orders are for the process that they were given to. Nobody has seen this one yet.
    try? LocalFileSystem().remove(job.control)
    heartbeat = Heartbeat()
    // The record was written just now.
    heartbeat.start(after: 1) { [weak self] in
      file.touch()
      self?.stopIfReplaced()
    }
  }

  /// Stops a run when another process has taken the lease, which is checked with every sign of life.
  package func guardRun(_ monitor: RunMonitor) { self.monitor.withLock { $0 = monitor } }

  private func stopIfReplaced() {
    guard let monitor = monitor.withLock({ $0 }) else { return }
    do { try throwIfReplaced() } catch { monitor.requestStop(because: error) }
  }

  /// Whether another process may have taken the lease. Trap 9: what cannot be looked at counts as the worst.
  var mayBeReplaced: Bool { (try? throwIfReplaced()) == nil }

  /// Throws `leaseHeld` when another process has taken the lease, and what the disk throws when that cannot be known:
  /// this process must write nothing more.
  package func throwIfReplaced() throws {
    if isEnded.withLock({ $0 }) { return }
    var successor: LeaseOwner?
    if try fileSystem.status(job.lease) != nil {
      let bytes = try fileSystem.readAll(job.lease, cap: 4096)
      if let record, bytes == record { return }
      successor = try? JSONDecoder().decode(LeaseOwner.self, from: Data(bytes))
      if successor?.token == owner.token { return }
    }
    let who = successor.map { "process \($0.pid) on \($0.host)" } ?? "another process"
    let look = ProgramName.command("status", job.store)
    throw BatchError(
      .leaseHeld, "\(who) has taken this run over, as this one gave no sign of life",
      hint: "Leave it to that process, which \(look) tells of; nothing was written since by this one", effect: .unknown,
      next: [look.line], path: job.lease)
  }

  /// Takes the lease of a job directory that is there.
  ///
  /// - Throws: ``BatchError``: `leaseHeld` naming the owner when another process holds it, and `inputOutput` when there
  ///   is no directory.
  public static func take(in job: JobDirectory, _ fileSystem: any FileSystem) throws -> Lease {
    guard let lease = try takeIfThere(in: job, fileSystem) else {
      throw StreamsError(.inputOutput, "there is no job directory", path: job.path)
    }
    return lease
  }

  /// Makes the job directory if there is none, and takes its lease: whoever removes the directory at that moment does
  /// not get in the way.
  ///
  /// Throws `leaseHeld` when another process holds it, and `refused` when something else is in the directory's place.
  static func begin(_ job: JobDirectory, _ fileSystem: any FileSystem) throws -> Lease {
    for _ in 0..<mostAttempts {
      if try !job.exists(fileSystem) { try fileSystem.makeDirectory(job.path) }
      if let lease = try takeIfThere(in: job, fileSystem) { return lease }
    }
    throw vanishes(job)
  }

  /// Takes the lease, or returns nil if the directory is not there, or goes at this moment: its run has ended.
  ///
  /// A lease that another process holds is waited for a fifth of a second: it may be about to end, or only looking.
  static func takeIfThere(in job: JobDirectory, _ fileSystem: any FileSystem, fromElsewhere: Bool = false) throws
    -> Lease?
  {
    var (waits, failures) = (0, 0)
    for _ in 0..<mostAttempts {
      guard try job.exists(fileSystem) else { return nil }
      let directory: HeldDirectory
      let file: any File
      do {
        directory = try fileSystem.hold(job.path)
        file = try fileSystem.open(job.lease, .updateOrCreate)
      } catch {
        try pause(after: &failures, error)
        continue
      }
      guard try file.lock(.exclusive, start: 0, length: 1) else {
        file.close()
        guard waits < mostWaits else { throw held(try? LeaseOwner.read(job.lease, fileSystem), job) }
        waits += 1
        usleep(25_000)
        continue
      }
      let owner = LeaseOwner.current(epoch: try nextEpoch(file, job: job, fileSystem: fileSystem))
      try write(owner, to: file)
      if isNamed(owner, directory: directory, job: job, fileSystem: fileSystem) {
        return Lease(owner, file: file, in: directory, job: job, fileSystem: fileSystem, isFromElsewhere: fromElsewhere)
      }
      file.close()
    }
    throw vanishes(job)
  }

  /// An owner may be removing the directory just now, and be kept from its end. What fails for another reason fails
  /// again: throws the last error.
  private static func pause(after failures: inout Int, _ error: any Error) throws {
    failures += 1
    guard failures < mostFailures else { throw error }
    usleep(useconds_t(failures) * 5_000)
  }

  private static let mostAttempts = 64
  private static let mostFailures = 8
  private static let mostWaits = 8

  /// Whether the file that was locked still has its name. Looked at by both ways: the directory may have got its name
  /// only just now.
  private static func isNamed(
    _ owner: LeaseOwner, directory: HeldDirectory, job: JobDirectory, fileSystem: any FileSystem
  ) -> Bool {
    [job.lease, FilePaths.join(directory.path, FilePaths.name(of: job.lease))].allSatisfy { path in
      (try? LeaseOwner.read(path, fileSystem)) == owner
    }
  }

  private static func vanishes(_ job: JobDirectory) -> BatchError {
    BatchError(
      .leaseHeld, "other processes begin and end runs of this store at this moment", hint: "Try again in a moment",
      path: job.path
    )
  }

  package static func write(_ owner: LeaseOwner, to file: any File) throws {
    try owner.record().withUnsafeBytes { try file.write($0, at: 0) }
    try file.truncate(to: UInt64(LeaseOwner.recordLength))
    try file.sync()
  }

  /// Does the last things in the job directory, which the body is given a way to, while nobody can take the lease over.
  ///
  /// Throws `leaseHeld` before that if somebody has, or is about to.
  func withoutSuccessor(_ body: (_ directory: String) throws -> Void) throws {
    guard try file.lock(.exclusive, start: Self.turn, length: 1) else { throw Self.held(nil, job) }
    try throwIfReplaced()
    // The lease goes with the rest: from here on that is no sign of a successor.
    isEnded.withLock { $0 = true }
    do {
      try body(directory.path)
    } catch var error as StreamsError {
      // A person knows the directory by its name.
      error.path = error.path?.replacing(directory.path, with: job.path)
      throw error
    }
  }

  /// The byte of the lease file that is locked by whoever is about to take the lease over, or does not let that happen
  /// any longer.
  package static let turn: UInt64 = 1

  /// Gives the lease up. The file stays, and names the last owner.
  public func release() {
    heartbeat.stop()
    file.close()
  }

  /// One more than the last owner's. A record that cannot be read has an unknown one: seconds since 1970 are more
  /// than any count reaches.
  private static func nextEpoch(_ file: any File, job: JobDirectory, fileSystem: any FileSystem) throws -> UInt64 {
    if try file.size() == 0 { return 1 }
    guard let last = try LeaseOwner.read(job.lease, fileSystem), last.epoch < .max else {
      return UInt64(max(1, Date().timeIntervalSince1970))
    }
    return last.epoch + 1
  }

  static func held(_ owner: LeaseOwner?, _ job: JobDirectory) -> BatchError {
    let who = owner.map { "process \($0.pid) on \($0.host), since \($0.started)," } ?? "another process"
    let takeOver = ProgramName.command("resume", "--take-over", job.store)
    return BatchError(
      .leaseHeld, "\(who) is at work on this store",
      hint: "Wait until it ends. If it is stuck, take its run over with \(takeOver)",
      effect: .nothingWritten, next: [takeOver.line], path: job.store)
  }
}

/// Whether a lease is held.
public enum LeaseState: Sendable, Equatable {
  /// Nobody ever took it.
  case none
  /// It is held now; by whom is unknown while the owner writes its name.
  case live(LeaseOwner?)
  /// It is free; the last owner has ended.
  case dead(LeaseOwner?)
}

extension Lease {
  /// Looks at a lease. Nothing is written and no lock is taken, so a look never gets in an owner's way.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public static func inspect(_ job: JobDirectory, _ fileSystem: any FileSystem) throws -> LeaseState {
    var failures = 0
    while try fileSystem.status(job.lease) != nil {
      do { return try look(at: job, fileSystem) } catch {
        try pause(after: &failures, error)
      }
    }
    return .none
  }

  private static func look(at job: JobDirectory, _ fileSystem: any FileSystem) throws -> LeaseState {
    let file = try fileSystem.open(job.lease, .read)
    defer { file.close() }
    let isHeld = try file.isExcluded(.shared, start: 0, length: 1)
    let owner = try LeaseOwner.read(job.lease, fileSystem)
    return isHeld ? .live(owner) : .dead(owner)
  }
}
