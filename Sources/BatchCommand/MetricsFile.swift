import Batch
import Foundation
import Streams

/// How far a run is, as OpenMetrics text for the textfile collector of node_exporter.
struct MetricsFile: Sendable {
  /// A store, and how it is.
  struct Store {
    var name: String
    /// Nil if it is not at work.
    var progress: ProgressRecord?
    /// Of a run that has ended.
    var code: Int32?
    var end: Date?
  }

  let path: String

  /// Replaces the file in one step: a reader finds the old text or the new one.
  func write(_ moment: RunOutlets.Moment) throws {
    // node_exporter runs as another user.
    do { try LocalFileSystem().writeDurably(Array(Self.text(moment).utf8), to: path) { chmod($0, 0o644) } } catch {
      // Where the disk is full an empty file would stay.
      try? LocalFileSystem().remove(path + ".new")
      throw error
    }
  }

  /// Each family with the samples of all stores that have it.
  static func text(_ moment: RunOutlets.Moment) -> String {
    var lines: [String] = []
    func add(_ family: String, type: String = "gauge", help: String, _ samples: [(label: String, value: Double)]) {
      guard !samples.isEmpty else { return }
      lines += ["# TYPE \(family) \(type)", "# HELP \(family) \(help)"]
      let sample = type == "counter" ? family + "_total" : family
      lines += samples.map { "\(sample){\($0.label)} \(number($0.value))" }
    }
    let labels = moment.stores.map { "store=\"\(escaped($0.name))\"" }
    func of(_ value: (Store) -> Double?) -> [(label: String, value: Double)] {
      zip(labels, moment.stores).compactMap { label, store in value(store).map { (label, $0) } }
    }
    add(
      "godwit_stores", help: "Stores of the list by state.",
      moment.counts.map { ("state=\"\($0.state)\"", Double($0.count)) })
    for family in families { add(family.name, type: family.type, help: family.help, of(family.value)) }
    return (lines + ["# EOF", ""]).joined(separator: "\n")
  }

  private static let families: [(name: String, type: String, help: String, value: @Sendable (Store) -> Double?)] = [
    ("godwit_running", "gauge", "1 while the migration runs.", { $0.code == nil ? $0.progress.map { _ in 1 } : 0 }),
    ("godwit_progress_ratio", "gauge", "Progress, from 0 to 1.", { $0.progress?.fraction }),
    (
      "godwit_left_seconds", "gauge", "Estimate of the seconds left.",
      { $0.code == nil ? $0.progress?.secondsLeft : nil }
    ),
    ("godwit_paused", "gauge", "1 while the migration is paused.", { $0.progress.map { $0.paused ? 1 : 0 } }),
    ("godwit_read_rows", "counter", "Source rows read by this process.", { $0.progress.map { Double($0.rows) } }),
    ("godwit_written_bytes", "counter", "Bytes written by this process.", { $0.progress.map { Double($0.bytes) } }),
    (
      "godwit_checkpoints", "counter", "Checkpoints published by this process.",
      { $0.progress.map { Double($0.checkpoints) } }
    ),
    ("godwit_exit_code", "gauge", "Exit code of the migration.", { $0.code.map { Double($0) } }),
    (
      "godwit_end_timestamp_seconds", "gauge", "When the migration ended.",
      { $0.end?.timeIntervalSince1970.rounded() }
    ),
  ]

  private static func escaped(_ name: String) -> String {
    name.replacing(["\\": "\\\\", "\"": "\\\"", "\n": "\\n"])
  }

  private static func number(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
  }
}
