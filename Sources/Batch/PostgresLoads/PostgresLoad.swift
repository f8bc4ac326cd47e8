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

  /// Loads what is not loaded yet, and removes the book, in one session: as long as there is a book, the schema is
  /// locked. `didLoad` is called between. See ``run()`` and ``finish(mark:)``.
  func complete(mark: String?, didLoad: (Outcome) throws -> Void) throws {
    var isLoaded = false
    try withSession { session, absence in
      let book = LoadBook(session: session, schema: schema, identity: identity)
      if !isLoaded { try didLoad(try attempt(book, absence)) }
      isLoaded = true
      try close(book, mark: mark)
    }
  }

  /// Removes the book. A mark stays, by which ``isDone(_:)`` knows what was loaded.
  func finish(mark: String? = nil) throws {
    try withSession { session, _ in
      try close(LoadBook(session: session, schema: schema, identity: identity), mark: mark)
    }
  }

  private func close(_ book: LoadBook, mark: String?) throws {
    guard try book.exists() else {
      guard try book.hasTables() else { throw Self.otherServer }
      return
    }
    guard try book.units().allSatisfy(\.isDone) else {
      throw BatchError(.mismatch, "the server has lost rows that it had confirmed", hint: "Is fsync off there?")
    }
    try book.remove(mark: mark)
  }

  /// Whether a load with this mark is finished, and its tables are there. Nothing is written.
  func isDone(_ mark: String) throws -> Bool {
    try withSession { session, _ in
      try LoadBook(session: session, schema: schema, identity: identity).has(mark: mark)
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
    var outcome = Outcome(notes: schema.notes + LoadRemarks.notes(tables, schema))
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
