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
  /// Rows of these entities' table where the number is known: in steps after the first. Nobody counts a store beforehand.
  public var objectsInAll: UInt64?
  /// What is being done, in a few words.
  public var activity = ""
  /// Done, from 0 to 1; never goes back within a run.
  public var fraction = 0.0
  /// Source rows read by this process.
  public var rows: UInt64 = 0
  /// Checkpoints published by this process.
  public var checkpoints: UInt64 = 0
  /// Seconds since this process began.
  public var seconds = 0.0
  /// What was done when this process began: a resumed run goes on from there.
  var fractionBefore = 0.0

  /// Nothing done yet.
  public init() {}

  /// Source rows read in a second, on average over this process.
  public var rowsPerSecond: Double { seconds > 0 ? Double(rows) / seconds : 0 }

  /// Seconds that are left if it goes on like this; nil as long as too little is done to tell.
  public var secondsLeft: Double? {
    let done = fraction - fractionBefore
    return done > 0.01 ? seconds / done * (1 - fraction) : nil
  }

  /// Something begins that is not about the objects of an entity.
  mutating func begin(_ activity: String) {
    self.activity = activity
    (mappingModels, entities, objects, objectsInAll) = ([], [], 0, nil)
  }

  /// The part of the whole run that is done when that part of the step is.
  func fraction(inStep part: Double) -> Double { (Double(step - 1) + part) / Double(steps) }
}
