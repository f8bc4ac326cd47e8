import Glibc
import Streams

/// Loads a store into PostgreSQL: tables, rows in transactions, keys and indexes, and the proof. All of it goes on where it stopped: what is
/// done is noted on the server in the transaction that did it.
struct PostgresLoad {
  let schema: PostgresSchema
  let store: LoadStore
  let server: PostgresServer
  let proves: Bool
  let rowLimit: Int
  let monitor: RunMonitor
  /// Was there a load before this process? Then a server that cannot be reached is one that is away.
  var isBegun = false
  /// Seconds for which a server may be away, counted from the last sign of progress.
  var patience = 60.0
  /// Sessions that load and prove at a time: one is busy with its server's processor most of the time.
  var sessions = 2
  /// Tables from so many bytes on are loaded in parts.
  var leastPart = LoadCrew.standardPart
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

  /// What is on the server.
  struct Outcome {
    /// Rows by table.
    var rows: [String: UInt64] = [:]
    /// Bytes of the tables and their indexes.
    var bytes: UInt64 = 0
    var notes: [String] = []
  }

  private var statements: PostgresStatements { PostgresStatements(schema: schema) }

  /// The load's own name: its store's bytes, and its statements.
  var identity: String {
    let text = Array(statements.script.utf8) + store.fingerprint
    return PlanFingerprint.hex(SHA256.hash(text))
  }

  /// Loads what is not loaded yet. On return all rows, keys and indexes are durable on the server, and proved; the book of the load is
  /// there still: see ``finish()``.
  ///
  /// Throws ``BatchError``: `refused` for a server that does not let anybody in or has such tables, `stopped` where the load can go on
  /// later, `mismatch`, `failed` for a value that does not fit, `leaseHeld`.
  func run() throws -> Outcome {
    try withSession { session, lastSign in try attempt(LoadBook(session: session, schema: schema, identity: identity), lastSign) }
  }

  /// Refuses what would be refused later: a server that cannot be reached, tables that are there. Nothing is written.
  func check() throws {
    try withSession { session, _ in
      let book = LoadBook(session: session, schema: schema, identity: identity)
      if try !book.exists() { try book.refuseTakenNames() }
    }
  }

  /// Removes the book.
  func finish() throws {
    try withSession { session, _ in
      let book = LoadBook(session: session, schema: schema, identity: identity)
      if try book.exists() { try book.remove() }
    }
  }

  /// Calls a body with a session; again with another one as long as the server is away for less than its time.
  private func withSession<R>(_ body: (any PostgresSession, LastSign) throws -> R) throws -> R {
    let lastSign = LastSign()
    var isFirst = !isBegun
    while true {
      do {
        let open = try open()
        defer { open.end() }
        isFirst = false
        try PostgresCheck(session: open.session, schema: schema.options.schema).run()
        return try body(open.session, lastSign)
      } catch let error as PostgresError where error.isPassing && monitor.isStopRequested {
        try monitor.throwIfStopRequested()
      } catch let error as PostgresError where error.isPassing && !isFirst && lastSign.seconds < patience {
        monitor.note { $0.begin("waiting for the server (\(error.message))") }
        try pause(min(1, 0.05 + lastSign.seconds / 4))
      } catch let error as PostgresError {
        throw explained(error, isFirst: isFirst)
      }
    }
  }

  /// A session that ends at once when a stop is asked for, whatever its server is at: what was not committed is loaded again.
  private func open() throws -> OpenSession {
    let open = OpenSession(session: try connect(server))
    open.watch = monitor.onStop { open.session.close() }
    return open
  }

  private func pause(_ seconds: Double) throws {
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end {
      try monitor.throwIfStopRequested()
      usleep(50_000)
    }
  }

  private func explained(_ error: PostgresError, isFirst: Bool) -> BatchError {
    let name = server.withoutPassword
    let written = isBegun ? "" : ". Nothing was written"
    let resume = "`\(ProgramName.current) resume` goes on behind the last row that is durable there"
    switch error.state {
    case "28P01", "28000", "3D000", "42501":
      return BatchError(
        .refused, "\(name) does not let this user do that: \(error.message)",
        hint: "Give user and password in the URL, by PGPASSWORD or in ~/.pgpass, and look at the user's rights\(written)")
    case _ where error.isOutOfRoom:
      return BatchError(.stopped, "\(name) has no room: \(error.message)", hint: "Make room there; \(resume)")
    case _ where isFirst:
      return BatchError(
        .refused, "\(name) cannot be reached: \(error.message)",
        hint: "Is the server running, and is the address right?\(written)")
    case _ where error.isPassing:
      return BatchError(.stopped, "\(name) is away: \(error.message)", hint: "When it is back, \(resume)")
    default:
      return BatchError(.failed, "\(name) refused a statement: \(error)", hint: "Mend what it says; then \(resume)")
    }
  }

  private func attempt(_ book: LoadBook, _ lastSign: LastSign) throws -> Outcome {
    if try !book.exists() { try book.create(try LoadCrew.units(schema, store, parts: sessions, leastBytes: leastPart)) }
    let progress = LoadProgress(monitor, store: store, schema: schema, lastSign)
    var opened: [OpenSession] = []
    defer { for open in opened { open.end() } }
    for _ in 1..<max(1, sessions) { opened.append(try open()) }
    let others = opened.map(\.session)
    try loadUnits(book, others, progress)
    let tables = LoadBook.tables(try book.units(), of: schema)
    try makeConstraints(book, progress)
    if proves { try prove(book, others, tables, progress) }
    var outcome = Outcome(notes: schema.notes + remarks(tables))
    for unit in tables { outcome.rows[schema.tables[unit.table].name] = unit.rows }
    outcome.notes += try book.notes()
    outcome.bytes = try size(book.session)
    return outcome
  }

  private func loadUnits(_ book: LoadBook, _ others: [any PostgresSession], _ progress: LoadProgress) throws {
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
      let list = columns.map { "\(table.columns[$0.key].name) in \($0.value) rows" }.joined(separator: ", ")
      notes.append("\(table.name): values are missing that the model requires: \(list); these columns are not NOT NULL")
    }
    let lost = units.reduce(0) { $0 + $1.remarks.lostFiles }
    if lost > 0 { notes.append("\(lost) values have no file beside the store any more: they are NULL") }
    return notes
  }

  private func size(_ session: any PostgresSession) throws -> UInt64 {
    let tables = schema.tables.indices.map { "pg_total_relation_size(\(PostgresNames.literal(statements.name($0))))" }
    let sum = try session.rows("SELECT \((["0::bigint"] + tables).joined(separator: " + "))")
    return sum.first?.first.flatMap(\.self).flatMap { UInt64($0) } ?? 0
  }

  private func makeConstraints(_ book: LoadBook, _ progress: LoadProgress) throws {
    let all = statements.constraints
    let made = try book.madeConstraints()
    for (number, planned) in all.enumerated() where !made.contains(planned.sql) {
      try monitor.throwIfStopRequested()
      progress.begin(planned, number, of: all.count)
      try ConstraintMaker(book: book).make(planned, number)
    }
  }

  private func prove(
    _ book: LoadBook, _ others: [any PostgresSession], _ tables: [LoadBook.Unit], _ progress: LoadProgress
  ) throws {
    progress.foreseeProof(tables.reduce(0) { $0 + $1.rows })
    let proof = LoadProof(book: book, sessions: [book.session] + others, monitor: monitor)
    for unit in tables {
      progress.beginProof(unit.table)
      try proof.prove(unit) { progress.proved($0) }
    }
    progress.end()
  }
}

/// What a server must be, before anything is asked of it.
struct PostgresCheck {
  let session: any PostgresSession
  let schema: String

  /// The least version: it has sha256().
  private static let leastVersion = 110_000

  func run() throws {
    let found = try session.rows(
      "SELECT current_setting('server_version_num'), current_setting('server_encoding'), current_setting('server_version')")
    guard let row = found.first, row.count == 3, let version = row[0].flatMap({ Int($0) }) else { return }
    guard version >= Self.leastVersion else {
      throw BatchError(
        .refused, "the server is PostgreSQL \(row[2] ?? "")", hint: "It takes version 11 or later. Nothing was written")
    }
    guard row[1] == "UTF8" else {
      throw BatchError(
        .refused, "the database's encoding is \(row[1] ?? "unknown")",
        hint: "Texts of a store need a database in UTF8: CREATE DATABASE … ENCODING 'UTF8'. Nothing was written")
    }
    try lock()
  }

  /// One process at a time: the server keeps the lock as long as the session is there.
  private func lock() throws {
    let number = Int64(bitPattern: UInt64(JobRegistry.hex("godwit \(schema)"), radix: 16) ?? 0)
    // The session of a process that was killed may be there for a moment.
    for attempt in 0..<50 {
      if try session.rows("SELECT pg_try_advisory_lock(\(number))").first?.first == "t" { return }
      if attempt < 49 { usleep(100_000) }
    }
    throw BatchError(
      .leaseHeld, "another process loads into the schema \(schema) of this database",
      hint: "Wait for it to end; pg_stat_activity tells where it runs")
  }
}
