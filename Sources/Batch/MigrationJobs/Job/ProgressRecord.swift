import Foundation
import RunSupport

/// How far a run is, as a document for programs: a line of progress, and what a run leaves for `status`.
/// docs/manual/json.md has its keys.
public struct ProgressRecord: Sendable, Codable, Equatable {
  /// Grows when a key changes its meaning or goes away; new keys may come at any time.
  public var format = 1
  /// What the document is about.
  public var event = "progress"
  /// When it was so, ISO 8601, UTC.
  public var time: String
  /// Done, from 0 to 1.
  public var fraction: Double
  /// Seconds that are left; absent as long as too little is done to know.
  public var secondsLeft: Double?
  /// The step at work, from 1, and how many there are.
  public var step: Int
  /// See ``step``.
  public var steps: Int
  /// What is being done.
  public var activity: String
  /// The mapping models by which rows are migrated just now.
  public var mappingModels: [String]
  /// The source entities whose objects are migrated just now, and how many of them were read, of how many where that is
  /// known.
  public var entities: [String]
  /// See ``entities``.
  public var objects: UInt64
  /// See ``entities``.
  public var objectsInAll: UInt64?
  /// Source rows read by this process.
  public var rows: UInt64
  /// Bytes written by this process.
  public var bytes: UInt64
  /// Over the last few seconds.
  public var rowsPerSecond: Double
  /// Over the last few seconds.
  public var bytesPerSecond: Double
  /// Seconds at work.
  public var seconds: Double
  /// Checkpoints published by this process.
  public var checkpoints: UInt64
  /// Whether the run is paused.
  public var paused: Bool

  /// Writes down how far a run is.
  public init(_ progress: MigrationProgress, time: Date = Date()) {
    func rounded(_ value: Double, _ places: Double) -> Double { (value * places).rounded() / places }
    self.time = time.ISO8601Format()
    fraction = rounded(progress.fraction, 10_000)
    secondsLeft = progress.secondsLeft.map { rounded($0, 10) }
    (step, steps, activity) = (progress.step, progress.steps, progress.activity)
    (mappingModels, entities) = (progress.mappingModels, progress.entities)
    (objects, objectsInAll, rows, bytes) = (progress.objects, progress.objectsInAll, progress.rows, progress.bytes)
    (rowsPerSecond, bytesPerSecond) = (progress.rowsPerSecond.rounded(), progress.bytesPerSecond.rounded())
    seconds = rounded(progress.seconds, 1000)
    (checkpoints, paused) = (progress.checkpoints, progress.isPaused)
  }

  /// The document in one line, keys sorted.
  public var line: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}
