/// How far a migration is.
public struct MigrationProgress: Sendable, Equatable {
  /// The step at work, from 1.
  public var step = 1
  /// Steps of the path.
  public var steps = 1
  /// The mapping models by which rows are migrated just now; empty while something else is done.
  public var mappingModels: [String] = []
  /// The source entities whose objects are migrated just now: those of one table; empty while something else is done.
  public var entities: [String] = []
  /// Objects of these entities that were read, those of an interrupted run before included.
  public var objects: UInt64 = 0
  /// Rows of these entities' table where the number is known: in steps after the first. Nobody counts a store
  /// beforehand.
  public var objectsInAll: UInt64?
  /// What is being done, in a few words.
  public var activity = ""
  /// Done, from 0 to 1, by the work of all steps, the indexes and the proof; never goes back within a run.
  public var fraction = 0.0
  /// Source rows read by this process.
  public var rows: UInt64 = 0
  /// Bytes of records and index entries written by this process.
  public var bytes: UInt64 = 0
  /// Checkpoints published by this process.
  public var checkpoints: UInt64 = 0
  /// Seconds since this process began, without those in which it waited.
  public var seconds = 0.0
  /// Seconds in which this process was paused, or its cut-over held.
  public var waited = 0.0
  /// Source rows read in a second, over the last few seconds.
  public var rowsPerSecond = 0.0
  /// Bytes written in a second, over the last few seconds.
  public var bytesPerSecond = 0.0
  /// Seconds that are left if it continues like this; nil as long as too little is done to know.
  public var secondsLeft: Double?
  /// Whether it is paused.
  public var isPaused = false
  /// What there is to do, and what of it is done.
  package var estimate = ProgressEstimate()
  private var rates = ProgressRates()

  /// Nothing done yet.
  public init() {}

  /// The progress of any other work, as far as these numbers can say it.
  public init(fraction: Double, rows: UInt64, seconds: Double) {
    (self.fraction, self.rows, self.seconds) = (fraction, rows, seconds)
    rowsPerSecond = seconds > 0 ? Double(rows) / seconds : 0
    secondsLeft = fraction > 0.01 ? seconds / fraction * (1 - fraction) : nil
  }

  /// Something begins that is not about the objects of an entity.
  package mutating func begin(_ activity: String) {
    self.activity = activity
    (mappingModels, entities, objects, objectsInAll) = ([], [], 0, nil)
  }

  /// A part of the work is done up to a fraction.
  package mutating func advance(_ part: ProgressEstimate.Part, to done: Double) {
    estimate.advance(part, to: done, at: seconds)
  }

  /// Brings to a time what depends on time.
  mutating func tell(at now: Double) {
    seconds = max(seconds, now)
    fraction = max(fraction, min(estimate.fraction, 1))
    secondsLeft = estimate.secondsLeft(at: seconds)
    rates.add(rows: rows, bytes: bytes, at: seconds)
    (rowsPerSecond, bytesPerSecond) = (rates.rows, rates.bytes)
  }
}

/// How much was done in the last seconds.
private struct ProgressRates: Sendable, Equatable {
  private struct Sample: Sendable, Equatable {
    var seconds: Double
    var rows: UInt64
    var bytes: UInt64
  }

  private static let window = 5.0
  private static let pause = 0.25
  private var samples = [Sample(seconds: 0, rows: 0, bytes: 0)]
  private(set) var rows = 0.0
  private(set) var bytes = 0.0

  mutating func add(rows: UInt64, bytes: UInt64, at seconds: Double) {
    let now = Sample(seconds: seconds, rows: rows, bytes: bytes)
    if seconds - samples[samples.count - 1].seconds >= Self.pause {
      samples.append(now)
      while samples.count > 2, seconds - samples[1].seconds > Self.window { samples.removeFirst() }
    }
    let first = samples[0]
    guard seconds > first.seconds else { return }
    self.rows = Double(max(rows, first.rows) - first.rows) / (seconds - first.seconds)
    self.bytes = Double(max(bytes, first.bytes) - first.bytes) / (seconds - first.seconds)
  }
}
