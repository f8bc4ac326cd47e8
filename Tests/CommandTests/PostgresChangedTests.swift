#if PostgreSQL
  @testable import Migrations
  @testable import StoreVerification
  import Foundation
  import GRDB
  import Glibc
  import Streams
  import Testing

  @testable import CoreDataStore
  @testable import MappingModels
  @testable import MigrationJobs
  @testable import PostgresLoads
  @testable import RunSupport
  @Suite("Loads whose store or server changed meanwhile", .serialized, LoadServer.isThere)
  struct PostgresChangedTests {
    /// A store at the target version in WAL mode, as Core Data makes them.
    private func store(_ folder: CommandFolder) throws -> String {
      let store = folder.file("Wal.sqlite")
      let made = try folder.run(
        "godwit", ["sample", ExampleFolder.models, "--version", "Library 3", "--rows", "60000", "--output", store])
      #expect(made.code == 0, "\(made)")
      let queue = try DatabaseQueue(path: store)
      try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
      try queue.close()
      return store
    }

    private func change(_ store: String) throws {
      let before = try fingerprint(store)
      for place in [7011, 8017, 9031] {
        let queue = try DatabaseQueue(path: store)
        try queue.write {
          try $0.execute(
            sql: "UPDATE ZBOOK SET ZTITLE = 'NEW' WHERE Z_PK = (SELECT Z_PK FROM ZBOOK LIMIT 1 OFFSET \(place))")
          #expect($0.changesCount == 1)
        }
        try queue.close()
        // A page that the fingerprint does not see: that is what this test is about.
        if try fingerprint(store) == before { return }
      }
      throw CommandProcess.Missing(description: "the fingerprint sees every change")
    }

    private func fingerprint(_ store: String) throws -> [UInt8] {
      let snapshot = try DatabaseSnapshot(path: store, fileSystem: LocalFileSystem(), locking: .none)
      defer { snapshot.close() }
      return try SourceFingerprint.of(snapshot)
    }

    @Test(
      "A store that was written between a load's two processes is refused with 22, and the commands of the message begin anew (PG5)"
    )
    func changed() throws {
      let folder = try CommandFolder()
      let store = try store(folder)
      try LoadServer.withSchema { session, schema in
        let models = ["--models", ExampleFolder.models]
        let words = ["migrate", store] + models + ["--to-postgres", LoadServer.url, "--schema", schema]
        try folder.killed("godwit", store, words, rate: "20krows/s")
        func rows() throws -> [[String?]] {
          try session.rows("SELECT unit, position, rows, is_done FROM \(schema).godwit_load ORDER BY unit")
        }
        let before = try rows()
        try change(store)
        let refused = try folder.run("godwit", ["resume", store, "--to-postgres", LoadServer.url])
        #expect(refused.code == 22 && refused.error.contains("the store changed since its load began"), "\(refused)")
        #expect(!refused.error.contains("resume goes on") && !refused.error.contains("godwit:godwit"), "\(refused)")
        #expect(try rows() == before)
        let again = try folder.run("godwit", words)
        #expect(
          again.code == 20 && again.error.contains("the store was written to since its interrupted load began"),
          "\(again)")
        let commands = refused.commands
        #expect(commands.count == 3 && commands.last?.hasPrefix("godwit migrate ") == true, "\(commands)")
        try folder.follow(commands)
        let new = try session.rows("SELECT count(*) FROM \(schema).book WHERE title = 'NEW'").first?[0].flatMap {
          Int($0)
        }
        #expect(new ?? 0 >= 1)
      }
    }

    @Test("A store that is as it was goes on, also where a copy kept its time of change")
    func unchanged() throws {
      let folder = try CommandFolder()
      let store = try store(folder)
      try LoadServer.withSchema { session, schema in
        let words = [
          "migrate", store, "--models", ExampleFolder.models, "--to-postgres", LoadServer.url, "--schema", schema,
        ]
        try folder.killed("godwit", store, words, rate: "20krows/s")
        let copied = try folder.run(
          "godwit", [], launcher: ["/bin/bash", "-c", "cp -p \(store) \(store).x && mv \(store).x \(store)"])
        #expect(copied.code == 0, "\(copied)")
        let end = try folder.run("godwit", ["resume", store, "--to-postgres", LoadServer.url])
        #expect(end.code == 0, "\(end)")
      }
    }

    @Test("A store that changes while it is loaded is told in the end, before a success is")
    func changedMeanwhile() throws {
      let folder = try CommandFolder()
      let store = try store(folder)
      try LoadServer.withSchema { _, schema in
        let words = [
          "migrate", store, "--models", ExampleFolder.models, "--to-postgres", LoadServer.url, "--schema", schema,
        ]
        let process = try folder.loading("godwit", store, words, rate: "40krows/s")
        try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: store)
        let end = try process.wait()
        #expect(end.code == 22 && end.error.contains("the store changed since its load began"), "\(end)")
      }
    }

    @Test("A load that is refused before its tables are made leaves nothing, and another schema takes it (PG4)")
    func turnedAway() throws {
      let folder = try CommandFolder()
      let store = folder.file("Plain.sqlite")
      let model = ExampleFolder.root + "/Benchmarks/Models/Plain.xcdatamodeld"
      #expect(
        try folder.run("godwit", ["sample", model, "--version", "Plain 1", "--rows", "500", "--output", store]).code
          == 0)
      try LoadServer.withSchema { session, schema in
        let before = try folder.tree().filter { !$0.key.isEmpty }
        var request = MigrationJob.Request(source: store, models: [model], target: .version("Plain 2"))
        request.verification = .fast
        var options = PostgresOptions()
        options.schema = schema
        var runs = 0
        // Another load makes its tables while the store is migrated.
        let error = #expect(throws: BatchError.self) {
          try MigrationJob().load(
            request, to: .postgres(PostgresDestination(server: PostgresServer(url: LoadServer.url), options: options))
          ) { interval in
            runs += 1
            if runs == 2 { try? session.execute("CREATE SCHEMA \(schema); CREATE TABLE \(schema).row (id bigint)") }
            return RunMonitor(interval: interval)
          }
        }
        #expect(error?.code == .refused && error?.hint?.contains("another --schema") == true && runs == 2)
        #expect(try folder.tree().filter { !$0.key.isEmpty } == before)
        defer { try? session.execute("DROP SCHEMA IF EXISTS \(schema)_2 CASCADE") }
        let end = try folder.run(
          "godwit",
          [
            "migrate", store, "--models", model, "--to", "Plain 2", "--to-postgres", LoadServer.url, "--schema",
            schema + "_2",
          ])
        #expect(end.code == 0, "\(end)")
      }
    }

    @Test("No part of a password is in what a failed load says, however it was written (PG1, PG2)")
    func passwords() throws {
      let folder = try CommandFolder()
      let store = try store(folder)
      for url in [
        "postgres://127.0.0.1:1/godwit?user=godwit&sslpassword=SEC1RET&password=SEC2RET",
        "postgres://godwit:SEC@RET7@127.0.0.1:1/godwit", "postgres://127.0.0.1:1/godwit?user=godwit&%70assword=SEC3RET",
        "postgres://127.0.0.1:1/godwit?password=SEC#RET&password=SEC4RET",
        "host=127.0.0.1 port=1 password = '' SEC5RET y '''", "host=127.0.0.1 port=1 password='SEC6RET' dbname=x",
        "postgres://godwit:SEC/RET8@127.0.0.1:1/godwit", "postgres://godwit:SEC7RET",
      ] {
        let words = ["migrate", store, "--models", ExampleFolder.models, "--to-postgres", url, "--json"]
        let refused = try folder.run("godwit", words)
        #expect(refused.code == 20 && refused.error.contains("othing was written"), "\(refused)")
        for part in ["SEC", "RET"] { #expect(!(refused.error + refused.output).contains(part), "\(refused)") }
      }
    }
  }
#endif
