import Codecs
import Glibc
import LoadTables
import MappingModels
import MigrationJobs
import RunSupport
import Streams

/// Loads a store into PostgreSQL: tables, rows in transactions, keys and indexes, and the proof. All of it can be
/// resumed where it stopped: what is done is noted on the server in the transaction that did it.
struct PostgresLoad {
  let schema: LoadSchema
  let store: LoadStore
  let server: PostgresServer
  let proves: Bool
  let rowLimit: Int
  let monitor: RunMonitor
  /// Whether there was a load before this process. Then a server that cannot be reached is one that is away.
  var isBegun = false
  /// Seconds for which a server may be away, counted from the first failure after the last progress.
  var patience = 60.0
  /// Sessions that load and prove at a time: one is busy with its server's processor most of the time.
  var sessions = 2
  /// Tables from so many bytes on are loaded in parts.
  var leastPart = LoadCrew.standardPart
  /// Tables from so many of the server's blocks on are read back in parts.
  var leastBlocks = LoadProof.standardBlocks
  var connect: (PostgresServer) throws -> any PostgresSession = { try $0.connect() }

  /// Ends with its owner, or earlier on another thread.
  private final class OpenSession: @unchecked Sendable {
    // Sendable by discipline: another thread only calls close(), which any thread may.
    let session: any PostgresSession
    var watch: RunMonitor.Watch?

    init(session: any PostgresSession) { self.session = session }

    func end() {
      watch?.end()
      session.close()
    }
  }

  /// Whether tables and book were made already. Then a server without them is another one.
  var expectsBook = false
  /// Called when they are there.
  var didBegin: () throws -> Void = {}
  /// Called when they cannot be made, as others are there: then nothing of the load is on the server.
  var wasTurnedAway: () throws -> Void = {}

  /// What is on the server.
  struct Outcome: Codable, Equatable {
    /// Rows by table.
    var rows: [String: UInt64] = [:]
    /// Bytes of the tables and their indexes.
    var bytes: UInt64 = 0
    var notes: [String] = []
  }

  private var statements: PostgresStatements { PostgresStatements(schema: schema) }

  private static var otherServer: BatchError {
    BatchError(
      .refused, "the server has nothing of this load",
      hint: "Is it the one that the load was begun with, and its database? Name it with --to-postgres",
      effect: .nothingWritten)
  }

  /// The load's own name: its store's bytes, and its statements.
  var identity: String {
    let text = Array(statements.script.utf8) + store.fingerprint
    return PlanFingerprint.hex(SHA256.hash(text))
  }

  /// Loads what is not loaded yet. On return all rows, keys and indexes are durable on the server, and proved; the book
  /// of the load is there still: see ``finish()``.
  ///
  /// Throws ``BatchError``: `refused` for a server that does not let anybody in or has such tables, `stopped` if the
  /// load can be resumed later, `mismatch`, `failed` for a value that does not fit, `leaseHeld`.
  func run() throws -> Outcome {
    try withSession { session, absence in
      try attempt(LoadBook(session: session, schema: schema, identity: identity), absence)
    }
  }

  /// Refuses what would be refused later: a server that cannot be reached, tables that are there. Nothing is written.
  func check() throws {
    try withSession { session, _ in
      let book = LoadBook(session: session, schema: schema, identity: identity)
      if try !book.exists() { try book.rehearse() }
    }
  }

  /// Removes the book.
  func finish() throws {
    try withSession { session, _ in
      let book = LoadBook(session: session, schema: schema, identity: identity)
      guard try book.exists() else {
        guard try book.hasTables() else { throw Self.otherServer }
        return
      }
      guard try book.units().allSatisfy(\.isDone) else {
        throw BatchError(
          .mismatch, "the server has lost rows that it had confirmed",
          hint: "Is fsync off there? Drop the tables and load again")
      }
      try book.remove()
    }
  }

  /// Calls a body with a session; again with another one as long as the server is away for less than its time.
  private func withSession<R>(_ body: (any PostgresSession, Absence) throws -> R) throws -> R {
    let absence = Absence()
    var isFirst = !isBegun
    while true {
      do {
        let open = try open()
        defer { open.end() }
        isFirst = false
        try SessionSettings.apply(to: open.session)
        try PostgresCheck(session: open.session, schema: schema.namespace).run()
        return try body(open.session, absence)
      } catch let error as PostgresError {
        guard error.isPassing, !isFirst else { throw explained(error, isFirst: isFirst) }
        try wait(absence, error.message) { explained(error, isFirst: false) }
      } catch let error as BatchError where error.code == .leaseHeld && isBegun {
        // Of a connection that was lost the server may not know it yet.
        try wait(absence, error.message) { error }
      }
    }
  }

  /// A session that ends at once when a stop is asked for, whatever its server is at: what was not committed is loaded
  /// again.
  private func open() throws -> OpenSession {
    let open = OpenSession(session: try connect(server))
    open.watch = monitor.onStop { open.session.close() }
    return open
  }

  /// Waits a moment for another attempt. Throws when a stop is asked for, and the error when all patience is over.
  private func wait(_ absence: Absence, _ reason: String, orThrow error: () -> any Error) throws {
    try monitor.throwIfStopRequested()
    let away = absence.seconds
    guard away < patience else { throw error() }
    monitor.note { $0.begin("waiting for the server (\(reason))") }
    let end = ContinuousClock.now + .seconds(min(1, 0.05 + away / 4))
    while ContinuousClock.now < end {
      try monitor.throwIfStopRequested()
      usleep(50_000)
    }
  }

  private func explained(_ error: PostgresError, isFirst: Bool) -> BatchError {
    let name = server.withoutPassword
    let effect: BatchError.Effect? = isBegun ? nil : .nothingWritten
    switch error.state {
    case "28P01", "28000", "3D000", "42501":
      return BatchError(
        .refused, "\(name) does not let this user do that: \(error.message)",
        hint: "Give user and password in the URL, by PGPASSWORD or in ~/.pgpass, and look at the user's rights",
        effect: effect)
    case _ where error.isOutOfRoom:
      return BatchError(.stopped, "\(name) has no room: \(error.message)", hint: "Make room there")
    case _ where isFirst:
      return BatchError(
        .refused, "\(name) cannot be reached: \(error.message)",
        hint: "Is the server running, and is the address right?", effect: effect)
    case _ where error.isPassing:
      return BatchError(.stopped, "\(name) is away: \(error.message)", hint: "Wait until it is back")
    case _ where !isBegun:
      return BatchError(
        .refused, "\(name) refused a statement: \(error)", hint: "Mend what it says", effect: .nothingWritten)
    default:
      return BatchError(.failed, "\(name) refused a statement: \(error)", hint: "Mend what it says")
    }
  }

  private func begin(_ book: LoadBook) throws {
    do {
      guard try !book.exists() else { return }
      guard !expectsBook else { throw Self.otherServer }
      try book.create(try LoadCrew.units(schema, store, parts: sessions, leastBytes: leastPart))
    } catch let error as BatchError where error.code == .refused && !expectsBook {
      try wasTurnedAway()
      throw error
    }
  }

  private func attempt(_ book: LoadBook, _ absence: Absence) throws -> Outcome {
    try begin(book)
    try didBegin()
    let progress = LoadProgress(monitor, store: store, schema: schema, absence)
    var opened: [OpenSession] = []
    defer { for open in opened { open.end() } }
    for _ in 1..<max(1, sessions) { opened.append(try open()) }
    let others = opened.map(\.session)
    try others.forEach(SessionSettings.apply)
    try loadUnits(book, others: others, progress: progress)
    let tables = LoadBook.tables(try book.units(), of: schema)
    try makeConstraints(book, progress: progress, absence: absence)
    if proves { try prove(book, others: others, tables: tables, progress: progress) }
    var outcome = Outcome(notes: schema.notes + remarks(tables))
    for unit in tables { outcome.rows[schema.tables[unit.table].name] = unit.rows }
    outcome.notes += try book.notes()
    outcome.bytes = try size(book.session)
    return outcome
  }

  private func loadUnits(_ book: LoadBook, others: [any PostgresSession], progress: LoadProgress) throws {
    let units = try book.units()
    progress.foresee(units, proves: proves)
    let crew = LoadCrew(units, progress)
    try crew.run(
      ([book.session] + others).map { session in
        TableLoad(
          store: store, book: LoadBook(session: session, schema: schema, identity: identity), rowLimit: rowLimit,
          monitor: monitor,
          throwIfFailed: crew.throwIfFailed)
      })
  }

  /// What of the rows a person should know.
  private func remarks(_ units: [LoadBook.Unit]) -> [String] {
    var notes: [String] = []
    for (table, unit) in zip(schema.tables, units) where !unit.remarks.missing.isEmpty {
      let columns = unit.remarks.missing.filter { $0.key < table.columns.count }.sorted { $0.key < $1.key }
      let list = columns.map { "\(table.columns[$0.key].name) in \($0.value.counted("row"))" }
        .joined(separator: ", ")
      notes.append("\(table.name): values are missing that the model requires: \(list); these columns are not NOT NULL")
    }
    let lost = units.reduce(0) { $0 + $1.remarks.lostFiles }
    if lost == 1 { notes.append("a value is NULL, because its file beside the store is missing") }
    if lost > 1 { notes.append("\(lost.grouped) values are NULL, because their files beside the store are missing") }
    return notes
  }

  private func size(_ session: any PostgresSession) throws -> UInt64 {
    let tables = schema.tables.indices.map { "pg_total_relation_size(\(PostgresNames.literal(statements.name($0))))" }
    let sum = try session.rows("SELECT \((["0::bigint"] + tables).joined(separator: " + "))")
    return sum.first?.first.flatMap(\.self).flatMap { UInt64($0) } ?? 0
  }

  private func makeConstraints(_ book: LoadBook, progress: LoadProgress, absence: Absence) throws {
    let all = statements.constraints
    let made = try book.madeConstraints()
    for (number, planned) in all.enumerated() where !made.contains(planned.sql) {
      try monitor.throwIfStopRequested()
      progress.begin(planned, number, of: all.count)
      try ConstraintMaker(book: book).make(planned, number)
      absence.end()
    }
  }

  private func prove(
    _ book: LoadBook, others: [any PostgresSession], tables: [LoadBook.Unit], progress: LoadProgress
  ) throws {
    progress.foreseeProof(tables.reduce(0) { $0 + $1.rows })
    let proof = LoadProof(book: book, sessions: [book.session] + others, monitor: monitor, leastBlocks: leastBlocks)
    for unit in tables {
      progress.beginProof(unit.table)
      try proof.prove(unit) { progress.proved($0) }
    }
    progress.end()
  }
}
