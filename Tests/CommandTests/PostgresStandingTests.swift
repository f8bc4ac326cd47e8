#if PostgreSQL
  import Foundation
  import GRDB
  import Glibc
  import Streams
  import Testing

  @testable import PostgresLoads

  @Suite("What is said of a load that waits", .serialized, LoadServer.isThere)
  struct PostgresStandingTests {
    enum Change: CaseIterable { case written, missing, missingBeforeItIsMigrated, plan }

    private func make(_ change: Change, _ store: String) throws {
      switch change {
      case .written:
        let queue = try DatabaseQueue(path: store)
        try queue.write { try $0.execute(sql: "UPDATE ZBOOK SET ZPAGES = 4242") }
        try queue.close()
      case .missing, .missingBeforeItIsMigrated:
        try FileManager.default.moveItem(atPath: store, toPath: store + ".away")
      case .plan:
        let place = try #require(try LoadFolder(store: store, LocalFileSystem()))
        try Data("{".utf8).write(to: URL(fileURLWithPath: place.job.plan))
      }
    }

    private func undo(_ change: Change, _ store: String) throws {
      guard [.missing, .missingBeforeItIsMigrated].contains(change) else { return }
      try FileManager.default.moveItem(atPath: store + ".away", toPath: store)
    }

    /// A load that was killed while it sent its rows, or migrated.
    private func interrupt(_ folder: CommandFolder, _ store: String, schema: String, for change: Change) throws {
      // A load of the store as it is has no copy of it.
      let target = change == .missing ? ["--identity"] : []
      let load =
        ["migrate", store] + target + CommandFolder.models + ["--to-postgres", LoadServer.url, "--schema", schema]
      let phase = change == .missingBeforeItIsMigrated ? "migrating before it is loaded" : "loading"
      let process = try folder.loading("book-migration", store, load, rate: "5krows/s", until: phase)
      // A migration goes on from its checkpoint.
      if change == .missingBeforeItIsMigrated { usleep(500_000) }
      process.send(SIGKILL)
      #expect(try process.wait().code == 128 + SIGKILL)
    }

    @Test(
      "status --check of a load that is not gone on with ends as resume does, for lists as well, and its commands lead on",
      arguments: Change.allCases)
    func unusable(_ change: Change) throws {
      let folder = try CommandFolder()
      let store = try folder.sample(rows: 10_000, seed: 7)
      try LoadServer.withSchema { session, schema in
        try interrupt(folder, store, schema: schema, for: change)
        #expect(try folder.run("book-migration", ["status", "--check", store]).code == 75)
        try make(change, store)
        let checked = try folder.run("book-migration", ["status", "--check", store])
        #expect(checked.output.contains("cannot be resumed") && checked.output.contains("problem: "), "\(checked)")
        let refused = try folder.run("book-migration", ["resume", store, "--to-postgres", LoadServer.url])
        #expect(checked.code == refused.code && [20, 22, 64].contains(refused.code), "\(checked) \(refused)")
        let list = try folder.list([store])
        let words = ["status", "--check", "--manifest", list, "--json"]
        let found = try ListDocument(folder.run("book-migration", words))
        #expect(found.code == checked.code, "\(found)")
        try undo(change, store)
        // Of a load that can go on the first command does so, and the others give it up.
        try folder.follow(checked.code == 22 ? checked.commands : Array(checked.commands.prefix(1)))
        let after = try folder.run("book-migration", ["status", "--check", store]).code
        #expect(after == 3, "\(change)")
        guard change == .written else { return }
        #expect(checked.code == 22 && checked.output.contains("written to since its interrupted load"), "\(checked)")
        #expect(try session.rows("SELECT count(*) FROM \(schema).book WHERE pages <> 4242") == [["0"]])
      }
    }

    @Test("The program that has the policies of the migration in a load is named, and one that can begin again")
    func inner() throws {
      let folder = try CommandFolder()
      let store = try folder.sample(rows: 10_000, seed: 7)
      try LoadServer.withSchema { session, schema in
        try interrupt(folder, store, schema: schema, for: .missingBeforeItIsMigrated)
        let checked = try folder.run("godwit", ["status", "--check", store])
        #expect(checked.code == 20 && checked.output.contains("problem: it needs the policy Library"), "\(checked)")
        #expect(checked.commands.first == "book-migration resume \(store)", "\(checked)")
        #expect(try folder.run("godwit", ["resume", store]).code == 20)
        let place = try #require(try LoadFolder(store: store, LocalFileSystem()))
        for path in CommandFolder.checkpoints(try #require(try place.migration()).path) {
          try Data().write(to: URL(fileURLWithPath: path))
        }
        let damaged = try folder.run("book-migration", ["status", "--check", store])
        #expect(damaged.code == 22 && damaged.output.contains("Begin again: "), "\(damaged)")
        #expect(try folder.run("book-migration", ["resume", store]).code == 22)
        let other = try folder.run("godwit", ["status", "--check", store])
        #expect(other.commands.last?.hasPrefix("book-migration migrate \(store)") == true, "\(other)")
        try folder.follow(other.commands)
        #expect(try session.rows("SELECT count(*) > 0 FROM \(schema).book") == [["t"]])
      }
    }
  }
#endif
