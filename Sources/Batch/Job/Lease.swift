import Foundation
import Streams

/// The right to write to a job directory: one process at a time.
///
/// It is a lock on an open file, kept for the whole run. The kernel drops it when the process ends in whatever way, so
/// the lease of a dead owner heals by itself, and one of a stopped owner stays held: nobody can come between, but for
/// ``takeOver(_:_:patience:)``, which kills it.
public final class Lease: Sendable {
  /// This process, as the lease file names it.
  public let owner: LeaseOwner
  private let file: any File
  private let heartbeat: Heartbeat

  private init(_ owner: LeaseOwner, _ file: any File) {
    self.owner = owner
    self.file = file
    heartbeat = Heartbeat(file)
  }

  /// Takes the lease, without waiting. Throws `leaseHeld` naming the owner when another holds it.
  public static func take(in job: JobDirectory, _ fileSystem: any FileSystem) throws -> Lease {
    // Another try only when the file that was locked lost its name meanwhile, since its owner ended the job.
    for attempt in 0..<16 {
      let file = try fileSystem.open(job.lease, .updateOrCreate)
      guard try file.lock(.exclusive, start: 0, length: 1) else {
        file.close()
        // A process that is just being started holds all files of its parent for a moment, and with them their locks.
        if attempt < 8 {
          usleep(25_000)
          continue
        }
        throw held(try LeaseOwner.read(job.lease, fileSystem), job)
      }
      let owner = LeaseOwner.current(epoch: try nextEpoch(file, job, fileSystem))
      try owner.record().withUnsafeBytes { try file.write($0, at: 0) }
      try file.truncate(to: UInt64(LeaseOwner.recordLength))
      try file.sync()
      if try fileSystem.status(job.lease) != nil, try LeaseOwner.read(job.lease, fileSystem) == owner {
        try fileSystem.syncDirectory(job.path)
        return Lease(owner, file)
      }
      file.close()
    }
    throw BatchError(.failed, "the lease file vanishes again and again", path: job.lease)
  }

  /// Gives the lease up. The file stays, and names the last owner.
  public func release() {
    heartbeat.stop()
    file.close()
  }

  /// One more than the last owner's. A record that cannot be read has an unknown one: seconds since 1970 are more
  /// than any count reaches.
  private static func nextEpoch(_ file: any File, _ job: JobDirectory, _ fileSystem: any FileSystem) throws -> UInt64 {
    if try file.size() == 0 { return 1 }
    guard let last = try LeaseOwner.read(job.lease, fileSystem), last.epoch < .max else {
      return UInt64(max(1, Date().timeIntervalSince1970))
    }
    return last.epoch + 1
  }

  private static func held(_ owner: LeaseOwner?, _ job: JobDirectory) -> BatchError {
    let who = owner.map { "process \($0.pid) on \($0.host), since \($0.started)," } ?? "another process"
    return BatchError(
      .leaseHeld, "\(who) is running this job",
      hint:
        "Wait for it to end, or stop that process; then start again. One that is stuck is replaced by \(ProgramName.current) resume --take-over",
      path: job.lease)
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
  public static func inspect(_ job: JobDirectory, _ fileSystem: any FileSystem) throws -> LeaseState {
    guard try fileSystem.status(job.lease) != nil else { return .none }
    let file = try fileSystem.open(job.lease, .read)
    defer { file.close() }
    let isHeld = try file.isExcluded(.shared, start: 0, length: 1)
    let owner = try LeaseOwner.read(job.lease, fileSystem)
    return isHeld ? .live(owner) : .dead(owner)
  }
}
