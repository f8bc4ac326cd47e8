import Batch
import Foundation

/// The summary of a finished migration, for a person or a script.
struct RunSummary: Codable {
  var format = 1
  var destination: String
  var backup: String?
  var restored: String?
  var removedBackups: [String]?
  var targetVersion: String
  var steps: Int
  var rowsRead: UInt64
  var rowsPerSecond: UInt64
  var rows: [String: UInt64]
  var verified: Bool
  var bytes: UInt64
  var seconds: Double
  /// Seconds of pauses and of a cut-over that was held, which `seconds` does not count.
  var waitedSeconds: Double?
  var checkpoints: UInt64
  var peakMemory: Int
  var notes: [String]
  var accounts: [StepAccount]
  var externalData: ExternalDataReport?
  /// Whether earlier processes worked on the run: rows, times and checkpoints are those of this one alone.
  var resumed: Bool?
  var rejects: RejectReport?
  var replay: String?

  init(
    _ report: MigrationJob.Report, seconds: Double, waited: Double = 0, checkpoints: UInt64, isResumed: Bool = false
  ) {
    resumed = isResumed ? true : nil
    destination = report.destination
    (backup, restored) = (report.backup, report.restored)
    removedBackups = report.removedBackups.isEmpty ? nil : report.removedBackups
    targetVersion = report.targetVersion
    steps = report.steps
    rowsRead = report.rowsRead
    rowsPerSecond = seconds > 0 ? UInt64(Double(report.rowsRead) / seconds) : 0
    rows = report.rows
    verified = report.isVerified
    bytes = report.bytes
    self.seconds = (seconds * 1000).rounded() / 1000
    waitedSeconds = waited > 0 ? (waited * 1000).rounded() / 1000 : nil
    self.checkpoints = checkpoints
    // As the report says it.
    peakMemory = report.peakMemory.map { Int($0) } ?? Console.peakMemory
    notes = report.notes
    accounts = report.accounts
    externalData = report.externalData
    (rejects, replay) = (report.rejects, report.replay)
  }

  /// Leaves out what a list that prints no JSON does not read: of a model with many properties that is nearly all.
  mutating func shorten() { (accounts, notes, rows) = ([], [], [:]) }

  func json() throws -> String { try JSONOutput.text(self) }

  private var waiting: String { waitedSeconds.map { " beside \($0) s of waiting" } ?? "" }

  var text: String {
    guard steps > 0 else {
      let lines = ["\(destination): already at version \(targetVersion), nothing to do"] + notes.map { "note: \($0)" }
      return lines.joined(separator: "\n")
    }
    if let restored {
      let lines = ["\(destination): restored from \(restored)", backup.map { "set aside: \($0)" }]
      return lines.compactMap { $0 }.joined(separator: "\n")
    }
    let version = targetVersion.isEmpty ? "the new store is in place" : "version \(targetVersion)"
    var lines = ["\(destination): \(version), \(Console.size(bytes))\(verified ? ", verified" : ", not verified")"]
    if let backup { lines.append("backup: \(backup)") }
    lines += (removedBackups ?? []).map { "removed backup over the limit: \($0)" }
    lines.append(
      "\(rowsRead.counted("row")) read\(resumed == true ? " by this process" : "") in \(seconds) s\(waiting), \(rowsPerSecond.counted("row"))/s, "
        + "\(checkpoints.counted("checkpoint")), peak memory \(Console.size(UInt64(peakMemory)))")
    lines += accounts.flatMap { [$0.summary] + $0.versions.compactMap(\.balance) }
    if let externalData, externalData.references > 0 { lines.append("files outside the store: \(externalData.text)") }
    if let rejects {
      lines.append("rejects: \(Console.count(rejects.count)), in \(rejects.path)")
    }
    for table in rows.keys.sorted() { lines.append("  \(table): \(Console.count(rows[table] ?? 0))") }
    lines += notes.map { "note: \($0)" }
    // A new run takes all objects, those that were rejected with them.
    if let replay { lines.append("after a fix, migrate all objects again: \(replay)") }
    return lines.joined(separator: "\n")
  }
}
