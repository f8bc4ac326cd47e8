import CoreDataStore
import RunSupport
import Streams

/// What a step is given.
package struct StepJob {
  package var reader: StoreReader
  package var plan: StepPlan
  /// The step's number, from 1.
  package var number = 1
  /// The file to write.
  package var path: String
  package var files: StepFiles
  package var header: DatabaseHeader
  package var metadata: StoreMetadata
  /// Whether this is the last step. Only then indexes are built: nobody searches a store between two steps.
  package var hasIndexes: Bool
  package var indexBuilding = IndexBuilding.engine
  /// What the header says at the end, also where it says another thing while the step works.
  package var version: DatabaseHeader.Version
  package var monitor: RunMonitor
  /// Whether to keep a digest of each table, for the verification.
  package var keepsDigests = false
  /// Hears what is finished; nil for nobody.
  package var watcher: (any PartWatcher)?
  /// Takes objects that cannot be migrated; nil if such a one ends the run.
  package var rejects: RejectLog?
  /// Hears what becomes of objects; nil for nobody.
  package var objectWatcher: (any ObjectWatcher)?
  /// Makes the step read only a sample; nil for all rows.
  package var rehearsal: StepRehearsal?
  /// Whether the source is a part of a store, which lacks what may set values.
  package var isExcerpt = false
  /// Rows of the source's tables, where a step before wrote them.
  package var sourceRows: [String: UInt64] = [:]
  /// Whether the source is so small that threads cost more than they gain.
  package var isSmall = false
  /// Whether there is no checkpoint yet, and none is made before it is due.
  package var waitsForCheckpoint: @Sendable () -> Bool
  /// When the run began that has no checkpoint yet: from then on it waits for one. Nil for the step's beginning.
  package var begin: ContinuousClock.Instant?
  /// Makes a state durable as a checkpoint. Everything that it names is durable already (I3).
  package var publish: @Sendable (StepState, _ builders: [UInt8]) throws -> Void

  package init(
    reader: StoreReader, plan: StepPlan, number: Int = 1, path: String, files: StepFiles, header: DatabaseHeader,
    metadata: StoreMetadata, hasIndexes: Bool, indexBuilding: IndexBuilding = IndexBuilding.engine,
    version: DatabaseHeader.Version, monitor: RunMonitor, keepsDigests: Bool = false, watcher: (any PartWatcher)? = nil,
    rejects: RejectLog? = nil, objectWatcher: (any ObjectWatcher)? = nil, rehearsal: StepRehearsal? = nil,
    isExcerpt: Bool = false, sourceRows: [String: UInt64] = [:],
    isSmall: Bool = false, waitsForCheckpoint: @escaping @Sendable () -> Bool = { false },
    begin: ContinuousClock.Instant? = nil,
    publish: @escaping @Sendable (StepState, _ builders: [UInt8]) throws -> Void
  ) {
    self.reader = reader
    self.plan = plan
    self.number = number
    self.path = path
    self.files = files
    self.header = header
    self.metadata = metadata
    self.hasIndexes = hasIndexes
    self.indexBuilding = indexBuilding
    self.version = version
    self.monitor = monitor
    self.keepsDigests = keepsDigests
    self.watcher = watcher
    self.rejects = rejects
    self.objectWatcher = objectWatcher
    self.rehearsal = rehearsal
    self.isExcerpt = isExcerpt
    self.sourceRows = sourceRows
    self.isSmall = isSmall
    self.waitsForCheckpoint = waitsForCheckpoint
    self.begin = begin
    self.publish = publish
  }
}

extension StepJob {
  /// Says when checkpoints are due.
  var clock: CheckpointClock { CheckpointClock(monitor.interval, since: begin ?? .now) }

  /// References to objects that a policy left out or that were rejected; nil if there are none.
  func lostReferences(in state: StepState) -> LostReferences? {
    LostReferences(plan, state.counts, rejected: rejects?.state.mappings ?? [])
  }
}
