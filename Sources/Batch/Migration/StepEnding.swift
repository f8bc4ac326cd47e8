import Streams

// What follows when all rows were read: late changes, the tables' last pages, indexes, what is carried as it is.
extension StepRunner {
  private var patched: StepState {
    var state = transformer.state
    state.isPatched = true
    return state
  }

  /// Whether keys or values of written rows are changed at the end. Index entries that were collected are worth nothing then.
  var isWrittenAgain: Bool { patches.count > 0 || lost != nil }

  private var lost: LostReferences? {
    LostReferences(plan, transformer.state.counts, rejected: job.rejects?.state.mappings ?? [])
  }

  /// Join tables that may hold a link twice; a resumed run does not know what was added before.
  var joinsToCheck: [Int] {
    guard isResumed, plan.mayAddLinks else { return transformer.manager.joinsToCheck }
    return plan.layout.joinTables.indices.filter { output.rowCounts[plan.layout.entityTables.count + $0] > 1 }
  }

  func finishTables() throws {
    if let rejects = try job.rejects?.checkpoint() {
      try rejects.toSync.sync()
      transformer.state.rejects = rejects.state
    }
    let joins = joinsToCheck
    if !joins.isEmpty {
      show("links")
      transformer.state.repeated = try RepeatedLinks(job: job, output: output).remove(from: joins, patches)
    }
    if isWrittenAgain {
      showChanges()
      let lost = lost
      output = try PatchPass(job: job, output: output, patches: patches, lost: lost).run(
        into: Self.workingPath(job.path, patched))
      transformer.state.isPatched = true
      transformer.state.lost = lost?.counts ?? [:]
    }
    try checkRequired(transformer.state.lost)
    let tables = try output.finishTables()
    transformer.state.tableRows = output.rowCounts
    try checkCounts()
    let largest = zip(tables, plan.keys.firstNewKeys).map { max($0.largest, $1 - 1) }
    let fixed = try FixedTables(
      layout: plan.layout, metadata: job.metadata, largestKeys: largest, names: plan.carried.entityNames,
      modelCache: plan.carried.modelCache, foreignKeys: plan.carried.primaryKeys
    ).write(to: output.database)
    if job.keepsDigests { transformer.state.digests = output.digests.merging(fixed) { $1 } }
    transformer.state.phase = .indexes
    transformer.state.unit = 0
    try publishIndexState()
  }

  /// No row is lost silently (I12): what a table holds is what was kept from the source and what policies made.
  private func checkCounts() throws {
    let state = transformer.state
    for table in plan.layout.entityTables.indices {
      let mappings = plan.mappings.indices.filter { plan.mappings[$0].destination.table == table }
      let kept = mappings.reduce(UInt64(0)) { $0 + state.counts[$1].kept }
      let made = UInt64(clamping: state.nextKeys[table] - plan.keys.firstNewKeys[table])
      guard kept + made == state.tableRows[table] else {
        throw BatchError(
          .mismatch, "\(kept) objects were kept and \(made) made, but \(state.tableRows[table]) are written",
          hint: "This is a fault of the program; the source is untouched", entity: plan.layout.entityTables[table].rootEntity)
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

  private func publishIndexState() throws {
    try output.sync()
    transformer.state.nextPage = output.database.writer.nextPage
    try job.publish(transformer.state, [])
    job.monitor.update { $0.checkpoints += 1 }
  }

  func buildIndexes() throws {
    noteIndexWork()
    let pass = IndexPass(
      indexes, database: output.database, header: job.header, files: job.files, monitor: job.monitor, collected: collected)
    collected = nil
    let trees = RTreePass(
      rtrees, layout: plan.layout, database: output.database, header: job.header, files: job.files, monitor: job.monitor)
    if job.indexBuilding == .engine {
      try build(pass, trees)
    } else {
      try pass.writeEmpty()
      try trees.run { take($1) }
    }
    for row in plan.carried.trees { try copyTree(row) }
    let schema = try output.database.finish()
    if job.keepsDigests { transformer.state.digests["sqlite_schema"] = schema }
    if job.indexBuilding == .sqlite { try fillBySQLite(pass) }
    transformer.state.phase = .finished
    transformer.state.nextPage = output.database.writer.nextPage
    try job.publish(transformer.state, [])
  }

  private func build(_ pass: IndexPass, _ trees: RTreePass) throws {
    indexedLength = Int(clamping: output.database.writer.length)
    show(indexes: transformer.state.unit)
    try pass.run(from: transformer.state.unit) { try finishIndex($0) }
    try trees.run(from: max(0, transformer.state.unit - pass.count)) { written, digests in
      take(digests)
      try finishIndex(pass.count + written)
    }
  }

  private func take(_ digests: [String: ProofDigest]) {
    if job.keepsDigests { transformer.state.digests.merge(digests) { $1 } }
  }

  /// So many indexes and R-trees are written.
  private func finishIndex(_ written: Int) throws {
    transformer.state.unit = written
    let length = Int(clamping: output.database.writer.length)
    let bytes = length - indexedLength
    indexedLength = length
    job.monitor.note { $0.bytes += UInt64(max(0, bytes)) }
    show(indexes: written)
    if job.monitor.isStopRequested {
      try publishIndexState()
      try job.monitor.throwIfStopRequested()
    }
    if clock.isDue(adding: bytes) { try publishIndexState() }
  }

  private func show(indexes written: Int) {
    let names = indexes.map(\.name) + rtrees.map(\.name)
    show(written < names.count ? "index \(names[written])" : "")
    guard job.hasIndexes else { return }
    job.monitor.update { $0.advance(.indexes, to: Double(written) / Double(max(1, names.count))) }
  }

  /// A run that stops within fills all indexes again.
  private func fillBySQLite(_ pass: IndexPass) throws {
    let indexes = SQLiteIndexes(path: output.path, memory: job.files.budget, monitor: job.monitor)
    try indexes.fill((0..<pass.count).map(pass.name)) { written in
      show(indexes: written)
      try job.monitor.throwIfStopRequested()
    }
    try indexes.finish(job.version, job.files.fileSystem)
  }

  /// Copies an index, or a WITHOUT ROWID table, record by record. A crash within begins with the last index again.
  private func copyTree(_ row: SchemaRow) throws {
    guard let root = output.database.root(of: row.name) else { throw BatchError(.failed, "the schema lacks \(row.name)") }
    let builder = IndexBuilder(root: root, writer: output.database.writer)
    let scan = try IndexScan(snapshot: job.reader.snapshot, root: row.rootPage, rowLimit: job.files.budget.rowLimit)
    let page = RowPage()
    var digest = ProofDigest()
    show(row.name)
    while try scan.next(into: page) {
      for index in 0..<page.count {
        try builder.append(page.record(index))
        if job.keepsDigests { digest.add(page.record(index)) }
      }
      // The newest checkpoint stands before the carried indexes: nothing of them is kept.
      try job.monitor.throwIfStopRequested()
    }
    try builder.finish()
    if job.keepsDigests { transformer.state.digests[row.name] = digest }
  }
}
