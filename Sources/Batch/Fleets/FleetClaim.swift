import Foundation
import MigrationJobs
import RunSupport
import Streams
import Synchronization

/// The right to work on a store of a fleet, or the sign that a task lives: one process at a time (I13).
///
/// A file with its owner's name, locked as long as the owner lives and touched once a second. It goes when it is given
/// up in good order, so that one which is there and not locked is that of a dead owner. Where the lock of another
/// machine cannot be trusted, only time tells: see `FleetClaims.takeOver`.
public final class FleetClaim: Sendable {
  /// This process, with the claim's epoch.
  public let owner: LeaseOwner
  /// Whether it was taken from an owner on another machine, which may still be running.
  public let isFromElsewhere: Bool
  private let path: String
  private let file: any File
  private let fileSystem: any FileSystem
  private let heartbeat = Heartbeat()
  private let onLoss = Mutex<(@Sendable () -> Void)?>(nil)

  init(_ owner: LeaseOwner, path: String, file: any File, isFromElsewhere: Bool, fileSystem: any FileSystem) {
    (self.owner, self.path, self.file, self.fileSystem) = (owner, path, file, fileSystem)
    self.isFromElsewhere = isFromElsewhere
    heartbeat.start { [weak self] in
      file.touch()
      self?.look()
    }
  }

  /// Calls a body, once, when another process has taken the claim: whoever had it must stop.
  public func whenLost(_ body: @escaping @Sendable () -> Void) { onLoss.withLock { $0 = body } }

  /// Whether it is still this process's. A claim that cannot be looked at counts as lost.
  public var isHeld: Bool { (try? LeaseOwner.read(path, fileSystem))?.token == owner.token }

  /// Gives it up: who comes next need not wait. Does nothing to a successor's.
  public func release() {
    heartbeat.stop()
    if (try? file.lock(.exclusive, start: Lease.turn, length: 1)) == true, isHeld { try? fileSystem.remove(path) }
    file.close()
  }

  private func look() {
    guard !isHeld, let body = onLoss.withLock({ body in body.take() }) else { return }
    body()
  }
}

/// Takes claims in a folder.
public struct FleetClaims: Sendable {
  /// What a look at somebody's claim shows: the same twice means that its owner gave no sign of life in between.
  public struct Sign: Sendable, Equatable {
    /// Who has it; nil if its record cannot be read.
    public var owner: LeaseOwner?
    var modified: Int64
  }

  /// What came of trying to take a claim.
  public enum Taking: Sendable {
    /// It is this process's.
    case taken(FleetClaim)
    /// It is another's, or was.
    case held(Sign)
  }

  /// How long an owner on another machine may give no sign of life, in seconds: it gives one every second.
  public static let patience = 30.0

  let directory: String
  private let fileSystem: any FileSystem

  /// Claims are files of that folder, which is there.
  public init(directory: String, _ fileSystem: any FileSystem) {
    (self.directory, self.fileSystem) = (directory, fileSystem)
  }

  private func path(_ name: String) -> String { FilePaths.join(directory, name + ".claim") }

  /// Takes a claim without waiting, if nobody has it, or if its owner has died on this machine. Its epoch is one more
  /// than the last owner's, and at least `epoch`.
  ///
  /// - Throws: ``BatchError``.
  public func take(_ name: String, epoch: UInt64 = 1) throws -> Taking {
    try BatchError.border {
      let path = path(name)
      for attempt in 0..<16 {
        let file = try fileSystem.open(path, .updateOrCreate)
        // A process that is just being started holds all files of its parent for a moment, and with them their locks.
        guard try file.lock(.exclusive, start: 0, length: 1) else {
          file.close()
          if attempt < 4 { usleep(25_000) } else if let sign = try sign(name) { return .held(sign) }
          continue
        }
        let last = try LeaseOwner.read(path, fileSystem)
        guard try last?.isOnThisMachine ?? (file.size() == 0) else {
          file.close()
          if let sign = try sign(name) { return .held(sign) }
          continue
        }
        let owner = LeaseOwner.current(epoch: max(epoch, (last?.epoch ?? 0) &+ 1))
        try Lease.write(owner, to: file)
        // Its last owner may have removed the file that was locked.
        if try LeaseOwner.read(path, fileSystem) == owner {
          return .taken(FleetClaim(owner, path: path, file: file, isFromElsewhere: false, fileSystem: fileSystem))
        }
        file.close()
      }
      throw BatchError(.failed, "the claim's file vanishes again and again", path: path)
    }
  }

  /// Takes a claim whose owner has given no sign of life since `sign`: the caller has waited. An owner that lives on
  /// this machine, as the kernel's lock shows, is never replaced. One elsewhere keeps its file, which nobody asks for
  /// any longer, and finds that out.
  ///
  /// - Throws: ``BatchError``.
  public func takeOver(_ name: String, _ sign: Sign, epoch: UInt64 = 1) throws -> Taking {
    try BatchError.border {
      let path = path(name)
      guard try fileSystem.status(path) != nil, sign.owner?.isOnThisMachine != true else {
        return try take(name, epoch: epoch)
      }
      let old = try fileSystem.open(path, .update)
      defer { old.close() }
      // Of two successors one is first, and the other one finds its record.
      guard try old.lock(.exclusive, start: Lease.turn, length: 1), try self.sign(name) == sign,
        try sign.owner != nil || !old.isExcluded(.shared, start: 0, length: 1)
      else { return try self.sign(name).map { .held($0) } ?? take(name, epoch: epoch) }
      let owner = LeaseOwner.current(epoch: max(epoch, (sign.owner?.epoch ?? 0) &+ 1))
      let file = try fileSystem.open(path + ".new", .create)
      guard try file.lock(.exclusive, start: 0, length: 1) else { return .held(sign) }
      try Lease.write(owner, to: file)
      try fileSystem.rename(path + ".new", to: path)
      try fileSystem.syncDirectory(directory)
      return .taken(FleetClaim(owner, path: path, file: file, isFromElsewhere: true, fileSystem: fileSystem))
    }
  }

  /// The names of all claims. Nothing is written.
  func names() throws -> [String] {
    try fileSystem.list(directory).compactMap { $0.hasSuffix(".claim") ? String($0.dropLast(6)) : nil }
  }

  /// Looks at a claim; nil if nobody has it. Opening the file first has a network file system ask its server. Nothing
  /// is written.
  ///
  /// - Throws: ``BatchError``.
  public func sign(_ name: String) throws -> Sign? {
    try BatchError.border {
      guard try fileSystem.status(path(name)) != nil, let file = try? fileSystem.open(path(name), .read) else {
        return nil
      }
      file.close()
      guard let status = try fileSystem.status(path(name)) else { return nil }
      return Sign(owner: try LeaseOwner.read(path(name), fileSystem), modified: status.modified)
    }
  }

  /// Whether the kernel says that a process has it locked. Nothing is written, and no lock is taken.
  ///
  /// - Throws: ``BatchError``.
  public func isLocked(_ name: String) throws -> Bool {
    try BatchError.border {
      guard try fileSystem.status(path(name)) != nil, let file = try? fileSystem.open(path(name), .read) else {
        return false
      }
      defer { file.close() }
      return try file.isExcluded(.shared, start: 0, length: 1)
    }
  }
}
