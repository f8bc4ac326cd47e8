import CoreDataStore
import GRDB
import LoadTables
import MigrationJobs
import RunSupport
import Streams

/// What SQLite does in a file whose rows are there: primary keys of links, foreign keys, indexes, views.
///
/// What the rows do not allow is left out, and noted: no row is changed for it.
struct PlainFinish {
  let path: String
  let schema: LoadSchema
  let rules: PlainRules
  let memory: MemoryBudget
  let monitor: RunMonitor

  private var statements: PlainStatements { PlainStatements(schema: schema, rules: rules) }

  /// Does it all. `without` are the columns of each table in which values are missing. Returns notes.
  func run(without: [Set<Int>]) throws -> [String] {
    let queue = try DatabaseQueue(path: path)
    let watch = monitor.onStop { queue.interrupt() }
    defer {
      watch.end()
      try? queue.close()
    }
    return try queue.writeWithoutTransaction { db in
      for pragma in ["locking_mode = EXCLUSIVE", "journal_mode = OFF", "synchronous = OFF", "temp_store = FILE"] {
        _ = try Row.fetchAll(db, sql: "PRAGMA \(pragma)")
      }
      _ = try Row.fetchAll(db, sql: "PRAGMA cache_size = -\(memory.sortBytes >> 11)")
      do { return try work(db, without) } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
        try monitor.throwIfStopRequested()
        throw error
      }
    }
  }

  private func work(_ db: Database, _ without: [Set<Int>]) throws -> [String] {
    try fillKeys(db)
    var (leniencies, notes) = try bind(db)
    for (table, columns) in without.enumerated() { leniencies[table].nullable.formUnion(columns) }
    try relax(db, leniencies)
    notes += try makeIndexes(db)
    for view in statements.views { try db.execute(sql: view) }
    try db.execute(sql: "PRAGMA application_id = \(PlainMark.number)")
    return notes
  }

  private func fillKeys(_ db: Database) throws {
    for table in schema.tables where table.keyCount > 1 {
      tell("creating the primary key of \(table.name)")
      do { try db.execute(sql: "REINDEX \(table.name.quotedDatabaseIdentifier)") } catch let error as DatabaseError
        where error.resultCode == .SQLITE_CONSTRAINT
      {
        throw BatchError(
          .badStore, "the store has a link of \(table.subject) twice",
          hint: "Core Data's own table forbids that: mend the store, or restore it from a backup", cause: error)
      }
    }
  }

  private func tell(_ phase: String) { monitor.update { $0.begin(phase) } }

  /// Finds the keys that lead nowhere.
  private func bind(_ db: Database) throws -> ([PlainStatements.Leniency], [String]) {
    var leniencies = [PlainStatements.Leniency](repeating: .init(), count: schema.tables.count)
    var notes: [String] = []
    for (place, table) in schema.tables.enumerated() where table.columns.contains(where: { $0.references != nil }) {
      tell("checking the foreign keys of \(table.name)")
      let name = table.name.quotedDatabaseIdentifier
      var counts: [Int: UInt64] = [:]
      let rows = try Row.fetchCursor(db, sql: "PRAGMA foreign_key_check(\(name))")
      while let row = try rows.next() { counts[row[3], default: 0] += 1 }
      guard !counts.isEmpty else { continue }
      let keys = try Row.fetchAll(db, sql: "PRAGMA foreign_key_list(\(name))")
      for key in keys {
        guard let count = counts[key["id"]],
          let column = table.columns.firstIndex(where: { $0.name == key["from"] as String })
        else { continue }
        leniencies[place].unbound.insert(column)
        notes.append(
          "\(table.name).\(table.columns[column].name) is no foreign key: \(count.grouped) of its keys \(count.verb("leads", "lead")) to no row"
        )
      }
    }
    return (leniencies, notes)
  }

  /// Takes out of the tables' texts what the rows do not allow (SQLite, "ALTER TABLE", Making Other Kinds Of Table
  /// Schema Changes).
  private func relax(_ db: Database, _ leniencies: [PlainStatements.Leniency]) throws {
    guard leniencies.contains(where: { !$0.isEmpty }) else { return }
    try db.execute(sql: "PRAGMA writable_schema = ON")
    for (table, leniency) in leniencies.enumerated() where !leniency.isEmpty {
      try db.execute(
        sql: "UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ?",
        arguments: [statements.createTable(table, leniency), schema.tables[table].name])
    }
    try db.execute(sql: "PRAGMA writable_schema = RESET")
  }

  private func makeIndexes(_ db: Database) throws -> [String] {
    var notes: [String] = []
    for index in schema.indexes {
      tell("creating the index \(index.name)")
      do { try db.execute(sql: statements.createIndex(index)) } catch let error as DatabaseError
        where error.resultCode == .SQLITE_CONSTRAINT
      {
        notes.append("\(index.name) is not created, because values are there twice")
      }
    }
    return notes
  }
}
