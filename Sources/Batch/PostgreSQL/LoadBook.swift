import Foundation
import Streams

/// How far a load is: a table on the server, beside the ones that are loaded. A row changes in the transaction that brings the rows
/// which it counts, so that both are there or neither.
struct LoadBook {
  /// The table's name.
  static let table = "godwit_load"

  /// One table that is loaded.
  struct Unit: Equatable {
    /// Behind which row of the source it goes on; nil at the beginning.
    var position: Int64?
    /// Rows that are in the table.
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
  let schema: PostgresSchema
  /// What tells the load from any other: its store and its tables.
  let identity: String

  private var statements: PostgresStatements { PostgresStatements(schema: schema) }
  private var name: String { "\(PostgresNames.quoted(schema.options.schema)).\(Self.table)" }

  /// Is there one? Throws `refused` where it is another load's.
  func exists() throws -> Bool {
    guard try isThere(Self.table) else { return false }
    let found = try session.rows("SELECT name FROM \(name) WHERE unit = -1").first?.first.flatMap(\.self)
    guard found == identity else {
      throw BatchError(
        .refused, "the schema \(schema.options.schema) has the unfinished load of another store, or one with other options",
        hint: "Finish that one, name another schema with --schema, or drop its tables and \(Self.table). Nothing was written")
    }
    return true
  }

  private func isThere(_ table: String) throws -> Bool {
    try session.rows(
      "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = "
        + "\(PostgresNames.literal(schema.options.schema)) AND c.relname = \(PostgresNames.literal(table))"
    ).isEmpty == false
  }

  /// Throws `refused` where one of the load's tables is there.
  func refuseTakenNames() throws {
    let taken = try schema.tables.map(\.name).filter(isThere)
    guard taken.isEmpty else {
      throw BatchError(
        .refused, "the schema \(schema.options.schema) has \(taken.count == 1 ? "a table" : "tables") \(taken.joined(separator: ", "))",
        hint: "Name another schema with --schema, or drop or rename what is there. Nothing was written")
    }
  }

  /// Makes all tables and the book, in one transaction. Throws `refused` where one of them is there.
  func create() throws {
    try refuseTakenNames()
    try session.execute("BEGIN")
    try session.execute(statements.createSchema)
    for table in schema.tables.indices { try session.execute(statements.createTable(table)) }
    try session.execute(
      "CREATE TABLE \(name) (unit integer PRIMARY KEY, name text NOT NULL, position bigint, rows bigint NOT NULL DEFAULT 0, "
        + "state text, is_done boolean NOT NULL DEFAULT false)")
    let units = [(-1, identity)] + schema.tables.enumerated().map { ($0, $1.name) }
    let values = units.map { "(\($0.0), \(PostgresNames.literal($0.1)))" }.joined(separator: ", ")
    try session.execute("INSERT INTO \(name) (unit, name) VALUES \(values)")
    try session.execute("COMMIT")
  }

  /// How far all tables are, in their order.
  func units() throws -> [Unit] {
    let rows = try session.rows("SELECT unit, position, rows, state, is_done FROM \(name) WHERE unit >= 0 ORDER BY unit")
    guard rows.count == schema.tables.count else { throw damaged }
    return try rows.enumerated().map { place, row in
      guard row.count == 5, row[0] == "\(place)" else { throw damaged }
      var unit = Unit()
      unit.position = row[1].flatMap { Int64($0) }
      unit.rows = row[2].flatMap { UInt64($0) } ?? 0
      unit.isDone = row[4] == "t"
      guard let text = row[3] else { return unit }
      guard let state = try? JSONDecoder().decode(State.self, from: Data(text.utf8)) else { throw damaged }
      unit.digest = ProofDigest(words: state.digest.compactMap { UInt64($0) })
      unit.remarks = state.remarks
      guard unit.digest.count == unit.rows else { throw damaged }
      return unit
    }
  }

  private var damaged: BatchError {
    BatchError(
      .badCheckpoint, "the table \(name) on the server is not as the load left it",
      hint: "Drop the tables of the load and \(name), and load again")
  }

  /// Notes how far a table is, within the transaction that brought it there. Throws `leaseHeld` where the book has other rows by now.
  func note(_ unit: Unit, of table: Int, rowsBefore: UInt64) throws {
    let state = State(digest: unit.digest.words.map(String.init), remarks: unit.remarks)
    let text = String(decoding: try JSONEncoder().encode(state), as: UTF8.self)
    let changed = try session.rows(
      "UPDATE \(name) SET position = \(unit.position.map(String.init) ?? "NULL"), rows = \(unit.rows), state = "
        + "\(PostgresNames.literal(text)), is_done = \(unit.isDone) WHERE unit = \(table) AND rows = \(rowsBefore) RETURNING unit")
    guard changed.count == 1 else {
      throw BatchError(
        .leaseHeld, "another process goes on with this load", hint: "Look for it; this one has left it alone", entity: self.name)
    }
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

  /// Removes the book: the load is finished.
  func remove() throws { try session.execute("DROP TABLE IF EXISTS \(name)") }
}
