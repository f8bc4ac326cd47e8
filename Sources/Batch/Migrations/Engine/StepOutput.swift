import CoreDataStore
import RunSupport
import Streams

/// The store that a step writes: its file, the builders of its tables, and the spools of further objects. Keeps I2 and
/// I5.
final class StepOutput {
  let path: String
  let plan: StepPlan
  let header: DatabaseHeader
  let database: DatabaseBuilder
  private let file: any File
  private let fileSystem: any FileSystem
  private var builders: [TableBuilder] = []
  private var spools: [Int: RecordSpool] = [:]
  private let tableCount: Int
  /// Reads what the records that are taken refer to.
  private let longValues: LongValueReader
  private let keepsDigests: Bool
  private var finished: [(rows: UInt64, largest: Int64)]?

  /// Makes the file again, or opens it and cuts it to what a checkpoint names. Long values of rows are copied out of
  /// `source`.
  init(
    path: String, plan: StepPlan, header: DatabaseHeader, hasIndexes: Bool, keepsDigests: Bool = false,
    files: StepFiles,
    from source: DatabaseSnapshot, restoring: StepRestart?, watcher: (any PartWatcher)? = nil
  ) throws {
    self.path = path
    longValues = LongValueReader(snapshot: source, limit: files.budget.rowLimit)
    self.plan = plan
    self.header = header
    self.keepsDigests = keepsDigests
    tableCount = plan.layout.entityTables.count
    fileSystem = files.fileSystem
    file = try fileSystem.open(path, restoring == nil ? .create : .update)
    let schema = StoreSchemaText.entries(
      plan.layout, hasIndexes: hasIndexes, hasModelCache: plan.carried.modelCache != nil,
      carried: plan.carried.schema)
    database = try DatabaseBuilder(file: file, header: header, schema: schema, resumingAt: restoring?.state.nextPage)
    if restoring != nil {
      guard try file.size() >= database.writer.length else {
        throw StreamsError(.damagedCheckpoint, "the working file is shorter than its checkpoint says", path: path)
      }
      try file.truncate(to: database.writer.length)
    }
    if let watcher {
      let geometry = database.writer.geometry
      try watcher.begin(path, pageSize: geometry.pageSize, hasPointerMap: geometry.hasPointerMap)
      database.writer.onFinished = watcher.take
    }
    guard restoring?.state.phase ?? .units == .units else { return }
    try makeBuilders(restoring, files)
  }

  private func makeBuilders(_ restoring: StepRestart?, _ files: StepFiles) throws {
    var reader = restoring.map { ByteReader($0.builders, subject: "open pages") }
    for name in plan.tableNames {
      guard let root = database.root(of: name) else { throw BatchError(.failed, "the schema lacks \(name)") }
      let builder = TableBuilder(root: root, writer: database.writer, keepsDigest: keepsDigests)
      if reader != nil { try builder.restore(from: &reader!) }
      builders.append(builder)
    }
    var spool = 0
    for table in 0..<tableCount where plan.keys.keepsKeys(table: table) {
      let state = restoring?.state.spools.indices.contains(spool) == true ? restoring?.state.spools[spool] : nil
      spools[table] = try RecordSpool(
        path: files.path("spool.\(table)"), fileSystem: files.fileSystem, restoring: state)
      spool += 1
    }
  }

  /// Takes finished records in order.
  func take(_ page: RecordPage) throws {
    // Not counted for every record: `builders` holds them.
    let builders = builders.map { Unmanaged.passUnretained($0) }
    try page.forEach { number, rowid, record in
      if let table = KeyAssignment.spoolTable(number) {
        try spools[table]?.append(rowid: rowid, record: record)
      } else {
        try builders[number]._withUnsafeGuaranteedRef {
          try $0.append(rowid: rowid, record: record, longValues: longValues)
        }
      }
    }
  }

  /// Writes everything and makes it durable; returns what a checkpoint has to remember of the builders and the spools.
  func checkpoint() throws -> (builders: [UInt8], nextPage: UInt32, spools: [RecordSpool.State]) {
    var states: [RecordSpool.State] = []
    for table in spools.keys.sorted() {
      guard let spool = spools[table] else { continue }
      states.append(try spool.checkpoint())
      if states[states.count - 1].count > 0 { try spool.file.sync() }
    }
    try sync()
    var writer = ByteWriter()
    for builder in builders { builder.encode(into: &writer) }
    return (writer.bytes, database.writer.nextPage, states)
  }

  /// Hands all that was built to the file.
  func flush() throws { try database.writer.flush() }

  /// Makes everything written durable, and with it the names of the step's files: a checkpoint refers to them (I3).
  func sync() throws {
    try flush()
    try file.sync()
    try fileSystem.syncDirectory(FilePaths.directory(of: path))
  }

  /// Writes the objects that waited, and returns the rows and the largest key of every entity table.
  func finishTables() throws -> [(rows: UInt64, largest: Int64)] {
    if let finished { return finished }
    var totals: [(rows: UInt64, largest: Int64)] = []
    for (number, builder) in builders.enumerated() {
      try spools[number]?.drain(into: builder, longValues)
      try builder.finish()
      if number < tableCount { totals.append((builder.rowCount, builder.lastRowid ?? 0)) }
    }
    finished = totals
    return totals
  }

  /// Finishes the tables and opens them for reading; what follows in the file is not read.
  func finishedTables() throws -> DatabaseSnapshot {
    _ = try finishTables()
    try database.writer.flush()
    return try DatabaseSnapshot.building(
      path: path, fileSystem: fileSystem, header: header, pageCount: database.writer.nextPage - 1)
  }

  /// Whether a table has no row so far, not even one that waits in a spool.
  var isEmpty: [Bool] { builders.indices.map { builders[$0].rowCount == 0 && spools[$0]?.isEmpty ?? true } }

  /// What the tables must be found to hold, by name, where digests are kept.
  var digests: [String: ProofDigest] {
    Dictionary(zip(plan.tableNames, builders).compactMap { name, builder in builder.digest.map { (name, $0) } }) { $1 }
  }

  /// Rows of every table so far: entity tables, then join tables.
  var rowCounts: [UInt64] { builders.map(\.rowCount) }

  /// Closes the file; its name stays.
  func close() { file.close() }
}

/// What a resumed step starts from.
package struct StepRestart {
  package var state: StepState
  package var builders: [UInt8]

  package init(state: StepState, builders: [UInt8]) {
    self.state = state
    self.builders = builders
  }
}
