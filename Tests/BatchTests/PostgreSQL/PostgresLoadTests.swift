#if PostgreSQL
  import Foundation
  import GRDB
  import Streams
  import Testing

  @testable import CoreDataModel
  @testable import MappingModels
  @testable import LoadTables
  @testable import PostgresLoads
  @testable import RunSupport

  /// I14: whatever happens on the way, each row is there once.
  @Suite("Loads into PostgreSQL", TestServer.isThere) struct PostgresLoadTests {
    /// A random model with a store of it that is filled by SQL.
    private func store(_ seed: UInt64, scale: Int = 40) throws -> (MigrationFolder, String, ManagedObjectModel) {
      var models = OracleModels(seed: seed)
      let model = models.model("V1")
      let folder = try MigrationFolder([model])
      let store = try folder.sample("V1", rows: 0, seed: 1)
      var random = SeededRandom(seed &+ 2)
      try OracleStore.write(OracleData(model, seed: seed &+ 1, scale: scale, isWild: false).graph, to: store, &random)
      // Small pages, so that tables have several and fall into parts.
      let queue = try DatabaseQueue(path: store)
      try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA page_size = 512; VACUUM") }
      try queue.close()
      return (folder, store, model)
    }

    private func options(_ schema: String, _ inheritance: TableInheritance) -> PostgresOptions {
      var options = PostgresOptions()
      (options.schema, options.inheritance, options.names) = (schema, inheritance, .coreData)
      return options
    }

    @Test("As long as the server has the book of a load, its schema is locked for others")
    func locked() throws {
      let (folder, store, model) = try store(2, scale: 5)
      defer { withExtendedLifetime(folder) {} }
      try TestServer.withSchema("locked") { session, schema in
        let source = try LoadStore(store, model: model, LocalFileSystem())
        defer { source.close() }
        let load = PostgresLoad(
          schema: try LoadSchemaPlanner.plan(model, options(schema, .root)), store: source, server: TestServer.server,
          proves: true, rowLimit: 4 << 20, monitor: RunMonitor(), isBegun: false)
        try load.complete(mark: nil) { _ in
          let error = #expect(throws: BatchError.self) { try PostgresCheck(session: session, schema: schema).run() }
          #expect(error?.code == .leaseHeld)
        }
        #expect(
          try session.rows("SELECT 1 FROM pg_tables WHERE schemaname = '\(schema)' AND tablename = 'godwit_load'") == []
        )
        try PostgresCheck(session: session, schema: schema).run()
      }
    }

    private func load(
      _ store: String, _ model: ManagedObjectModel, _ options: PostgresOptions, sessions: Int = 2,
      _ fuse: FaultySession.Fuse? = nil
    ) throws -> PostgresLoad.Outcome {
      let source = try LoadStore(store, model: model, LocalFileSystem())
      defer { source.close() }
      var load = PostgresLoad(
        schema: try LoadSchemaPlanner.plan(model, options), store: source, server: TestServer.server, proves: true,
        rowLimit: 4 << 20, monitor: RunMonitor(interval: .bytes(500)), isBegun: false)
      (load.sessions, load.leastPart, load.leastBlocks) = (sessions, 1024, 1)
      if let fuse { load.connect = { FaultySession(try $0.connect(), fuse) } }
      let outcome = try load.run()
      try load.finish()
      return outcome
    }

    @Test("Random stores have the rows and values that SQL reads in the store", arguments: 0..<12 as Range<UInt64>)
    func differential(seed: UInt64) throws {
      let (folder, store, model) = try store(seed)
      defer { withExtendedLifetime(folder) {} }
      let inheritance = TableInheritance.allCases[Int(seed % 2)]
      try TestServer.withSchema("random") { session, schema in
        let outcome = try load(store, model, options(schema, inheritance))
        let tables = LoadedTables(session: session, schema: schema, store: store, model: model)
        let rows = try tables.compare(inheritance)
        #expect(outcome.rows.values.reduce(0, +) == UInt64(rows))
        print("seed \(seed), \(inheritance): \(rows) rows in \(outcome.rows.count) tables")
      }
    }

    @Test("A connection that is lost at any call loses no row and doubles none", arguments: [true, false], [1, 2])
    func faults(isBehind: Bool, sessions: Int) throws {
      let (folder, store, model) = try store(5, scale: 25)
      defer { withExtendedLifetime(folder) {} }
      let whole = FaultySession.Fuse(fault: nil, isBehind: false)
      try TestServer.withSchema("whole") { session, schema in
        _ = try load(store, model, options(schema, .root), sessions: sessions, whole)
      }
      // The first call asks what kind of server it is: before it, no load is begun.
      for fault in stride(from: 2, through: whole.calls, by: max(1, whole.calls / 40)) {
        let fuse = FaultySession.Fuse(fault: fault, isBehind: isBehind)
        try TestServer.withSchema("fault") { session, schema in
          _ = try load(store, model, options(schema, .root), sessions: sessions, fuse)
          _ = try LoadedTables(session: session, schema: schema, store: store, model: model).compare(.root)
        }
        // With several sessions the number of calls may differ by a few.
        #expect(!fuse.isWhole || (sessions > 1 && fault > whole.calls - 20), "call \(fault) was never made")
      }
      print("\(whole.calls) calls, behind: \(isBehind), sessions: \(sessions)")
    }

    @Test(
      "Damaged keys of interior pages hide no row: a load is whole or ends with an error",
      arguments: 0..<12 as Range<UInt64>)
    func damagedKeys(seed: UInt64) throws {
      let (folder, store, model) = try store(3, scale: 400)
      defer { withExtendedLifetime(folder) {} }
      var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: store)))
      var random = SeededRandom(seed)
      // Interior pages of tables: the last byte of a cell is the low end of its key.
      let pages = (1..<bytes.count / 512).filter { bytes[$0 * 512] == 5 }
      let page = try #require(pages.randomElement(using: &random)) * 512
      let cells = Int(bytes[page + 3]) << 8 | Int(bytes[page + 4])
      let cell = page + Int(bytes[page + 12 + 2 * Int.random(in: 0..<cells, using: &random)]) << 8
      var place = cell + Int(bytes[page + 13]) + 4
      while bytes[place] & 0x80 != 0 { place += 1 }
      bytes[place] ^= UInt8.random(in: 1...31, using: &random)
      try Data(bytes).write(to: URL(fileURLWithPath: store))
      let queue = try DatabaseQueue(path: store)
      defer { try? queue.close() }
      try TestServer.withSchema("damaged") { session, schema in
        guard let outcome = try? load(store, model, options(schema, .root)) else { return }
        for (table, rows) in outcome.rows {
          // The condition keeps SQLite from counting an index.
          let count =
            try queue.read { try UInt64.fetchOne($0, sql: "SELECT count(*) FROM \"\(table)\" NOT INDEXED") } ?? 0
          #expect(rows == count, "\(table), seed \(seed)")
        }
      }
    }
  }
#endif
