import Foundation
import Streams

extension MigrationJob {
  /// What was found by a search for leftovers.
  public struct CleanReport: Sendable, Codable, Equatable {
    /// A file or directory with what belongs to it.
    public struct Item: Sendable, Codable, Equatable {
      /// Its path.
      public var path: String
      /// What it is, and why it goes or stays.
      public var reason: String
      /// Its bytes. Of a file with several names they are free only when the last one goes.
      public var bytes: UInt64
    }
    /// What was removed, or would be.
    public var removed: [Item] = []
    /// What stays.
    public var kept: [Item] = []
  }

  /// Removes what ended runs left in a directory, or beside one store: working files of runs that nobody can go on with, and
  /// backups over the limit. Runs that are alive stay, and cut-overs that only have to be finished. What stays of a finished run for its
  /// report goes where its store is gone.
  ///
  /// - Parameters:
  ///   - path: a directory, or the destination of runs.
  ///   - all: give up interrupted runs that could go on, too; their sources are as they were.
  ///   - backups: how many backups of each store stay; nil leaves all.
  ///   - reports: remove what stays of finished runs for their reports, too.
  ///   - dryRun: only look.
  public func clean(
    _ path: String, all: Bool = false, backups limit: BackupLimit? = nil, reports: Bool = false, dryRun: Bool = false
  ) throws -> CleanReport {
    let isDirectory = try fileSystem.status(path)?.isDirectory == true
    let directory = try JobDirectory.resolve(isDirectory ? path : FilePaths.directory(of: path))
    let store = isDirectory ? nil : try JobDirectory.resolve(path)
    var report = CleanReport()
    for name in try fileSystem.list(directory) {
      guard let destination = Self.destination(ofJob: name, in: directory), store.map({ $0 == destination }) ?? true,
        try fileSystem.statusOfName(FilePaths.join(directory, name))?.isDirectory == true
      else { continue }
      try clean(try JobDirectory(destination: destination).current(fileSystem), all, dryRun, &report)
    }
    try cleanBackups(directory, store, limit, dryRun, &report)
    try cleanRecords(directory, store, reports, dryRun, &report)
    return report
  }

  private static func destination(ofJob name: String, in directory: String, suffix: String = ".godwit") -> String? {
    guard name.hasPrefix("."), name.hasSuffix(suffix), name.utf8.count > suffix.utf8.count + 1 else { return nil }
    return FilePaths.join(directory, String(name.dropFirst().dropLast(suffix.count)))
  }

  private func cleanRecords(
    _ directory: String, _ store: String?, _ all: Bool, _ dryRun: Bool, _ report: inout CleanReport
  ) throws {
    for name in try fileSystem.list(directory) {
      let path = FilePaths.join(directory, name)
      guard let destination = Self.destination(ofJob: name, in: directory, suffix: ".godwit-report"),
        store.map({ $0 == destination }) ?? true, let status = try fileSystem.statusOfName(path), status.isRegularFile
      else { continue }
      let isAlone = try fileSystem.statusOfName(destination) == nil
      let reason = "tells what became of a migration\(isAlone ? " whose store is gone" : "")"
      let item = CleanReport.Item(path: path, reason: reason, bytes: status.size)
      guard all || isAlone else {
        report.kept.append(item)
        continue
      }
      report.removed.append(item)
      if !dryRun { try fileSystem.remove(path) }
    }
  }

  private func clean(_ job: JobDirectory, _ all: Bool, _ dryRun: Bool, _ report: inout CleanReport) throws {
    var item = CleanReport.Item(path: job.path, reason: "", bytes: try bytes(job.path, depth: 0))
    let (isUseless, reason) = try judge(job, all)
    item.reason = reason
    guard isUseless else { return report.kept.append(item) }
    report.removed.append(item)
    guard !dryRun else { return }
    let lease = try Lease.take(in: job, fileSystem)
    defer { lease.release() }
    // Once more under the lease: somebody may have gone on with it meanwhile.
    guard try judge(job, all, hasLease: true).isUseless else {
      report.removed.removeLast()
      return report.kept.append(item)
    }
    try giveUp(job, lease)
  }

  /// Removes a job directory with what the run left elsewhere. The caller has the lease.
  func giveUp(_ job: JobDirectory, _ lease: Lease) throws {
    if let plan = try? JobPlan.read(job, fileSystem) {
      if !plan.isInPlace, try fileSystem.statusOfName(plan.destination) == nil {
        try ExternalDataCopy(fileSystem: fileSystem).remove(from: plan.destination)
      }
      JobRegistry(fileSystem).forget(source: plan.source)
    }
    try job.remove(fileSystem, under: lease)
  }

  private func judge(_ job: JobDirectory, _ all: Bool, hasLease: Bool = false) throws -> (isUseless: Bool, reason: String) {
    if !hasLease, case .live(let owner) = try Lease.inspect(job, fileSystem) {
      return (false, "is running\(owner.map { ", process \($0.pid) on \($0.host)" } ?? "")")
    }
    if try fileSystem.status(job.cutOver) != nil {
      return (false, "is at its cut-over, which resume finishes")
    }
    if try fileSystem.status(job.plan) == nil { return (true, "has no plan: nothing was begun, or all is done") }
    if all { return (true, "is interrupted, and given up") }
    do {
      let found = try CheckpointStore(directory: job.checkpoints, fileSystem: fileSystem).newestReadable()
      return found == nil ? (true, "is interrupted and has no checkpoint") : (false, "is interrupted, and resume goes on with it")
    } catch let error as StreamsError where error.code == .damagedCheckpoint {
      return (true, "is interrupted, and its checkpoints are damaged")
    }
  }

  private func cleanBackups(
    _ directory: String, _ store: String?, _ limit: BackupLimit?, _ dryRun: Bool, _ report: inout CleanReport
  ) throws {
    let backups = try StoreBackup.all(in: directory, fileSystem).filter { store == nil || $0.store == store }
    let now = Date().timeIntervalSinceReferenceDate
    for (_, backups) in Dictionary(grouping: backups, by: \.store).sorted(by: { $0.key < $1.key }) {
      let surplus = limit?.surplus(backups, now: now) ?? []
      for backup in backups {
        let isSurplus = surplus.contains(backup)
        let what = backup.kind == .replaced ? "is a backup" : "was set aside by a rollback"
        let item = CleanReport.Item(
          path: backup.path, reason: isSurplus ? what + ", over the limit" : what, bytes: try backup.bytes(fileSystem))
        if isSurplus { report.removed.append(item) } else { report.kept.append(item) }
        // A job that is at work there has the backup's name in its journal.
        if isSurplus, !dryRun { try remove(backup) }
      }
    }
  }

  private func remove(_ backup: StoreBackup) throws {
    let job = try JobDirectory(destination: backup.store).current(fileSystem)
    if try job.exists(fileSystem), try CutOverJournal.read(job, fileSystem) != nil {
      throw BatchError(
        .refused, "a cut-over of this store is not finished", hint: "Finish it with resume first", path: backup.store)
    }
    try backup.remove(fileSystem)
  }

  private func bytes(_ path: String, depth: Int) throws -> UInt64 {
    guard depth < 8, let status = try fileSystem.statusOfName(path) else { return 0 }
    guard status.isDirectory else { return status.size }
    return try fileSystem.list(path).reduce(0) { try $0 + bytes(FilePaths.join(path, $1), depth: depth + 1) }
  }
}
