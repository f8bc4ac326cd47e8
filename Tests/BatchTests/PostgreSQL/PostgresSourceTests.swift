#if PostgreSQL
  import Foundation
  import GRDB
  import Streams
  import Testing

  @testable import Codecs
  @testable import CoreDataModel
  @testable import CoreDataStore
  @testable import MappingModels
  @testable import MigrationJobs
  @testable import Migrations
  @testable import LoadTables
  @testable import PostgresLoads
  @testable import RunSupport

  @Suite("Loads of stores that others wrote, and of migrated ones", TestServer.isThere) struct PostgresSourceTests {
    private func load(_ store: String, _ model: ManagedObjectModel, _ schema: String) throws -> PostgresLoad.Outcome {
      let source = try LoadStore(store, model: model, LocalFileSystem())
      defer { source.close() }
      var options = PostgresOptions()
      (options.schema, options.names) = (schema, .coreData)
      var load = PostgresLoad(
        schema: try LoadSchemaPlanner.plan(model, options), store: source, server: TestServer.server, proves: true,
        rowLimit: 4 << 20, monitor: RunMonitor(interval: .bytes(500)), isBegun: false)
      (load.leastPart, load.leastBlocks) = (1024, 1)
      let outcome = try load.run()
      try load.finish()
      return outcome
    }

    @Test(
      "Stores in UTF-16, and links in tables WITHOUT ROWID, are loaded as any others", arguments: ["UTF-8", "UTF-16le"])
    func otherTools(encoding: String) throws {
      let folder = try MigrationFolder(MigrationModels.all)
      let store = try folder.sample("V1", rows: 1500, seed: 41)
      let other = try folder.place("other")
      try OtherToolsTests.rewrite(store, to: other, encoding: encoding, change: OtherToolsTests.withoutRowid)
      try TestServer.withSchema("tools") { session, schema in
        let model = try folder.model("V1")
        let outcome = try load(other, model, schema)
        let rows = try LoadedTables(session: session, schema: schema, store: store, model: model).compare(.root)
        #expect(
          outcome.rows.values.reduce(0, +) == UInt64(rows)
            && outcome.notes.allSatisfy { $0.contains("times are rounded") })
      }
    }

    @Test(
      "Links that come twice, or lead from nothing, leave their table without its key, with a note; all rows are there")
    func links() throws {
      let folder = try MigrationFolder(MigrationModels.all)
      let store = try folder.sample("V1", rows: 300, seed: 42)
      let model = try folder.model("V1")
      let other = try folder.place("other")
      try OtherToolsTests.rewrite(store, to: other) { sql in
        guard OtherToolsTests.withoutRowid(sql) != sql, let key = sql.range(of: ", PRIMARY KEY (") else { return sql }
        return sql[..<key.lowerBound] + ")"
      }
      let tables = try MigrationFolder.rows(
        other, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'Z_[0-9]*' ORDER BY 1"
      ).compactMap { $0.split(separator: "\"").dropFirst().first.map(String.init) }
      try #require(tables.count > 1)
      let queue = try DatabaseQueue(path: other)
      try queue.write { db in
        let columns = try db.columns(in: tables[1]).map(\.name)
        try db.execute(sql: "INSERT INTO \(tables[0]) SELECT * FROM \(tables[0]) LIMIT 3")
        try db.execute(sql: "INSERT INTO \(tables[1]) (\(columns[1])) SELECT \(columns[1]) FROM \(tables[1]) LIMIT 2")
      }
      try queue.close()
      try TestServer.withSchema("links") { session, schema in
        let notes = try load(other, model, schema).notes
        #expect(
          notes.contains { $0.hasPrefix("\(tables[0]) has no primary key, because rows are there twice") }, "\(notes)")
        #expect(
          notes.contains { $0.hasPrefix("\(tables[1]) has no primary key, because keys are missing") }, "\(notes)")
        _ = try LoadedTables(session: session, schema: schema, store: other, model: model).compare(.root)
      }
    }

    @Test(
      "A load that ended before anything was migrated is in nobody's way: resume says so, and another one begins anew")
    func barelyBegun() throws {
      let folder = try MigrationFolder(MigrationModels.all)
      let store = try folder.sample("V1", rows: 200, seed: 43)
      let place = try #require(try LoadFolder(store: store, LocalFileSystem()))
      func begin() throws {
        let request = folder.request(store)
        let plan = try folder.job().plan(request)
        let lease = try place.begin()
        defer { lease.release() }
        try place.create(
          try LoadPlan(request, plan: plan, options: PostgresOptions(), server: TestServer.server, LocalFileSystem()),
          plan.targetVersion)
        try LocalFileSystem().makeDirectory(place.path + "/.store.sqlite.godwit")
      }
      try begin()
      let error = #expect(throws: BatchError.self) { try folder.job().resumeLoad(store) { RunMonitor(interval: $0) } }
      #expect(
        error?.code == .refused && error?.hint?.contains("Begin it again") == true
          && !FileManager.default.fileExists(atPath: place.path))
      try begin()
      try TestServer.withSchema("begun") { session, schema in
        var options = PostgresOptions()
        options.schema = schema
        let report = try folder.job().load(
          folder.request(store), to: .postgres(PostgresDestination(server: TestServer.server, options: options))
        ) { RunMonitor(interval: $0) }
        #expect(report.isVerified && !FileManager.default.fileExists(atPath: place.path))
      }
    }

    @Test("Files beside a store come along when it is migrated in front of its load, and so does a later limit")
    func migratedFiles() throws {
      var item = EntityDescription(name: "Item")
      item.attributes = [.init(name: "data", type: .binaryData)]
      item.attributes[0].allowsExternalBinaryDataStorage = true
      let first = ManagedObjectModel(name: "V1", entities: [item])
      item.attributes.append(.init(name: "note", type: .string))
      let folder = try MigrationFolder([first, ManagedObjectModel(name: "V2", entities: [item])])
      let store = try folder.sample("V1", rows: 0, seed: 1)
      let (name, bytes) = (UUID().uuidString, Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }))
      let queue = try DatabaseQueue(path: store)
      try queue.write { db in
        let marker = Data([2]) + Data(name.utf8) + Data([0])
        try db.execute(sql: "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZDATA) VALUES (1, 1, 1, ?)", arguments: [marker])
      }
      try queue.close()
      let beside = ExternalDataFolder(store: store).files
      try FileManager.default.createDirectory(atPath: beside, withIntermediateDirectories: true)
      try bytes.write(to: URL(fileURLWithPath: beside + "/" + name))
      try TestServer.withSchema("files") { session, schema in
        let monitors = ThrottledMonitors()
        var options = PostgresOptions()
        options.schema = schema
        let report = try folder.job().load(
          folder.request(store), to: .postgres(PostgresDestination(server: TestServer.server, options: options))
        ) { monitors.monitor($0) }
        #expect(monitors.made.map(\.rate) == Array(repeating: RunRate(1e9, .rows), count: 2))
        #expect(report.steps == 1 && report.isVerified && report.notes == [], "\(report.notes)")
        let found = try session.rows("SELECT encode(sha256(data), 'hex'), note FROM \(schema).item")
        #expect(found == [[PlanFingerprint.hex(SHA256.hash(bytes)), nil]])
        #expect(try LocalFileSystem().list(FilePaths.directory(of: store)) == [".Store_SUPPORT", "Store.sqlite"])
      }
    }
  }

  /// Monitors, of which the first gets a limit when its work is done.
  private final class ThrottledMonitors {
    private(set) var made: [RunMonitor] = []

    func monitor(_ interval: RunMonitor.Interval) -> RunMonitor {
      made.first?.throttle(RunRate(1e9, .rows))
      made.append(RunMonitor(interval: interval))
      return made[made.count - 1]
    }
  }
#endif
