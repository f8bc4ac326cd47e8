#if PostgreSQL
  import Foundation
  import GRDB
  import Glibc
  import Testing

  @testable import PostgresLoads

  @Suite("Loads by the command", .serialized, LoadServer.isThere)
  struct PostgresCommandTests {
    private static let seed: UInt64 = 20_261_123

    private func arguments(_ store: String, _ schema: String, url: String? = nil) -> [String] {
      ["migrate", store] + CommandFolder.models + ["--to-postgres", url ?? LoadServer.url, "--schema", schema]
    }

    /// What each table holds, as a digest that the server makes.
    private func contents(_ session: any PostgresSession, _ schema: String) throws -> [String: String] {
      let tables = try session.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = '\(schema)'")
        .compactMap { $0[0] }
      return try Dictionary(
        uniqueKeysWithValues: tables.map { table in
          let sum = try session.rows(
            "SELECT count(*) || ' ' || md5(string_agg(t::text, '|' ORDER BY t::text)) FROM \(schema).\"\(table)\" t")
          return (table, sum.first?.first.flatMap(\.self) ?? "")
        })
    }

    @Test("A migrated store is loaded whole, with keys that hold; the store and its folder stay as they were")
    func whole() throws {
      let folder = try CommandFolder()
      let store = try folder.sample(rows: 3000, seed: Self.seed)
      let migrated = folder.newPath("migrated.sqlite")
      #expect(
        try folder.run("book-migration", ["migrate", store, "--output", migrated] + CommandFolder.models).code == 0)
      // But for the folder's time, as another one was in it.
      func tree() throws -> [String: String] { try folder.tree().filter { !$0.key.isEmpty } }
      let before = try tree()
      try LoadServer.withSchema { session, schema in
        let outcome = try folder.run(
          "book-migration", arguments(store, schema) + ["--json", "--checkpoint-every", "100kB"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(try tree() == before)
        let database = try DatabaseQueue(path: migrated)
        defer { try? database.close() }
        for (ours, theirs) in [
          ("ZBOOK", "book"), ("ZAUTHOR", "author"), ("ZFILE", "file"), ("ZUSER", "user"), ("Z_1BOOKS", "author_books"),
        ] {
          let count = try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(ours)") } ?? -1
          #expect(try session.rows("SELECT count(*) FROM \(schema).\"\(theirs)\"").first == ["\(count)"])
        }
        #expect(try contents(session, schema).count == 5)
        let valid = try session.rows(
          "SELECT count(*) FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace WHERE n.nspname = '\(schema)' "
            + "AND contype = 'f' AND convalidated")
        #expect(valid.first == ["4"])
      }
    }

    @Test("The script of --ddl-only makes the tables that a load makes")
    func script() throws {
      let folder = try CommandFolder()
      let store = try folder.sample(rows: 500, seed: Self.seed)
      func shape(_ session: any PostgresSession, _ schema: String) throws -> [[String?]] {
        try session.rows(
          "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns WHERE table_schema = '\(schema)' "
            + "ORDER BY 1, ordinal_position")
          + session.rows(
            "SELECT replace(pg_get_constraintdef(c.oid), '\(schema)', ''), c.convalidated::text FROM pg_constraint c JOIN pg_namespace n "
              + "ON n.oid = c.connamespace WHERE n.nspname = '\(schema)' ORDER BY 1")
          + session.rows("SELECT indexname FROM pg_indexes WHERE schemaname = '\(schema)' ORDER BY 1")
      }
      try LoadServer.withSchema { session, schema in
        #expect(try folder.run("book-migration", arguments(store, schema)).code == 0)
        let wanted = try shape(session, schema)
        try LoadServer.withSchema { _, other in
          let printed = try folder.run("book-migration", arguments(store, other) + ["--ddl-only"])
          #expect(printed.code == 0, "\(printed)")
          let planned = try folder.run(
            "book-migration", ["plan"] + arguments(store, other).dropFirst() + ["--no-rehearsal"])
          #expect(planned.output.contains(printed.output), "\(planned)")
          try session.execute(printed.output)
          #expect(try shape(session, other) == wanted)
          try session.execute("DROP SCHEMA \(other) CASCADE")
        }
      }
    }

    @Test("Whatever keeps a load from beginning is one clear error, and nothing is written")
    func refusals() throws {
      let folder = try CommandFolder()
      let store = try folder.sample(rows: 100, seed: Self.seed)
      let before = try folder.tree()
      try LoadServer.withSchema { session, schema in
        func refused(_ arguments: [String], _ words: String...) throws {
          let outcome = try folder.run("book-migration", arguments)
          #expect(outcome.code == 20, "\(outcome)")
          for word in words + ["othing was written"] {
            #expect(outcome.error.contains(word), "\(word): \(outcome.error)")
          }
          #expect(outcome.error.split(separator: "\n").count == 1, "\(outcome.error)")
          #expect(!outcome.error.contains("godwit:godwit") && !outcome.error.contains("wrongword"))
          #expect(try folder.tree() == before)
        }
        let url = LoadServer.url
        try refused(
          arguments(store, schema, url: url.replacing("godwit:godwit@", with: "godwit:wrongword@")),
          "password authentication failed")
        try refused(
          arguments(store, schema, url: "postgres://godwit:wrongword@127.0.0.1:1/godwit"), "127.0.0.1:1",
          "cannot be reached")
        try refused(
          arguments(store, schema, url: url.replacing("/godwit", with: "/nowhere", maxReplacements: 9)), "nowhere")
        try session.execute(
          "CREATE DATABASE latin_\(schema) ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        defer { try? session.execute("DROP DATABASE latin_\(schema)") }
        try refused(
          arguments(store, schema, url: url.dropLast("godwit".count) + "latin_\(schema)"), "LATIN1", "UTF8")
        try session.execute("CREATE ROLE poor_\(schema) LOGIN PASSWORD 'godwit'")
        defer { try? session.execute("DROP ROLE poor_\(schema)") }
        let poor = url.replacing("godwit:godwit@", with: "poor_\(schema):godwit@")
        try refused(arguments(store, schema, url: poor), "permission denied for database", "rights")
        try refused(arguments(store, "public", url: poor), "permission denied for schema public", "rights")
        try session.execute(
          "CREATE SCHEMA \(schema); CREATE TABLE \(schema).book (id bigint); CREATE TABLE \(schema).file ()")
        try refused(arguments(store, schema), "book, file", "--schema")
        #expect(try session.rows("SELECT count(*) FROM \(schema).book").first == ["0"])
      }
    }

    @Test("Loads that are killed again and again end with the rows of an undisturbed one")
    func kills() throws {
      let folder = try CommandFolder()
      let store = try folder.sample(rows: 12_000, seed: Self.seed)
      let every = ["--checkpoint-every", "30kB"]
      try LoadServer.withSchema { session, schema in
        let start = ContinuousClock.now
        #expect(try folder.run("book-migration", arguments(store, schema) + every).code == 0)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let wanted = try contents(session, schema)
        var (random, kills) = (ExampleRandom(state: Self.seed), 0)
        for run in 0..<5 {
          try LoadServer.withSchema { _, other in
            kills += try killed(folder, [store] + every, other, &random, seconds) {
              (try? contents(session, other)) == wanted
            }
            #expect(try contents(session, other) == wanted, "run \(run)")
          }
        }
        print("load kills: seed \(Self.seed), 5 runs, \(kills) kills, all equal")
        #expect(kills > 0)
      }
    }

    /// Loads a store, killed up to four times within so many seconds, to the end. Returns how often it was.
    private func killed(
      _ folder: CommandFolder, _ load: [String], _ schema: String, _ random: inout ExampleRandom, _ seconds: Double,
      isWhole: () throws -> Bool
    ) throws -> Int {
      // Killed before anything was begun or migrated, it begins anew.
      let isBegun = { try !folder.run("book-migration", ["status", load[0]]).output.contains("no migration") }
      var killed = 0
      while killed <= 4 {
        let words =
          try isBegun()
          ? ["resume", load[0], "--to-postgres", LoadServer.url] : arguments(load[0], schema) + load.dropFirst()
        let process = try CommandProcess("book-migration", words, in: folder)
        if killed < 4 {
          usleep(UInt32(seconds * 1e6 * Double(1 + random.next(9)) / 10))
          process.send(SIGKILL)
        }
        let outcome = try process.wait()
        if outcome.code == 0 { break }
        if outcome.code == 20, outcome.error.contains("had migrated nothing"), try !isBegun() { continue }
        #expect(outcome.code == 128 + SIGKILL, "\(outcome)")
        killed += 1
        // Killed when all was done but its exit.
        if try !isBegun(), try isWhole() { break }
      }
      return killed
    }

    @Test("A server that crashes in the middle and comes back loses no row and doubles none")
    func crashes() throws {
      let folder = try CommandFolder()
      let store = try folder.sample(rows: 40_000, seed: Self.seed)
      let server = try OwnServer(folder)
      try LoadServer.withSchema { session, schema in
        #expect(try folder.run("book-migration", arguments(store, schema)).code == 0)
        let wanted = try contents(session, schema)
        let process = try folder.loading("book-migration", store, arguments(store, "crashed", url: server.url))
        for _ in 0..<2 {
          usleep(150_000)
          try server.crash()
        }
        let outcome = try process.wait()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(try contents(try LibpqSession(server.url), "crashed") == wanted)
      }
    }

    @Test("A stop is heeded while the server does not answer, and the load goes on when it does")
    func stopsBesideLock() throws {
      let folder = try CommandFolder()
      let store = try folder.sample(rows: 40_000, seed: Self.seed)
      try LoadServer.withSchema { session, schema in
        let process = try folder.loading("book-migration", store, arguments(store, schema))
        try session.execute("BEGIN; LOCK TABLE \(schema).godwit_load IN ACCESS EXCLUSIVE MODE")
        let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '\(schema).godwit_load'::regclass"
        while process.isRunning, try session.rows(waiting) == [["0"]] { usleep(10_000) }
        process.send(SIGTERM)
        // Without the stop the server would make it wait for a minute.
        for _ in 0..<200 where process.isRunning { usleep(100_000) }
        #expect(!process.isRunning)
        process.send(SIGKILL)
        let stopped = try process.wait()
        #expect(stopped.code == 75 && stopped.error.contains("stopped on request"), "\(stopped)")
        try session.execute("ROLLBACK")
        let end = try folder.run("book-migration", ["resume", store, "--to-postgres", LoadServer.url])
        #expect(end.code == 0 && end.output.contains("verified"), "\(end)")
      }
    }

    @Test("A stop ends with 75, status tells of the load, and resume finishes it")
    func stop() throws {
      let folder = try CommandFolder()
      let store = try folder.sample(rows: 40_000, seed: Self.seed)
      try LoadServer.withSchema { session, schema in
        let process = try folder.loading("book-migration", store, arguments(store, schema))
        let control = try folder.run("book-migration", ["ctl", "stop", store])
        #expect(control.code == 0, "\(control)")
        let stopped = try process.wait()
        #expect(stopped.code == 75 && stopped.error.contains("resume"), "\(stopped)")
        let again = try folder.run("book-migration", arguments(store, schema))
        #expect(again.code == 20 && again.error.contains("interrupted load"), "\(again)")
        let end = try folder.run("book-migration", ["resume", store, "--to-postgres", LoadServer.url])
        #expect(end.code == 0 && end.output.contains("verified"), "\(end)")
        #expect(try session.rows("SELECT count(*) FROM \(schema).book").first != ["0"])
      }
    }
  }
#endif
