#if PostgreSQL
  import Foundation
  import Streams
  import Testing

  @testable import PostgresLoads
  @Suite("Loads that another process goes on with", .serialized, LoadServer.isThere)
  struct PostgresResumeTests {
    private func load(_ store: String, _ schema: String) -> [String] {
      ["migrate", store] + CommandFolder.models + ["--to-postgres", LoadServer.url, "--schema", schema]
    }

    @Test(
      "Objects that were set aside before an interruption are told in the end, whatever can be read of the migration: the code is 10, and the list is kept",
      arguments: [true, false])
    func rejects(isNoted: Bool) throws {
      let folder = try CommandFolder()
      let store = folder.file("Plain.sqlite")
      let model = ExampleFolder.root + "/Benchmarks/Models/Plain.xcdatamodeld"
      #expect(
        try folder.run("godwit", ["sample", model, "--version", "Plain 2", "--rows", "40000", "--output", store]).code
          == 0)
      try LoadServer.withSchema { session, schema in
        let words = [
          "migrate", store, "--models", model, "--versions", "Plain 2,Plain 1", "--to-postgres", LoadServer.url,
          "--schema",
          schema,
          "--max-rejects", "50%",
        ]
        try folder.killed("godwit", store, words)
        let place = try #require(try LoadFolder(store: store, LocalFileSystem()))
        try Data("garbage".utf8).write(to: URL(fileURLWithPath: place.path + "/.store.sqlite.godwit-report"))
        // As it is when the process died before it had noted it.
        if !isNoted {
          var (plan, _) = try place.read()
          plan.migrated = nil
          try place.write(plan)
        }
        let end = try folder.run("godwit", ["resume", store, "--json", "--to-postgres", LoadServer.url])
        #expect(end.code == 10, "\(end)")
        let summary = try #require(try JSONSerialization.jsonObject(with: Data(end.output.utf8)) as? [String: Any])
        let rejects = try #require(summary["rejects"] as? [String: Any])
        let list = try String(contentsOfFile: rejects["path"] as? String ?? "", encoding: .utf8)
        let count = try #require(rejects["count"] as? Int)
        #expect(list.split(separator: "\n").count == count)
        #expect(try session.rows("SELECT count(*) FROM \(schema).row").first == ["\(40000 - count)"])
        #expect(!FileManager.default.fileExists(atPath: folder.file(".Plain.sqlite.godwit-postgres")))
      }
    }

    @Test("A load that goes on at another database than it was begun with is refused, and nothing is written there")
    func otherServer() throws {
      let folder = try CommandFolder()
      let store = try folder.sample(rows: 10_000, seed: 5)
      try LoadServer.withSchema { session, schema in
        let other = "other_\(schema)"
        try session.execute("CREATE DATABASE \(other)")
        defer { try? session.execute("DROP DATABASE \(other)") }
        try folder.killed("book-migration", store, load(store, schema))
        let url =
          LoadServer.url.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
          + "/\(other)"
        let refused = try folder.run("book-migration", ["resume", store, "--to-postgres", url])
        #expect(refused.code == 20 && refused.error.contains("the server has nothing of this load"), "\(refused)")
        let tables =
          "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = '\(schema)'"
        #expect(try LibpqSession(url).rows(tables) == [["0"]])
        #expect(try folder.run("book-migration", ["resume", store, "--to-postgres", ""]).code == 64)
        let end = try folder.run("book-migration", ["resume", store, "--to-postgres", LoadServer.url])
        #expect(end.code == 0, "\(end)")
      }
    }

    @Test("Of two loads of a store at a time one is whole, and the other one is told so and changes nothing")
    func twoAtOnce() throws {
      let folder = try CommandFolder()
      let store = try folder.sample(rows: 20_000, seed: 6)
      try LoadServer.withSchema { session, schema in
        let processes = try ["a", "b", "c"].map {
          try CommandProcess("book-migration", load(store, "\(schema)_\($0)"), in: folder)
        }
        defer {
          for name in ["a", "b", "c"] { try? session.execute("DROP SCHEMA IF EXISTS \(schema)_\(name) CASCADE") }
        }
        let outcomes = try processes.map { try $0.wait() }
        #expect(outcomes.contains { $0.code == 0 }, "\(outcomes)")
        for (name, outcome) in zip(["a", "b", "c"], outcomes) {
          let tables = try session.rows(
            "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = '\(schema)_\(name)' "
              + "AND relkind = 'r'")
          #expect([0, 20, 21].contains(outcome.code) && tables == [[outcome.code == 0 ? "5" : "0"]], "\(outcome)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file(".Library.sqlite.godwit-postgres")))
      }
    }
  }
#endif
