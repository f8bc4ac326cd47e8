import Foundation
import RunSupport
import Streams

extension MigrationJob {
  /// What a rollback did.
  public struct RollbackReport: Sendable, Codable, Equatable {
    /// The path that has its old store again.
    public var store: String
    /// The backup that was put back, and whose name is gone.
    public var restored: String
    /// The path that has the store which was there before; nil if there was none.
    public var setAside: String?
  }

  /// Puts the newest backup of a store back, with its values outside, and sets the present store aside as
  /// `<store>.rolled-back-<time>`: nothing is destroyed.
  ///
  /// One action, as the cut-over: a crash leaves the one store or the other whole, and another call, or a resume,
  /// finishes it. Everything is durable on return.
  ///
  /// - Throws: ``BatchError`` with its effect: `refused` if there is no backup, where a migration of the store waits to
  ///   go on, where the store is open in another process, and, unless `force` is given, where it was written since its
  ///   cut-over or that cannot be known.
  public func rollback(_ path: String, force: Bool = false) throws -> RollbackReport {
    try settled(path) { try rollBack(JobDirectory(destination: path), force: force) }
  }

  /// What is known of a store that has no backup.
  public enum WithoutBackup: Sendable {
    /// A rollback has put the old store back already.
    case rolledBack
    /// The last migration has made its result beside the old store.
    case beside
    /// The last migration has replaced the store, and its backup is gone.
    case gone
    /// A run that failed or was interrupted waits, and has replaced nothing.
    case unfinished(JobStatus.State)
    /// No migration to this path is known.
    case unknown
  }

  /// Why a rollback finds nothing to put back; nil where there is a backup, or a run that is at work or past its end.
  /// Nothing is written.
  public func withoutBackup(_ path: String) -> WithoutBackup? {
    guard let store = try? JobDirectory(destination: path).destination else { return .unknown }
    let hasNone = try? StoreBackup.all(of: store, fileSystem).allSatisfy { $0.kind != .replaced }
    guard hasNone == true, let state = (try? status(store))?.state else { return nil }
    if state == .failed || state == .interrupted { return .unfinished(state) }
    guard state == .none else { return nil }
    guard let report = try? report(store) else { return .unknown }
    if report.present == .rolledBack { return .rolledBack }
    return report.source == report.destination ? .gone : .beside
  }

  private func rollBack(_ job: JobDirectory, force: Bool) throws -> RollbackReport {
    for _ in 0..<Self.mostRollbacks {
      if let finished = try finishRollback(job) { return finished }
      let seen = try files(of: job.destination)
      try settle(job, for: .rollback)
      // Looked at before anything is made, and again under the lease.
      do { try checkRollback(to: newestBackup(job.destination), of: job.destination, force: force) } catch {
        // What was seen of a store whose run ended meanwhile may be half of before and half of after.
        guard try files(of: job.destination) == seen else { continue }
        throw error
      }
      let lease = try Lease.begin(job, fileSystem)
      defer { lease.release() }
      guard try RunLife.look(job, fileSystem, isOwn: true).phase == .leased else { continue }
      do {
        let backup = try newestBackup(job.destination)
        try checkRollback(to: backup, of: job.destination, force: force)
        try job.create(fileSystem)
        return try putBack(backup, job: job, lease: lease, force: force)
      } catch {
        // Without a journal nothing has happened yet, or all.
        if (error as? BatchError)?.effect != .done, try job.exists(fileSystem),
          try fileSystem.status(job.cutOver) == nil
        {
          try job.remove(fileSystem, under: lease)
          throw error
        }
        throw BatchError(wrapping: error).withinRun
      }
    }
    throw BatchError(
      .leaseHeld, "other processes begin and end runs of this store at this moment", hint: "Try again in a moment",
      path: job.destination)
  }

  private static let mostRollbacks = 8

  /// Finishes a rollback that was interrupted; nil if there is none that could be finished.
  private func finishRollback(_ job: JobDirectory) throws -> RollbackReport? {
    let life = try RunLife.look(job, fileSystem)
    guard life.isRollback, life.answer(to: .rollback) == .finish, let lease = try Lease.takeIfThere(in: job, fileSystem)
    else {
      return nil
    }
    defer { lease.release() }
    let job = try job.current(fileSystem)
    let again = try RunLife.look(job, fileSystem, isOwn: true)
    let cutOver = CutOver(fileSystem: fileSystem, job: job)
    guard again == life, let restored = try cutOver.journal().restores else { return nil }
    return try end(try cutOver.resume(), restored: restored, job: job, lease: lease)
  }

  /// Removes the job of a rollback whose cut-over is finished, and looks at the store before anything is claimed of it.
  private func end(_ finished: CutOverResult?, restored: String, job: JobDirectory, lease: Lease) throws
    -> RollbackReport
  {
    let cutOver = CutOver(fileSystem: fileSystem, job: job)
    let journal = try cutOver.journal()
    return try job.whenOver(fileSystem, what: "The old store is in its place again") {
      try job.remove(fileSystem, under: lease)
      let result = try cutOver.result(journal)
      try result.throwIfReplaced(fileSystem)
      return RollbackReport(store: job.destination, restored: restored, setAside: finished?.backup)
    }
  }

  private func newestBackup(_ store: String) throws -> StoreBackup {
    let backups = try StoreBackup.all(of: store, fileSystem).filter { $0.kind == .replaced }
    guard let newest = try backups.last(where: { try isReceipt(of: $0, for: store) }) ?? backups.last else {
      let usual = StoreBackup.path(of: store, suffix: "backup-<time>")
      throw BatchError(
        .refused, "no backup of this store is here",
        hint: "A migration in place keeps one as \(FilePaths.name(of: usual))", effect: .nothingWritten, path: store)
    }
    return newest
  }

  /// The files of a store, its backups and their receipts, as they are at this moment. What is written to a file does
  /// not change it.
  private func files(of store: String) throws -> [String: [UInt64]] {
    let backups = try StoreBackup.all(of: store, fileSystem).map(\.path)
    let paths = [store] + backups + backups.map { BackupReceipt.path(of: $0) }
    return try Dictionary(
      uniqueKeysWithValues: Set(paths).map { path in
        (path, try fileSystem.statusOfName(path).map { [$0.device, $0.inode] } ?? [])
      })
  }

  /// Whether the present store took the place of that backup. The newest name does not prove it: clocks are set back.
  private func isReceipt(of backup: StoreBackup, for store: String) throws -> Bool {
    guard try fileSystem.statusOfName(store) != nil, let receipt = try BackupReceipt.read(for: backup.path, fileSystem)
    else {
      return false
    }
    return (try? StoreState(store, fileSystem)) == receipt.new
  }

  private func checkRollback(to backup: StoreBackup, of store: String, force: Bool) throws {
    for suffix in ["-wal", "-journal"] where (try fileSystem.statusOfName(backup.path + suffix)?.size ?? 0) > 0 {
      throw BatchError(
        .refused, "the backup was opened, and has changes in \(backup.path)\(suffix)",
        hint: "Open it once with SQLite and close it, so that they get into the file", effect: .nothingWritten,
        path: backup.path)
    }
    guard try fileSystem.statusOfName(store) != nil else { return }
    try refuseInUse(store, "the store")
    guard !force else { return }
    guard let receipt = try BackupReceipt.read(for: backup.path, fileSystem) else {
      throw BatchError(
        .refused,
        "whether the store was written since its migration cannot be known: \(BackupReceipt.path(of: backup.path)) is missing",
        hint: "Use --force if the backup is newer than all that you need", effect: .nothingWritten, path: store)
    }
    guard try StoreState(store, fileSystem) == receipt.new else {
      throw BatchError(
        .refused, "the store was written since its migration, and the backup does not have what was written",
        hint: "Use --force to put the backup back; the present store is set aside then", effect: .nothingWritten,
        path: store)
    }
  }

  private func refuseInUse(_ path: String, _ what: String) throws {
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    let isFree = try Patience.wait(for: path) {
      try !file.isExcluded(.exclusive, start: CutOver.sqliteLockStart, length: CutOver.sqliteLockLength)
    }
    guard !isFree else { return }
    throw BatchError(
      .refused, "\(what) is open in another process", hint: "Close every program that uses it", effect: .nothingWritten,
      path: path)
  }

  private func putBack(_ backup: StoreBackup, job: JobDirectory, lease: Lease, force: Bool) throws -> RollbackReport {
    try refuseInUse(backup.path, "the backup")
    do {
      try fileSystem.link(backup.path, to: job.newStore)
    } catch let error as StreamsError where error.code == .unsupported {
      let file = try fileSystem.open(backup.path, .read)
      defer { file.close() }
      try StoreCopy(fileSystem: fileSystem).copy(file, to: job.newStore)
    }
    let isInPlace = try fileSystem.statusOfName(job.destination) != nil
    let now = Date().timeIntervalSinceReferenceDate
    let suffix = try StoreBackup.freeSuffix(.setAside, of: job.destination, now: now, fileSystem: fileSystem)
    let finished = try CutOver(fileSystem: fileSystem, job: job).run(
      newStore: job.newStore, destination: job.destination, inPlace: isInPlace, backupSuffix: suffix,
      restores: backup.path
    ) { try checkRollback(to: backup, of: job.destination, force: force) }
    return try end(finished, restored: backup.path, job: job, lease: lease)
  }
}
