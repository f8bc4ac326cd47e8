import Foundation
import RunSupport
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
      /// Of a directory that would be removed, every file in it; nil otherwise.
      public var files: [String]?

      package init(path: String, reason: String, bytes: UInt64) {
        (self.path, self.reason, self.bytes) = (path, reason, bytes)
      }
    }
    /// What was removed, or would be.
    public var removed: [Item] = []
    /// What stays.
    public var kept: [Item] = []
    /// True if nothing was removed.
    public var dryRun: Bool?

    /// Nothing.
    package init() {}
  }

  /// Removes what ended runs left in a directory, or beside one store: working files of runs that nobody can resume,
  /// and backups over the limit. Runs that are alive stay, and cut-overs that only have to be finished. What stays of a
  /// finished run for its report goes where its store is gone.
  ///
  /// - Parameters:
  ///   - path: a directory, or the destination of runs.
  ///   - all: give up interrupted runs that could be resumed, too, and finish those whose new store has its name; no
  ///     store is touched.
  ///   - limit: how many backups of each store stay; nil leaves all.
  ///   - setAside: how many stores that rollbacks set aside stay, of each store; nil leaves all.
  ///   - reports: remove what stays of finished runs for their reports, too, and their lists of rejected objects.
  ///   - dryRun: only look.
  /// - Throws: ``BatchError`` with its effect: `unknown` if something was removed before.
  public func clean(
    _ path: String, all: Bool = false, backups limit: BackupLimit? = nil, setAside: BackupLimit? = nil,
    reports: Bool = false,
    dryRun: Bool = false
  ) throws -> CleanReport {
    var report = CleanReport()
    if dryRun { report.dryRun = true }
    do {
      try clean(path, all: all, backups: limit, setAside: setAside, reports: reports, dryRun: dryRun, &report)
      return report
    } catch {
      throw BatchError(wrapping: error).settled {
        guard !dryRun, !report.removed.isEmpty else { return Aftermath(effect: .nothingWritten) }
        let look = ProgramName.command("clean", "--dry-run", path)
        return Aftermath(effect: .unknown, text: "Some is removed already; \(look) lists what is left", next: [look])
      }
    }
  }

  private func clean(
    _ path: String, all: Bool, backups limit: BackupLimit?, setAside: BackupLimit?, reports: Bool, dryRun: Bool,
    _ report: inout CleanReport
  ) throws {
    let isDirectory = try fileSystem.status(path)?.isDirectory == true
    let directory = try JobDirectory.resolve(isDirectory ? path : FilePaths.directory(of: path))
    let store = isDirectory ? nil : try JobDirectory.resolve(path)
    for name in try fileSystem.list(directory) {
      let path = FilePaths.join(directory, name)
      guard let destination = JobDirectory.destination(ofFolder: path, suffix: ".godwit"),
        store.map({ $0 == destination }) ?? true, try fileSystem.statusOfName(path)?.isDirectory == true
      else { continue }
      try cleanRun(
        try JobDirectory(destination: destination), command: all ? .cleanAll : .clean, dryRun: dryRun, report: &report)
    }
    for (kind, limit) in [(StoreBackup.Kind.replaced, limit), (.setAside, setAside)] {
      try cleanBackups(directory, store: store, kind: kind, limit: limit, dryRun: dryRun, report: &report)
    }
    // Records know the lists of loads.
    try cleanRejects(directory, store: store, all: reports, dryRun: dryRun, report: &report)
    try cleanRecords(directory, store: store, all: reports, dryRun: dryRun, report: &report)
  }

  private func cleanRun(_ job: JobDirectory, command: LifeCommand, dryRun: Bool, report: inout CleanReport) throws {
    guard let (life, isUseless) = try judge(job, command) else { return }
    let size = try bytes(job.path)
    var item = CleanReport.Item(path: job.path, reason: reason(life, job: job, isUseless: isUseless), bytes: size)
    guard isUseless else { return report.kept.append(item) }
    if dryRun { item.files = try files(job.path) }
    report.removed.append(item)
    guard !dryRun else { return }
    guard let lease = try Lease.takeIfThere(in: job, fileSystem) else { return }
    defer { lease.release() }
    // Once more under the lease: somebody may have resumed it meanwhile.
    guard let again = try judge(job, command, isOwn: true), again.isUseless else {
      report.removed.removeLast()
      return report.kept.append(item)
    }
    // Whoever finishes a run takes the list of rejected objects out of the directory first.
    guard ![.renamed, .done].contains(again.life.phase) else { return try finishQuietly(job, lease) }
    // What was made of an XML store is of no use without the run.
    defer { try? fileSystem.remove(XMLCopy.path(for: job.destination)) }
    for kept in try giveUp(job, lease) {
      let reason = "was under the store's name before or since, and may be the only copy"
      report.kept.append(
        CleanReport.Item(path: kept, reason: reason, bytes: try fileSystem.statusOfName(kept)?.size ?? 0))
    }
  }

  /// Nil if there is no run any longer.
  private func judge(_ job: JobDirectory, _ command: LifeCommand, isOwn: Bool = false) throws -> (
    life: RunLife, isUseless: Bool
  )? {
    let life = try RunLife.look(job, fileSystem, isOwn: isOwn)
    switch life.answer(to: command) {
    case .nothing: return nil
    case .giveUp, .giveUpFirst, .finish: return (life, true)
    case .keep where life.phase == .working && !life.isOwned:
      return (life, try isWithoutCheckpoint(job.current(fileSystem)))
    case .begin, .goOn, .finishFirst, .cutOverAgain, .look, .keep, .wait, .refuse: return (life, false)
    }
  }

  /// Whether the run has no checkpoint from which it could be resumed.
  private func isWithoutCheckpoint(_ job: JobDirectory) throws -> Bool {
    do {
      return try CheckpointStore(directory: job.checkpoints, fileSystem: fileSystem).newestReadable() == nil
    } catch let error as StreamsError where error.code == .damagedCheckpoint {
      return true
    }
  }

  private func reason(_ life: RunLife, job: JobDirectory, isUseless: Bool) -> String {
    if life.isOwned {
      let owner: LeaseOwner? = if case .live(let owner)? = try? Lease.inspect(job, fileSystem) { owner } else { nil }
      return "run at work\(owner.map { ", process \($0.pid) on \($0.host)" } ?? "")"
    }
    let goOn = "; resume it with \(ProgramName.command("resume", job.destination))"
    let giveUp = "; give it up with \(ProgramName.command("clean", "--all", job.destination))"
    switch life.phase {
    case .none, .leased: return "run without a plan: nothing was begun, or all is done"
    case .renamed, .done: return "run that is done" + (isUseless ? "" : goOn)
    case .unreadable where life.store == .missing:
      return "run that cannot be read, and its store is missing: put the store back first"
    case .unreadable: return "run that cannot be read" + (isUseless ? "" : giveUp)
    case .working, .failed, .cutOver:
      switch life.store {
      case .missing: return "interrupted run whose store is missing" + (isUseless ? "" : giveUp)
      case .written, .replaced:
        return "interrupted run whose store was \(life.store == .written ? "written to" : "replaced") since"
          + (isUseless ? "" : giveUp)
      case .asItWas where isUseless && (try? isWithoutCheckpoint(job.current(fileSystem))) == true:
        return "interrupted run without a checkpoint that can be read"
      case .asItWas:
        return isUseless ? "interrupted run" : "interrupted run" + (life.phase == .failed ? giveUp : goOn)
      }
    }
  }

  private func cleanBackups(
    _ directory: String, store: String?, kind: StoreBackup.Kind, limit: BackupLimit?, dryRun: Bool,
    report: inout CleanReport
  ) throws {
    let backups = try StoreBackup.all(in: directory, fileSystem).filter {
      $0.kind == kind && (store == nil || $0.store == store)
    }
    let now = Date().timeIntervalSinceReferenceDate
    for (_, backups) in Dictionary(grouping: backups, by: \.store).sorted(by: { $0.key < $1.key }) {
      let surplus = limit?.surplus(backups, now: now) ?? []
      for backup in backups {
        let isSurplus = surplus.contains(backup)
        let what = backup.kind == .replaced ? "backup" : "store that a rollback set aside"
        var item = CleanReport.Item(
          path: backup.path, reason: isSurplus ? what + ", over the limit" : what, bytes: try backup.bytes(fileSystem))
        if isSurplus, try dryRun || remove(backup) {
          report.removed.append(item)
        } else {
          if isSurplus { item.reason = what + "; kept, because a run of its store is at work" }
          report.kept.append(item)
        }
      }
    }
  }

  /// Under the store's lease: a rollback may be about to put the backup back. False where another process has it.
  private func remove(_ backup: StoreBackup) throws -> Bool {
    let place = try JobDirectory(destination: backup.store)
    let lease: Lease
    do { lease = try Lease.begin(place, fileSystem) } catch let error as BatchError where error.code == .leaseHeld {
      return false
    }
    defer { lease.release() }
    let job = try place.current(fileSystem)
    if try CutOverJournal.read(job, fileSystem) != nil {
      let resume = ProgramName.command("resume", backup.store)
      throw BatchError(
        .refused, "a cut-over of this store is not finished", hint: "Finish it first with \(resume)",
        next: [resume.line],
        path: backup.store)
    }
    try backup.remove(fileSystem)
    if try RunLife.look(job, fileSystem, isOwn: true).phase == .leased { try job.remove(fileSystem, under: lease) }
    return true
  }

  /// The files in a directory, and below it.
  package func files(_ path: String, depth: Int = 0) throws -> [String] {
    guard depth < 8 else { return [path] }
    return try fileSystem.listIfThere(path).flatMap { name in
      let inner = FilePaths.join(path, name)
      return try fileSystem.statusOfName(inner)?.isDirectory == true ? files(inner, depth: depth + 1) : [inner]
    }
  }

  /// The bytes of a file, or of those in a directory.
  package func bytes(_ path: String, depth: Int = 0) throws -> UInt64 {
    guard depth < 8, let status = try fileSystem.statusOfName(path) else { return 0 }
    guard status.isDirectory else { return status.size }
    return try fileSystem.listIfThere(path).reduce(0) { try $0 + bytes(FilePaths.join(path, $1), depth: depth + 1) }
  }
}
