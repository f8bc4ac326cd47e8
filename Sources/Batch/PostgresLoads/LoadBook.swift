import Foundation
import LoadTables
import MappingModels
import RunSupport
import Streams

/// How far a load is: a table on the server, beside the ones that are loaded. A row changes in the transaction that
/// brings the rows which it counts, so that both are there or neither (I14).
struct LoadBook {
  /// The table's name.
  static let table = "godwit_load"

  /// Rows that are loaded one after the other: those of a table, or of a part of it.
  struct Unit: Equatable {
    /// The table, by its place in the schema.
    var table = 0
    /// The rowid after which the part begins, and the one with which it ends; nil for the table's own beginning and
    /// end.
    var after: Int64?
    var upTo: Int64?
    /// The row of the source after which it continues; nil at the beginning.
    var position: Int64?
    /// Rows of it that are in PostgreSQL's table.
    var rows: UInt64 = 0
    /// What they are.
    var digest = ProofDigest()
    var remarks = LoadRemarks()
    var isDone = false
  }

  /// Kept as text, for 64 bits of a digest are no number of JSON.
  private struct State: Codable {
    var digest: [String]
    var remarks: LoadRemarks
  }

  let session: any PostgresSession
  let schema: LoadSchema
  /// What distinguishes the load from any other: its store and its tables.
  let identity: String

  private var statements: PostgresStatements { PostgresStatements(schema: schema) }
  private var name: String { "\(PostgresNames.quoted(schema.namespace)).\(Self.table)" }

  /// Whether there is one. Throws `refused` if it belongs to another load, or is none.
  func exists() throws -> Bool {
    guard try isThere(Self.table) else { return false }
    guard let found = try owner() else {
      throw BatchError(
        .refused, "the schema \(schema.namespace) has a table \(Self.table) that no load has made",
        hint: "Run \(ProgramName.current) migrate with another --schema, or rename that table", effect: .nothingWritten
      )
    }
    guard found == identity else {
      throw BatchError(
        .refused,
        "the schema \(schema.namespace) has the unfinished load of another store, or one with other options",
        hint: "Finish that one, or run \(ProgramName.current) migrate with another --schema", effect: .nothingWritten)
    }
    return true
  }

  /// The load that it belongs to; nil if it has not the columns of a book.
  private func owner() throws -> String? {
    do {
      return try session.rows("SELECT name FROM \(name) WHERE unit = -1").first?.first.flatMap(\.self)
    } catch let error as PostgresError where error.state.hasPrefix("42") && error.state != "42501" {
      return nil
    }
  }

  private func isThere(_ table: String) throws -> Bool {
    try session.rows(
      "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = "
        + "\(PostgresNames.literal(schema.namespace)) AND c.relname = \(PostgresNames.literal(table))"
    ).isEmpty == false
  }

  /// Whether all tables of the load are there.
  func hasTables() throws -> Bool { try schema.tables.map(\.name).allSatisfy(isThere) }

  /// Throws `refused` if one of the load's tables is there.
  func refuseTakenNames() throws {
    let taken = try schema.tables.map(\.name).filter(isThere)
    guard taken.isEmpty else {
      throw BatchError(
        .refused,
        "the schema \(schema.namespace) has \(taken.count == 1 ? "a table" : "tables") \(taken.joined(separator: ", "))",
        hint: "Run \(ProgramName.current) migrate with another --schema, or drop or rename what is there",
        effect: .nothingWritten
      )
    }
  }

  /// Makes all tables and the book, in one transaction. Throws `refused` if one of the tables is there.
  func create(_ units: [Unit]) throws {
    try refuseTakenNames()
    try session.execute("BEGIN")
    try make(units)
    try session.execute("COMMIT")
  }

  /// Creates everything on the server that will be created, without a row, and undoes it: what the server refuses, it
  /// refuses now.
  func rehearse() throws {
    try refuseTakenNames()
    try session.execute("BEGIN")
    try make([])
    for constraint in statements.constraints { try session.execute(constraint.sql) }
    try session.execute("ROLLBACK")
  }

  private func make(_ units: [Unit]) throws {
    // Also IF NOT EXISTS takes the right to make schemas.
    let schemas = try session.rows(
      "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = \(PostgresNames.literal(schema.namespace))")
    if schemas.isEmpty { try session.execute(statements.createSchema) }
    for table in schema.tables.indices { try session.execute(statements.createTable(table)) }
    try session.execute(
      "CREATE TABLE \(name) (unit integer PRIMARY KEY, name text NOT NULL, part_of integer, after bigint, up_to bigint, "
        + "position bigint, rows bigint NOT NULL DEFAULT 0, state text, is_done boolean NOT NULL DEFAULT false)")
    let values = units.enumerated().map { number, unit in
      "(\(number), \(PostgresNames.literal(schema.tables[unit.table].name)), \(unit.table), \(Self.sql(unit.after)), \(Self.sql(unit.upTo)))"
    }
    let all = ["(-1, \(PostgresNames.literal(identity)), NULL, NULL, NULL)"] + values
    try session.execute("INSERT INTO \(name) (unit, name, part_of, after, up_to) VALUES \(all.joined(separator: ", "))")
  }

  private static func sql(_ number: Int64?) -> String { number.map(String.init) ?? "NULL" }

  /// How far all units are.
  func units() throws -> [Unit] {
    let rows = try session.rows(
      "SELECT unit, part_of, after, up_to, position, rows, state, is_done FROM \(name) WHERE unit >= 0 ORDER BY unit")
    let units = try rows.enumerated().map { place, row in
      guard row.count == 8, row[0] == "\(place)", let table = row[1].flatMap({ Int($0) }),
        schema.tables.indices.contains(table),
        let count = row[5].flatMap({ UInt64($0) })
      else { throw damaged }
      let numbers = row[2...4].map { $0.flatMap { Int64($0) } }
      var unit = Unit(
        table: table, after: numbers[0], upTo: numbers[1], position: numbers[2], rows: count, isDone: row[7] == "t")
      try read(row[6], into: &unit)
      return unit
    }
    guard Set(units.map(\.table)).count == schema.tables.count else { throw damaged }
    return units
  }

  private func read(_ text: String?, into unit: inout Unit) throws {
    if let text {
      guard let state = try? JSONDecoder().decode(State.self, from: Data(text.utf8)) else { throw damaged }
      unit.digest = ProofDigest(words: state.digest.compactMap { UInt64($0) })
      unit.remarks = state.remarks
    }
    guard unit.digest.count == unit.rows else { throw damaged }
  }

  /// What the units of each table are together.
  static func tables(_ units: [Unit], of schema: LoadSchema) -> [Unit] {
    schema.tables.indices.map { table in
      units.filter { $0.table == table }.reduce(into: Unit(table: table)) { sum, unit in
        sum.rows += unit.rows
        sum.digest.add(unit.digest)
        sum.remarks.add(unit.remarks)
      }
    }
  }

  private var damaged: BatchError {
    BatchError(
      .badCheckpoint, "the table \(name) on the server is not as the load left it",
      hint: "Did others write to it?")
  }

  /// Notes how far a unit is, within the transaction that brought it there. Throws `leaseHeld` if the book has other
  /// rows by now.
  func note(_ unit: Unit, _ number: Int, rowsBefore: UInt64) throws {
    let state = State(digest: unit.digest.words.map(String.init), remarks: unit.remarks)
    let text = String(decoding: try JSONEncoder().encode(state), as: UTF8.self)
    let changed = try session.rows(
      "UPDATE \(name) SET position = \(Self.sql(unit.position)), rows = \(unit.rows), state = "
        + "\(PostgresNames.literal(text)), is_done = \(unit.isDone) WHERE unit = \(number) AND rows = \(rowsBefore) AND NOT is_done RETURNING unit"
    )
    guard changed.count == 1 else {
      throw BatchError(
        .leaseHeld, "another process goes on with this load", hint: "Look for it; this one has left it alone",
        entity: self.name)
    }
  }

  /// The server has taken another number of rows than it was sent: something there takes rows away, or adds some.
  func miscount(of table: Int, sent: UInt64, taken: UInt64) -> BatchError {
    BatchError(
      .mismatch,
      "the server has taken \(taken) of \(sent.counted("row")) for \(statements.name(table)); nothing of it was committed",
      hint: "Look for triggers or rules on the table", entity: schema.tables[table].subject)
  }

  /// What followed the rows and is made.
  func madeConstraints() throws -> Set<String> {
    Set(try session.rows("SELECT name FROM \(name) WHERE unit < -1").compactMap { $0.first.flatMap(\.self) })
  }

  /// Notes within its transaction that something is made, or cannot be.
  func note(_ constraint: PostgresConstraint, number: Int, note: String? = nil) throws {
    try session.execute(
      "INSERT INTO \(name) (unit, name, state) VALUES (\(-2 - number), \(PostgresNames.literal(constraint.sql)), "
        + "\(note.map(PostgresNames.literal) ?? "NULL"))")
  }

  /// What a person should know of what could not be made.
  func notes() throws -> [String] {
    try session.rows("SELECT state FROM \(name) WHERE unit < -1 AND state IS NOT NULL ORDER BY unit DESC").compactMap {
      $0.first.flatMap(\.self)
    }
  }

  /// Removes the book: the load is finished. Its mark becomes a comment of the first table.
  func remove(mark: String?) throws {
    try session.execute("BEGIN")
    try session.execute("DROP TABLE \(name)")
    if let mark, !schema.tables.isEmpty {
      try session.execute("COMMENT ON TABLE \(statements.name(0)) IS \(PostgresNames.literal(Self.text(of: mark)))")
    }
    try session.execute("COMMIT")
  }

  /// Whether the tables are those of a finished load with this mark.
  func has(mark: String) throws -> Bool {
    guard try !schema.tables.isEmpty && !isThere(Self.table) && hasTables() else { return false }
    let table = PostgresNames.literal(statements.name(0))
    return try session.rows("SELECT obj_description(\(table)::regclass, 'pg_class')").first == [Self.text(of: mark)]
  }

  private static func text(of mark: String) -> String { "Loaded by godwit: \(mark)" }
}
