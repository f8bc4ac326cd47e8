import Foundation
import Streams

/// A run's history while a process adds to it. It stays small, however long a run takes and however often it is begun
/// again.
///
/// The file is kept open and written in its place: what a replaced owner still writes goes to no file of its successor.
struct HistoryFile: Sendable {
  private let file: any File
  private(set) var history: RunHistory
  private var length: UInt64 = 0
  /// Whether a write failed, so that lines are missing or torn.
  private var isTorn = true
  private(set) var path: String

  /// Continues the history of a run, wherever an earlier process left it. A run that begins has none: `isNew`.
  init(_ job: JobDirectory, run: String, isNew: Bool = false) throws {
    path = job.history
    history = isNew ? RunHistory() : Self.earlier(job, run: run) ?? RunHistory()
    file = try LocalFileSystem().open(path, .updateOrCreate)
  }

  /// In the job's directory, in that of an owner elsewhere who was replaced, or, where only the end is left to do
  /// again, beside the store.
  private static func earlier(_ job: JobDirectory, run: String) -> RunHistory? {
    // Every successor takes over what the one before had: older ones than the last need not be looked at.
    let places = job.generation > 1 ? [job.history, job.preceding.history] : [job.history]
    return (places + [job.record]).lazy.compactMap { RunHistory(path: $0) }.first { $0.facts?.run == run }
  }

  mutating func add(_ line: RunHistory.Line) throws {
    history.take(line)
    let isFull = history.samples.count >= RunHistory.mostSamples || history.processes.count >= RunHistory.mostProcesses
    if history.samples.count >= RunHistory.mostSamples { history.thin() }
    if history.processes.count >= RunHistory.mostProcesses { history.forget() }
    if isTorn || isFull { try rewrite() } else { try append([line]) }
  }

  private mutating func rewrite() throws {
    (length, isTorn) = (0, true)
    try append(history.lines)
    try file.truncate(to: length)
  }

  private mutating func append(_ lines: [RunHistory.Line]) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let bytes = try lines.reduce(into: [UInt8]()) { $0 += try encoder.encode($1) + [0x0A] }
    isTorn = true
    try bytes.withUnsafeBytes { try file.write($0, at: length) }
    (length, isTorn) = (length + UInt64(bytes.count), false)
  }

  /// Gives the file the name that it keeps when the job's directory goes.
  mutating func keep(as record: String) throws {
    try LocalFileSystem().rename(path, to: record)
    path = record
  }

  func close() { file.close() }
}
