import Batch
import Foundation
import Streams

/// How far a run is, as OpenMetrics text for the textfile collector of node_exporter.
struct MetricsFile: Sendable {
  let path: String
  let store: String

  /// Replaces the file in one step: a reader finds the old text or the new one. `code` is the exit code of a run that
  /// has ended.
  func write(_ progress: MigrationProgress, code: Int32? = nil, now: Date = Date()) throws {
    let files = LocalFileSystem()
    try files.writeAndSync(Array(text(progress, code: code, now: now).utf8), to: path + ".new")
    // node_exporter runs as another user.
    chmod(path + ".new", 0o644)
    try files.rename(path + ".new", to: path)
  }

  func text(_ progress: MigrationProgress, code: Int32?, now: Date) -> String {
    let name = store.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    var lines: [String] = []
    func add(_ family: String, type: String, help: String, _ value: Double?) {
      guard let value else { return }
      let sample = type == "counter" ? family + "_total" : family
      let number = value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
      lines += ["# TYPE \(family) \(type)", "# HELP \(family) \(help)", "\(sample){store=\"\(name)\"} \(number)"]
    }
    add("godwit_running", type: "gauge", help: "1 while the migration runs.", code == nil ? 1 : 0)
    add("godwit_progress_ratio", type: "gauge", help: "Progress, from 0 to 1.", progress.fraction)
    add(
      "godwit_left_seconds", type: "gauge", help: "Estimate of the seconds left.",
      code == nil ? progress.secondsLeft : nil)
    add("godwit_paused", type: "gauge", help: "1 while the migration is paused.", progress.isPaused ? 1 : 0)
    add("godwit_read_rows", type: "counter", help: "Source rows read by this process.", Double(progress.rows))
    add("godwit_written_bytes", type: "counter", help: "Bytes written by this process.", Double(progress.bytes))
    add(
      "godwit_checkpoints", type: "counter", help: "Checkpoints published by this process.",
      Double(progress.checkpoints))
    add("godwit_exit_code", type: "gauge", help: "Exit code of the migration.", code.map(Double.init))
    add(
      "godwit_end_timestamp_seconds", type: "gauge", help: "When the migration ended.",
      code.map { _ in now.timeIntervalSince1970.rounded() })
    return (lines + ["# EOF", ""]).joined(separator: "\n")
  }
}
