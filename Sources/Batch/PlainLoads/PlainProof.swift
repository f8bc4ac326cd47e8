import CoreDataStore
import GRDB
import LoadTables
import RunSupport
import Streams

/// Reads a file of ordinary tables back: SQLite judges the file, and row by row each value is compared with the store's.
struct PlainProof: Sendable {
  let path: String
  let schema: LoadSchema
  let rules: PlainRules
  let store: LoadStore
  let rowLimit: Int
  let monitor: RunMonitor

  private static let rowsPerReport: UInt64 = 1 << 12

  /// Throws `mismatch` if the file is not what it should be. `told` hears how many more rows were read back.
  func run(rows: [UInt64], _ told: (UInt64) -> Void) throws {
    let sqlite = try Worker { try askSQLite(rows: rows) }
    let found = Result { try compare(rows: rows, told) }
    let failure = sqlite.join()
    try found.get()
    if let failure { throw failure }
  }

  private func mismatch(_ what: String, entity: String? = nil, key: Int64? = nil) -> BatchError {
    BatchError(
      .mismatch, "what was read back is not what was written: \(what)",
      hint: "Is the disk or the memory at fault? Look at both, and run again", path: path, entity: entity, key: key)
  }

  private func askSQLite(rows: [UInt64]) throws {
    var configuration = GuardedConnection.configuration
    configuration.readonly = true
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let watch = monitor.onStop { queue.interrupt() }
    defer {
      watch.end()
      try? queue.close()
    }
    try queue.read { db in
      do { try ask(db, rows) } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
        try monitor.throwIfStopRequested()
        throw error
      }
    }
  }

  private func ask(_ db: Database, _ rows: [UInt64]) throws {
    let found = try String.fetchAll(db, sql: "PRAGMA integrity_check")
    guard found == ["ok"] else { throw mismatch("integrity_check says: \(found.prefix(3).joined(separator: "; "))") }
    let keys = try Row.fetchCursor(db, sql: "PRAGMA foreign_key_check")
    if let row = try keys.next() { throw mismatch("foreign_key_check says: \(row)") }
    for (table, count) in zip(schema.tables, rows) {
      let name = table.name.quotedDatabaseIdentifier
      let found = try Int64.fetchOne(db, sql: "SELECT count(*) FROM \(name)") ?? -1
      guard found == Int64(count) else {
        throw mismatch("\(table.name) has \(found.counted("row")) in the place of \(count.grouped)")
      }
    }
  }

  private func compare(rows: [UInt64], _ told: (UInt64) -> Void) throws {
    let written = try Streams.DatabaseSnapshot(path: path, fileSystem: store.fileSystem, locking: .none)
    defer { written.close() }
    let roots = try roots()
    for place in schema.tables.indices {
      let table = schema.tables[place]
      monitor.note { $0.begin("reading \(table.name) back") }
      guard let root = roots[table.name] else { throw mismatch("there is no table \(table.name)") }
      let scan = try RowScan(
        snapshot: written, root: root, isWithoutRowid: false, rowLimit: rowLimit,
        longValuesFrom: OutsideValue.threshold)
      let count = try compare(table, scan, in: written, told: told)
      guard count == rows[place] else {
        throw mismatch("\(table.name) has \(count.counted("row")) in the place of \(rows[place].grouped)")
      }
    }
  }

  /// Links have no entity.
  private func name(_ entity: Int, _ table: LoadTable) -> String {
    entity > 0 ? store.binding.layout.entityNames[entity - 1] : table.subject
  }

  private func roots() throws -> [String: UInt32] {
    var configuration = GuardedConnection.configuration
    configuration.readonly = true
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? queue.close() }
    let rows = try queue.read {
      try Row.fetchAll($0, sql: "SELECT name, rootpage FROM sqlite_master WHERE type = 'table'")
    }
    return Dictionary(rows.map { ($0[0] as String, UInt32($0[1] as Int64)) }) { first, _ in first }
  }

  /// Compares the rows of a table; returns their number.
  private func compare(
    _ table: LoadTable, _ scan: RowScan, in written: Streams.DatabaseSnapshot, told: (UInt64) -> Void
  ) throws -> UInt64 {
    let source = PlainCursor(
      try SourceRows(store, table, rowLimit: rowLimit).scan(after: nil), path: store.path)
    let found = PlainCursor(scan, path: path)
    let comparison = PlainRowComparison(table, of: store, rules: rules, written)
    var count: UInt64 = 0
    while try source.next() {
      guard let entity = try comparison.entity(source.record) else { continue }
      count += 1
      if count % Self.rowsPerReport == 0 {
        try monitor.throwIfStopRequested()
        told(Self.rowsPerReport)
      }
      let key = comparison.isOfLinks ? Int64(count) : source.key
      guard try found.next(), found.key == key else {
        throw mismatch("\(table.name) lacks a row", entity: name(entity, table), key: source.key)
      }
      if let column = try comparison.difference(found.record, source.record, entity: entity) {
        throw mismatch("\(table.name).\(column)", entity: name(entity, table), key: source.key)
      }
    }
    guard try !found.next() else { throw mismatch("\(table.name) has a row too many", key: found.key) }
    told(count % Self.rowsPerReport)
    return count
  }
}
