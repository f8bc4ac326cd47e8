import CoreDataStore
import RunSupport
import Streams

/// What follows when all rows were read: late changes, the tables' last pages, indexes, what is carried as it is. The
/// state is its own.
struct StepEnding {
  let job: StepJob
  private var plan: StepPlan { job.plan }
  let indexes: StepIndexes
  let progress: StepProgress
  let patches: PatchLog
  var state: StepState
  var output: StepOutput
  var clock: CheckpointClock
  /// Entries of the indexes; nil if they are not collected yet.
  var collected: IndexEntries?
  /// Join tables that may hold a link twice.
  let joinsToCheck: [Int]
  var indexedLength = 0

  /// Runs to the end, from where the state says. On return the step's store is complete and durable.
  consuming func run() throws -> StepState {
    if state.phase == .units { try finishTables() }
    // A step that is finished is not begun again: only the run's position was not published yet.
    if state.phase == .indexes { try buildIndexes() }
    output.close()
    return state
  }

  private mutating func finishTables() throws {
    if let rejects = try job.rejects?.checkpoint() {
      try rejects.toSync.sync()
      state.rejects = rejects.state
    }
    if !joinsToCheck.isEmpty {
      progress.show("links")
      state.repeated = try RepeatedLinks(job: job, output: output).remove(from: joinsToCheck, patches)
    }
    state.lost = clearedOnTheWay()
    try writeAgain()
    try checkRequired()
    let tables = try output.finishTables()
    state.tableRows = output.rowCounts
    try checkCounts()
    let largest = zip(tables, plan.keys.firstNewKeys).map { max($0.largest, $1 - 1) }
    let fixed = try FixedTables(
      layout: plan.layout, metadata: job.metadata, largestKeys: largest, names: plan.carried.entityNames,
      modelCache: plan.carried.modelCache, foreignKeys: plan.carried.primaryKeys
    ).write(to: output.database)
    if job.keepsDigests { state.digests = output.digests.merging(fixed) { $1 } }
    state.phase = .indexes
    state.unit = 0
    if isDue() { try publishIndexState() } else { try output.flush() }
  }

  /// Changes keys and values of rows that are written already, where there are such changes: then the tables go to a
  /// new file.
  private mutating func writeAgain() throws {
    let lost = job.lostReferences(in: state)
    guard patches.count > 0 || lost != nil else { return }
    progress.showChanges(bytes: output.database.writer.length)
    state.isPatched = true
    output = try PatchPass(job: job, output: output, patches: patches, lost: lost).run(
      into: state.workingPath(job.path))
    state.lost.merge(lost?.counts ?? [:], uniquingKeysWith: &+)
    for (place, count) in lost?.places ?? [:] { state.tallies[0].add(cleared: count, at: place) }
  }

  /// References that were cleared on the way, by relationship: filters left out what they lead to. Links of join tables
  /// are counted already.
  private func clearedOnTheWay() -> [String: UInt64] {
    var counts: [String: UInt64] = [:]
    for (place, count) in state.tallies[0].cleared where place.table < plan.layout.entityTables.count {
      guard let name = LostReferences.name(plan.layout.entityTables[place.table].columns[place.column].role) else {
        continue
      }
      counts[name, default: 0] += count
    }
    return counts
  }

  /// No row is lost silently (I12): what a table holds is what was kept from the source and what policies made.
  private func checkCounts() throws {
    for table in plan.layout.entityTables.indices {
      let mappings = plan.mappings.indices.filter { plan.mappings[$0].destination.table == table }
      let kept = mappings.reduce(UInt64(0)) { $0 + state.counts[$1].kept }
      let made = UInt64(clamping: state.nextKeys[table] - plan.keys.firstNewKeys[table])
      guard kept + made == state.tableRows[table] else {
        throw BatchError(
          .mismatch, "\(kept) objects were kept and \(made) made, but \(state.tableRows[table]) are written",
          hint: "This is a fault of the program; the source is untouched",
          entity: plan.layout.entityTables[table].rootEntity)
      }
    }
    for (index, join) in plan.layout.joinTables.enumerated() {
      let (name, table) = (join.relationship.description, plan.layout.entityTables.count + index)
      let made = UInt64(clamping: state.nextKeys[table] &- plan.keys.firstNewKeys[table])
      guard made == state.tableRows[table] &+ (state.lost[name] ?? 0) &+ (state.repeated[name] ?? 0) else {
        throw BatchError(
          .mismatch, "\(made) links of \(name) were made, but \(state.tableRows[table]) are written",
          hint: "This is a fault of the program; the source is untouched", entity: join.relationship.entity)
      }
    }
  }

  /// Whether a phase ends with a checkpoint: not if it were the first one, and is not due.
  private mutating func isDue() -> Bool { !job.waitsForCheckpoint() || clock.isDue(adding: 0) }

  private mutating func publishIndexState() throws {
    try output.sync()
    state.nextPage = output.database.writer.nextPage
    try job.publish(state, [])
    job.monitor.update { $0.checkpoints += 1 }
  }

  private mutating func buildIndexes() throws {
    progress.noteIndexWork(in: state)
    let pass = IndexPass(
      indexes.indexes, database: output.database, header: job.header, files: job.files, monitor: job.monitor,
      collected: collected, usesThreads: !job.isSmall
    )
    collected = nil
    let trees = RTreePass(
      indexes.rtrees, layout: plan.layout, database: output.database, header: job.header, files: job.files,
      monitor: job.monitor)
    if job.indexBuilding == .engine {
      try build(pass, trees)
    } else {
      try pass.writeEmpty()
      try trees.run { take($1) }
    }
    for row in plan.carried.trees { try copyTree(row) }
    let isDue = isDue()
    let schema = try output.database.finish(isDurable: isDue)
    if job.keepsDigests { state.digests["sqlite_schema"] = schema }
    if job.indexBuilding == .sqlite { try fillBySQLite(pass) }
    state.phase = .finished
    state.nextPage = output.database.writer.nextPage
    if isDue { try job.publish(state, []) }
  }

  private mutating func build(_ pass: IndexPass, _ trees: RTreePass) throws {
    indexedLength = Int(clamping: output.database.writer.length)
    progress.show(written: state.unit, in: state)
    try pass.run(from: state.unit) { try finishIndex($0) }
    try trees.run(from: max(0, state.unit - pass.count)) { written, digests in
      take(digests)
      try finishIndex(pass.count + written)
    }
  }

  private mutating func take(_ digests: [String: ProofDigest]) {
    if job.keepsDigests { state.digests.merge(digests) { $1 } }
  }

  /// So many indexes and R-trees are written.
  private mutating func finishIndex(_ written: Int) throws {
    state.unit = written
    let length = Int(clamping: output.database.writer.length)
    let bytes = length - indexedLength
    indexedLength = length
    job.monitor.note { $0.bytes += UInt64(max(0, bytes)) }
    progress.show(written: written, in: state)
    if job.monitor.isStopRequested {
      try publishIndexState()
      try job.monitor.throwIfStopRequested()
    }
    if clock.isDue(adding: bytes) { try publishIndexState() }
  }

  /// A run that stops within fills all indexes again.
  private func fillBySQLite(_ pass: IndexPass) throws {
    let (state, indexes) = (state, SQLiteIndexes(path: output.path, memory: job.files.budget, monitor: job.monitor))
    try indexes.fill((0..<pass.count).map(pass.name)) { written in
      progress.show(written: written, in: state)
      try job.monitor.throwIfStopRequested()
    }
    try indexes.finish(job.version, job.files.fileSystem)
  }

  /// Copies an index, or a WITHOUT ROWID table, record by record. A crash within begins with the last index again.
  private mutating func copyTree(_ row: SchemaRow) throws {
    guard let root = output.database.root(of: row.name) else {
      throw BatchError(.failed, "the schema lacks \(row.name)")
    }
    let builder = IndexBuilder(root: root, writer: output.database.writer)
    let scan = try IndexScan(snapshot: job.reader.snapshot, root: row.rootPage, rowLimit: job.files.budget.rowLimit)
    let page = RowPage()
    var digest = ProofDigest()
    progress.show(row.name)
    while try scan.next(into: page) {
      for index in 0..<page.count {
        try builder.append(page.record(index))
        if job.keepsDigests { digest.add(page.record(index)) }
      }
      // The newest checkpoint stands before the carried indexes: nothing of them is kept.
      try job.monitor.throwIfStopRequested()
    }
    try builder.finish()
    if job.keepsDigests { state.digests[row.name] = digest }
  }
}
