#if PostgreSQL
  import Foundation
  import GRDB
  import Glibc
  import Testing

  @testable import PostgresLoads

  @Suite("What is said of loads that are at work, interrupted or failed", .serialized, LoadServer.isThere)
  struct PostgresAftermathTests {
    private func store(_ folder: CommandFolder, _ name: String = "Big.sqlite", rows: Int = 40_000) throws -> String {
      try folder.sample(name, rows: rows, seed: 7)
    }

    /// To the second version, or of the store as it is.
    private func load(_ store: String, _ schema: String, to target: [String] = ["--to", "Library 2"]) -> [String] {
      ["migrate", store, "--models", ExampleFolder.models] + target
        + ["--to-postgres", LoadServer.url, "--schema", schema]
    }

    private func change(_ store: String, _ sql: String) throws {
      let queue = try DatabaseQueue(path: store)
      try queue.write { try $0.execute(sql: sql) }
      try queue.close()
    }

    private func check(_ folder: CommandFolder, _ store: String) throws -> Int32 {
      try folder.run("godwit", ["status", "--check", store]).code
    }

    @Test(
      "A load at work is left alone: a second one of its store, and one of another store into its schema, end with 21",
      arguments: ["migrating before it is loaded", "loading"])
    func live(phase: String) throws {
      let folder = try CommandFolder()
      let (store, other) = (try store(folder, rows: 20_000), try store(folder, "Other.sqlite", rows: 100))
      try LoadServer.withSchema { _, schema in
        let process = try folder.loading("godwit", store, load(store, schema), rate: "1krows/s", until: phase)
        let second = try folder.run("godwit", load(store, schema))
        #expect(second.code == 21 && second.error.contains("another process loads this store"), "\(second)")
        #expect(second.commands == ["godwit status \(store)"])
        try folder.follow(second.commands)
        let cleaned = try folder.run("godwit", ["clean", "--all", store])
        #expect(cleaned.code == 0 && cleaned.output.contains("load at work"), "\(cleaned)")
        if phase == "loading" {
          let third = try folder.run("godwit", load(other, schema))
          #expect(third.code == 21 && third.error.contains("another process loads into the schema"), "\(third)")
        }
        while process.isRunning {
          _ = try folder.run("godwit", ["ctl", "throttle", "1000krows/s", store])
          usleep(200_000)
        }
        let end = try process.wait()
        #expect(end.code == 0, "\(end)")
      }
    }

    @Test(
      "A store that was written to after its migration, during the load, is told with 22, and the commands load what it has (PG5)"
    )
    func changedAfterMigration() throws {
      let folder = try CommandFolder()
      let store = try store(folder)
      try LoadServer.withSchema { session, schema in
        try folder.killed("godwit", store, load(store, schema))
        try change(store, "UPDATE ZBOOK SET ZPAGES = 4242")
        let status = try folder.run("godwit", ["status", store])
        #expect(status.output.contains("the store was written to since its interrupted load began"), "\(status)")
        let refused = try folder.run("godwit", ["resume", store, "--to-postgres", LoadServer.url])
        #expect(refused.code == 22 && refused.error.contains("the store changed since its load began"), "\(refused)")
        try folder.follow(refused.commands)
        #expect(try session.rows("SELECT count(*) FROM \(schema).book WHERE pages <> 4242") == [["0"]])
      }
    }

    @Test("A store that changes while its migrated copy is loaded is told before a success is")
    func changedMeanwhile() throws {
      let folder = try CommandFolder()
      let store = try store(folder)
      try LoadServer.withSchema { _, schema in
        let process = try folder.loading("godwit", store, load(store, schema), rate: "10krows/s")
        try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: store)
        let end = try process.wait()
        #expect(end.code == 22 && end.error.contains("the store changed since its load began"), "\(end)")
      }
    }

    @Test(
      "A value that the server cannot hold leaves a failed load: status is 1, and the commands of every message begin again, with all options",
      arguments: ["ZTITLE = 'a' || char(0) || 'b'", "ZPAGES = 9223372036854775807"])
    func misfit(value: String) throws {
      let folder = try CommandFolder()
      let store = try store(folder, rows: 2000)
      try change(store, "UPDATE ZBOOK SET \(value) WHERE Z_PK = (SELECT max(Z_PK) FROM ZBOOK)")
      try LoadServer.withSchema { session, schema in
        let words = load(store, schema, to: ["--identity"]) + ["--memory", "256M"]
        let failed = try folder.run("godwit", words)
        #expect(failed.code == 1, "\(failed)")
        #expect(try check(folder, store) == 1)
        let (status, again) = (try folder.run("godwit", ["status", store]), try folder.run("godwit", words))
        #expect(again.code == 20 && again.error.contains("an error that would come again"), "\(again)")
        #expect(status.commands == failed.commands && again.commands == failed.commands, "\(status)")
        #expect(failed.commands.last?.contains("--memory") == true, "\(failed.commands)")
        try change(store, "UPDATE ZBOOK SET ZTITLE = 'x', ZPAGES = 1")
        try folder.follow(failed.commands)
        #expect(try session.rows("SELECT count(*) FROM \(schema).book WHERE pages <> 1") == [["0"]])
      }
    }

    @Test("Rows that others changed are told with 12, and nothing recommends to resume what would fail again")
    func mismatch() throws {
      let folder = try CommandFolder()
      let store = try store(folder)
      try LoadServer.withSchema { session, schema in
        let process = try folder.loading("godwit", store, load(store, schema, to: ["--identity"]), rate: "10krows/s")
        while process.isRunning, try session.rows("SELECT count(*) FROM \(schema).book") == [["0"]] { usleep(10_000) }
        try session.execute("UPDATE \(schema).book SET pages = 77 WHERE id = (SELECT min(id) FROM \(schema).book)")
        let end = try process.wait()
        #expect(end.code == 12 && !end.error.contains("resume"), "\(end)")
        #expect(try check(folder, store) == 12)
        let again = try folder.run("godwit", load(store, schema, to: ["--identity"]))
        #expect(again.code == 20 && !again.error.contains("resume"), "\(again)")
        try folder.follow(end.commands)
        #expect(try check(folder, store) == 3)
      }
    }

    @Test("The advice for a load that was killed while its store was migrated brings the rows to the server")
    func killedInMigration() throws {
      let folder = try CommandFolder()
      let store = try store(folder)
      try LoadServer.withSchema { session, schema in
        let process = try folder.loading(
          "godwit", store, load(store, schema), rate: "10krows/s", until: "migrating before it is loaded")
        while process.isRunning, !(try folder.run("godwit", ["status", store]).output.contains("checkpoint")) {
          usleep(10_000)
        }
        process.send(SIGKILL)
        #expect(try process.wait().code == 128 + SIGKILL)
        let status = try folder.run("godwit", ["status", store])
        #expect(status.commands.first == "godwit resume \(store)", "\(status)")
        try folder.follow(Array(status.commands.prefix(1)))
        #expect(try session.rows("SELECT count(*) > 0 FROM \(schema).book") == [["t"]])
      }
    }

    @Test("clean --all removes all of an interrupted load but its tables, and names the command for these")
    func clean() throws {
      let folder = try CommandFolder()
      let store = try store(folder)
      let before = try folder.tree().filter { !$0.key.isEmpty }
      try LoadServer.withSchema { session, schema in
        try folder.killed("godwit", store, load(store, schema))
        let report = try folder.run("godwit", ["report", store])
        #expect(report.code == 20 && report.commands == ["godwit status \(store)"], "\(report)")
        let kept = try folder.run("godwit", ["clean", store])
        #expect(kept.code == 0 && kept.output.contains("kept \(store.replacing("Big", with: ".Big")).godwit-postgres"))
        #expect(kept.commands.first == "godwit resume \(store)", "\(kept)")
        let dry = try folder.run("godwit", ["clean", "--dry-run", "--all", folder.path])
        #expect(dry.code == 0 && dry.output.contains(".godwit-postgres/store.sqlite"), "\(dry)")
        let cleaned = try folder.run("godwit", ["clean", "--all", store])
        #expect(cleaned.code == 0 && !cleaned.output.contains("freed: 0 B"), "\(cleaned)")
        #expect(try folder.tree().filter { !$0.key.isEmpty } == before)
        #expect(try check(folder, store) == 3)
        try folder.follow(cleaned.commands)
        let end = try folder.run("godwit", load(store, schema))
        #expect(end.code == 0, "\(end)")
      }
    }

    @Test(
      "migrate --continue of a load that is finished does nothing and ends with 0, as long as the store is as it was")
    func again() throws {
      let folder = try CommandFolder()
      let store = try store(folder, rows: 500)
      try LoadServer.withSchema { session, schema in
        let words = load(store, schema) + ["--continue"]
        #expect(try folder.run("godwit", words).code == 0)
        let again = try folder.run("godwit", words)
        #expect(again.code == 0 && again.output.contains("nothing to do"), "\(again)")
        // Without it, with other options, and of a store with other contents the tables are in the way.
        #expect(try folder.run("godwit", load(store, schema)).code == 20)
        #expect(try folder.run("godwit", words + ["--drop", "Book.pages"]).code == 20)
        try change(store, "UPDATE ZBOOK SET ZPAGES = 1")
        let changed = try folder.run("godwit", words)
        #expect(changed.code == 20 && changed.error.contains("has tables"), "\(changed)")
      }
    }

    @Test("A database that does not exist is told so, with the command that creates it")
    func missingDatabase() throws {
      let folder = try CommandFolder()
      let store = try store(folder, rows: 100)
      try LoadServer.withSchema { session, schema in
        defer { try? session.execute("DROP DATABASE IF EXISTS \(schema)") }
        let place = LoadServer.url.split(separator: "/", omittingEmptySubsequences: false).dropLast()
          .joined(separator: "/")
        let words = ["migrate", store, "--models", ExampleFolder.models, "--identity", "--to-postgres"]
        let refused = try folder.run("godwit", words + ["\(place)/\(schema)"])
        #expect(refused.code == 20 && refused.error.contains("does not exist"), "\(refused)")
        #expect(!refused.error.contains("rights"), "\(refused)")
        try folder.follow(refused.commands)
        let end = try folder.run("godwit", words + ["\(place)/\(schema)"])
        #expect(end.code == 0, "\(end)")
      }
    }

    @Test("Somebody else's table of the name godwit_load is told so")
    func foreignBook() throws {
      let folder = try CommandFolder()
      let store = try store(folder, rows: 100)
      try LoadServer.withSchema { session, schema in
        try session.execute("CREATE SCHEMA \(schema); CREATE TABLE \(schema).godwit_load (number integer)")
        let refused = try folder.run("godwit", load(store, schema))
        #expect(refused.code == 20 && refused.error.contains("a table godwit_load that no load has made"), "\(refused)")
      }
    }
  }
#endif
