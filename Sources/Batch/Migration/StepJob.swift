import Streams

/// What a step is given.
struct StepJob {
  var reader: StoreReader
  var plan: StepPlan
  /// The step's number, from 1.
  var number = 1
  /// The file to write.
  var path: String
  var files: StepFiles
  var header: DatabaseHeader
  var metadata: StoreMetadata
  /// Whether this is the last step. Only then indexes are built: nobody searches a store between two steps.
  var hasIndexes: Bool
  var indexBuilding = IndexBuilding.engine
  /// What the header says at the end, also where it says another thing while the step works.
  var version: DatabaseHeader.Version
  var monitor: RunMonitor
  /// Whether to keep a digest of each table, for the verification.
  var keepsDigests = false
  /// Hears what is finished; nil for nobody.
  var watcher: (any PartWatcher)?
  /// Takes objects that cannot be migrated; nil if such a one ends the run.
  var rejects: RejectLog?
  /// Hears what becomes of objects; nil for nobody.
  var objectWatcher: (any ObjectWatcher)?
  /// Makes the step read only a sample; nil for all rows.
  var rehearsal: StepRehearsal?
  /// Whether the source is a part of a store, which lacks what may set values.
  var isExcerpt = false
  /// Rows of the source's tables, where a step before wrote them.
  var sourceRows: [String: UInt64] = [:]
  /// Makes a state durable as a checkpoint. Everything that it names is durable already (I3).
  var publish: @Sendable (StepState, _ builders: [UInt8]) throws -> Void
}

extension StepJob {
  /// References to objects that a policy left out or that were rejected; nil if there are none.
  func lostReferences(in state: StepState) -> LostReferences? {
    LostReferences(plan, state.counts, rejected: rejects?.state.mappings ?? [])
  }
}
