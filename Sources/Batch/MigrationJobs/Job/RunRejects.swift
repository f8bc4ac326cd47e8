import Foundation
import Migrations
import RunSupport
import Streams

extension MigrationRun {
  private var rejectPath: String { job.working("step-rejects.jsonl") }

  /// The path that the list of rejected objects gets in the end.
  var finalRejectPath: String {
    let time = plan.backupSuffix.split(separator: "-").last.map(String.init) ?? plan.backupSuffix
    return "\(plan.destination).rejects-\(time).jsonl"
  }

  /// Continues the list of rejected objects as a checkpoint knows it; nil if the first one ends the run.
  func rejectLog(_ position: RunPosition) throws -> RejectLog? {
    guard let rejects = plan.rejects else { return nil }
    let restoring = position.rejects ?? (position.state == nil ? nil : RejectLog.State())
    let log = try RejectLog(
      path: rejectPath, fileSystem: fileSystem, limit: rejects.limit, withValues: rejects.withValues,
      restoring: restoring)
    log.emptyingHistory = ProgramName.command("resume", plan.destination, "--history", "empty")
    return log
  }

  /// Takes the list out of the job's directory, durably, before that is removed; nil if nothing was rejected.
  func takeRejects() throws -> RejectReport? {
    guard plan.rejects != nil else { return nil }
    if let status = try fileSystem.status(rejectPath), status.size > 0 {
      try RejectGroups.sort(rejectPath, fileSystem)
      try fileSystem.rename(rejectPath, to: finalRejectPath)
      try fileSystem.syncDirectory(FilePaths.directory(of: finalRejectPath))
    }
    // Another process may have done that.
    guard try fileSystem.status(finalRejectPath) != nil else { return nil }
    return try RejectReport(list: finalRejectPath, arguments: plan.arguments, fileSystem)
  }
}
