import CoreDataStore
import GRDB
import GRDBSQLite
import RunSupport
import Streams

/// Builds the R-trees of a store whose tables are complete, one after the other.
///
/// SQLite fills each in a database of its own, in key order; the rows of its three tables are then copied by the page
/// builder. So SQLite never writes to the store, and every page of it is the builder's. A crash within an R-tree begins
/// that one again.
package struct RTreePass {
  private let trees: [RTreeLayout]
  private let layout: StoreLayout
  private let database: DatabaseBuilder
  private let header: DatabaseHeader
  private let files: StepFiles
  private let monitor: RunMonitor

  package init(
    _ trees: [RTreeLayout], layout: StoreLayout, database: DatabaseBuilder, header: DatabaseHeader, files: StepFiles,
    monitor: RunMonitor = RunMonitor()
  ) {
    (self.trees, self.layout, self.database, self.header) = (trees, layout, database, header)
    (self.files, self.monitor) = (files, monitor)
  }

  /// Builds all R-trees from one on. `body` is called after each with the number of those that are written, and with
  /// what its tables must be found to hold; when it throws, the pass ends.
  package func run(from first: Int = 0, _ body: (Int, [String: ProofDigest]) throws -> Void) throws {
    guard first < trees.count else { return }
    try database.writer.flush()
    let rows = try Streams.DatabaseSnapshot.building(
      path: database.writer.file.path, fileSystem: files.fileSystem, header: header,
      pageCount: database.writer.nextPage - 1)
    defer { rows.close() }
    for position in first..<trees.count { try body(position + 1, build(trees[position], of: rows)) }
  }

  private func build(_ tree: RTreeLayout, of rows: Streams.DatabaseSnapshot) throws -> [String: ProofDigest] {
    let isInMemory = files.fileSystem is MemoryDisk
    let path = isInMemory ? ":memory:" : files.path("rtree")
    if !isInMemory, try files.fileSystem.status(path) != nil { try files.fileSystem.remove(path) }
    var configuration = Configuration()
    // A stop leaves the transaction open, and the database with it.
    configuration.allowsUnsafeTransactions = true
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? queue.close() }
    return try queue.writeWithoutTransaction { db in
      try prepare(db)
      // The name goes as soon as the file is open: nothing is left of a process that ends here.
      if !isInMemory { try files.fileSystem.remove(path) }
      try db.execute(sql: "BEGIN; \(tree.sql)")
      try fill(db, tree: tree, rows: rows)
      try db.execute(sql: "COMMIT")
      var digests: [String: ProofDigest] = [:]
      for (name, _) in tree.shadowTables { digests[name] = try copy(name, from: db) }
      return digests
    }
  }

  /// The page size decides how many entries a node holds.
  private func prepare(_ db: Database) throws {
    for pragma in [
      "page_size = \(header.pageSize)", "locking_mode = EXCLUSIVE", "journal_mode = OFF", "synchronous = OFF",
    ] {
      _ = try Row.fetchAll(db, sql: "PRAGMA \(pragma)")
    }
    _ = try Row.fetchAll(db, sql: "PRAGMA cache_size = -\(files.budget.sortBytes >> 11)")
    // Behind the journal, which a guarded connection keeps.
    try GuardedConnection.harden(db.sqliteConnection, path: nil)
  }

  private func fill(_ db: Database, tree: RTreeLayout, rows: Streams.DatabaseSnapshot) throws {
    guard let root = database.root(of: tree.table),
      let table = layout.entityTables.first(where: { $0.name == tree.table }),
      let kind = table.columns.firstIndex(where: { $0.role == .entity })
    else { throw BatchError(.failed, "the schema lacks \(tree.table)") }
    let columns = tree.columns.compactMap { name in table.columns.firstIndex { $0.name == name } }
    let numbers = tree.entityNumbers.map { Set($0.map(Int64.init)) }
    let bounds = columns.indices.map { ", ?\($0 + 2), ?\($0 + 2)" }.joined()
    let insert = try db.makeStatement(sql: "INSERT INTO \(tree.name.quotedDatabaseIdentifier) VALUES (?1\(bounds))")
    let scan = TableScan(snapshot: rows, root: root, rowLimit: .max, longValuesFrom: MemoryBudget.longValueBytes)
    let (page, decoder) = (RowPage(), RecordDecoder())
    while try scan.next(into: page) {
      try monitor.throwIfStopRequested()
      for row in 0..<page.count {
        guard decoder.decode(page.record(row)) else { throw IndexPass.unfit(tree.table, page.rowid(row)) }
        if let numbers, !numbers.contains(decoder.integer(kind) ?? 0) { continue }
        guard bind(page.rowid(row), decoder: decoder, columns: columns, to: insert.sqliteStatement) else {
          throw IndexPass.unfit(tree.table, page.rowid(row))
        }
        guard sqlite3_step(insert.sqliteStatement) == SQLITE_DONE, sqlite3_reset(insert.sqliteStatement) == SQLITE_OK
        else {
          throw failure(tree.name, db)
        }
      }
      monitor.hold(bytes: page.count * columns.count * 8)
    }
  }

  private func bind(_ key: Int64, decoder: RecordDecoder, columns: [Int], to statement: SQLiteStatement) -> Bool {
    guard sqlite3_bind_int64(statement, 1, key) == SQLITE_OK else { return false }
    for (place, column) in columns.enumerated() {
      guard bind(decoder, column: column, to: statement, place: Int32(place + 2)) else { return false }
    }
    return true
  }

  /// Hands a value over as it is stored: of NULL, texts and blobs SQLite makes the number that it makes of them
  /// elsewhere. The bytes stay until the next row.
  private func bind(_ decoder: RecordDecoder, column: Int, to statement: SQLiteStatement, place: Int32) -> Bool {
    let (type, body) = (decoder.type(column), decoder.body(column))
    switch type {
    case LongValue.serialType: return false
    case SerialType.null: return sqlite3_bind_null(statement, place) == SQLITE_OK
    case SerialType.real: return sqlite3_bind_double(statement, place, decoder.real(column) ?? 0) == SQLITE_OK
    case _ where SerialType.isInteger(type):
      return sqlite3_bind_int64(statement, place, decoder.integer(column) ?? 0) == SQLITE_OK
    case _ where SerialType.isText(type):
      let start = body.baseAddress?.assumingMemoryBound(to: CChar.self)
      return sqlite3_bind_text(statement, place, start, Int32(body.count), nil) == SQLITE_OK
    default: return sqlite3_bind_blob(statement, place, body.baseAddress, Int32(body.count), nil) == SQLITE_OK
    }
  }

  /// Copies one of SQLite's three tables: a key, and a node or the number of one.
  private func copy(_ name: String, from db: Database) throws -> ProofDigest? {
    guard let root = database.root(of: name) else { throw BatchError(.failed, "the schema lacks \(name)") }
    let builder = TableBuilder(root: root, writer: database.writer, keepsDigest: true)
    let select = try db.makeStatement(sql: "SELECT * FROM \(name.quotedDatabaseIdentifier) ORDER BY 1")
    let (rows, encoder) = (select.sqliteStatement, RecordEncoder())
    var bytes = [UInt8](repeating: 0, count: 1 << 10)
    var result = sqlite3_step(rows)
    while result == SQLITE_ROW {
      let key = sqlite3_column_int64(rows, 0)
      encode(rows, into: encoder)
      if bytes.count < encoder.length { bytes = [UInt8](repeating: 0, count: encoder.length * 2) }
      try bytes.withUnsafeMutableBytes { target in
        guard let base = target.baseAddress else { return }
        encoder.write(to: base)
        try builder.append(rowid: key, record: UnsafeRawBufferPointer(rebasing: target[..<encoder.length]))
      }
      if key & 0xFFF == 0 { try monitor.throwIfStopRequested() }
      result = sqlite3_step(rows)
    }
    guard result == SQLITE_DONE, sqlite3_reset(rows) == SQLITE_OK else { throw failure(name, db) }
    try builder.finish()
    return builder.digest
  }

  private func encode(_ row: SQLiteStatement, into encoder: RecordEncoder) {
    encoder.reset()
    encoder.appendNull()
    if sqlite3_column_type(row, 1) == SQLITE_INTEGER { return encoder.append(sqlite3_column_int64(row, 1)) }
    let node = UnsafeRawBufferPointer(start: sqlite3_column_blob(row, 1), count: Int(sqlite3_column_bytes(row, 1)))
    encoder.append(type: SerialType.blob(length: node.count), body: node)
  }

  private func failure(_ name: String, _ db: Database) -> BatchError {
    BatchError(
      .failed, "SQLite cannot fill the R-tree \(name): \(String(cString: sqlite3_errmsg(db.sqliteConnection)))",
      hint: "Check the space on the disk of the job's folder")
  }
}
