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
  @testable import LoadTables
  @testable import PostgresLoads
  @testable import RunSupport

  @Suite("Loads of unusual rows into PostgreSQL", TestServer.isThere) struct PostgresEdgeTests {
    private static var model: ManagedObjectModel {
      var item = EntityDescription(name: "Item")
      item.attributes = [
        .init(name: "text", type: .string), .init(name: "required", type: .string, isOptional: false),
        .init(name: "data", type: .binaryData),
        .init(name: "when", type: .date), .init(name: "small", type: .integer16), .init(name: "price", type: .decimal),
        .init(name: "flag", type: .boolean), .init(name: "uuid", type: .uuid),
      ]
      item.attributes[2].allowsExternalBinaryDataStorage = true
      item.relationships = [
        .toOne("parent", "Item", inverse: "children"), .toMany("children", "Item", inverse: "parent"),
      ]
      item.uniquenessConstraints = [["text"]]
      return ManagedObjectModel(name: "V1", entities: [item])
    }

    /// A store with rows of these columns; the required ones have a value.
    private func store(_ rows: [[String: (any DatabaseValueConvertible)?]]) throws -> (MigrationFolder, String) {
      let folder = try MigrationFolder([Self.model])
      let store = try folder.sample("V1", rows: 0, seed: 1)
      let queue = try DatabaseQueue(path: store)
      try queue.write { db in
        for (index, row) in rows.enumerated() {
          let all = (["ZREQUIRED": "x"] as [String: (any DatabaseValueConvertible)?]).merging(row) { $1 }
          let names = all.keys.sorted()
          let columns = (["Z_PK", "Z_ENT", "Z_OPT"] + names).joined(separator: ", ")
          let marks = Array(repeating: "?", count: names.count + 3).joined(separator: ", ")
          let values = [index + 1, 1, 1] + names.map { all[$0] ?? nil } as [(any DatabaseValueConvertible)?]
          try db.execute(sql: "INSERT INTO ZITEM (\(columns)) VALUES (\(marks))", arguments: StatementArguments(values))
        }
      }
      try queue.close()
      return (folder, store)
    }

    private func load(_ store: String, _ schema: String, proves: Bool = true) throws -> (PostgresLoad, LoadStore) {
      var options = PostgresOptions()
      options.schema = schema
      let source = try LoadStore(store, model: Self.model, LocalFileSystem())
      return (
        PostgresLoad(
          schema: try LoadSchemaPlanner.plan(Self.model, options), store: source, server: TestServer.server,
          proves: proves,
          rowLimit: 4 << 20, monitor: RunMonitor(), isBegun: false), source
      )
    }

    private func run(_ store: String, _ schema: String) throws -> PostgresLoad.Outcome {
      let (load, source) = try load(store, schema)
      defer { source.close() }
      let outcome = try load.run()
      try load.finish()
      return outcome
    }

    @Test(
      "Long texts and blobs, in rows and in files beside the store, arrive whole, also around the length at which they go by themselves"
    )
    func longValues() throws {
      let edge = OutsideValue.threshold
      func blob(_ count: Int) -> Data { Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }) }
      let files = [UUID().uuidString: blob(edge - 1), UUID().uuidString: blob(edge), UUID().uuidString: blob(3 << 20)]
      var rows: [[String: (any DatabaseValueConvertible)?]] = []
      var wanted: [Data] = []
      for count in [0, 1, edge - 2, edge - 1, edge, edge + 1, 5 << 20] {
        rows.append([
          "ZDATA": Data([1]) + blob(count), "ZTEXT": String(repeating: "ä€🐎", count: count / 9) + "\(count)",
        ])
        wanted.append(blob(count))
      }
      for (name, data) in files.sorted(by: { $0.key < $1.key }) {
        rows.append(["ZDATA": Data([2]) + Data(name.utf8) + Data([0])])
        wanted.append(data)
      }
      let (folder, store) = try store(rows)
      defer { withExtendedLifetime(folder) {} }
      let beside = ExternalDataFolder(store: store).files
      try FileManager.default.createDirectory(atPath: beside, withIntermediateDirectories: true)
      for (name, data) in files { try data.write(to: URL(fileURLWithPath: beside + "/" + name)) }
      try TestServer.withSchema("long") { session, schema in
        let outcome = try run(store, schema)
        // The unique text of millions of characters has no place in an index.
        #expect(outcome.notes.count == 1 && outcome.notes[0].contains("too long for an index"), "\(outcome.notes)")
        let found = try session.rows(
          "SELECT encode(sha256(data), 'hex'), encode(sha256(convert_to(text, 'UTF8')), 'hex') FROM \(schema).item ORDER BY id"
        )
        for (row, data) in zip(found, wanted) { #expect(row[0] == PlanFingerprint.hex(SHA256.hash(data))) }
        for (row, original) in zip(found, rows) {
          let text = original["ZTEXT"] as? String
          #expect(row[1] == text.map { PlanFingerprint.hex(SHA256.hash($0.utf8)) })
        }
      }
    }

    @Test("What is missing, leads nowhere, is gone or is rounded is told, and every row is there")
    func imperfect() throws {
      let lost = Data([2]) + Data(UUID().uuidString.utf8) + Data([0])
      let (folder, store) = try store([
        ["ZPARENT": 2], ["ZREQUIRED": nil, "ZPARENT": 99], ["ZREQUIRED": nil, "ZDATA": lost],
        ["ZTEXT": "a", "ZWHEN": 4e-7], ["ZTEXT": nil, "ZWHEN": 0.5],
      ])
      defer { withExtendedLifetime(folder) {} }
      try TestServer.withSchema("imperfect") { session, schema in
        let notes = try run(store, schema).notes
        for wanted in [
          "item: values are missing that the model requires: required in 2 rows; these columns are not NOT NULL",
          "item.when: times are rounded in 1 row, to whole microseconds",
          "a value is NULL, because its file beside the store is missing",
          "item_parent_id_fkey stays NOT VALID, because keys lead to no row",
        ] { #expect(notes.contains { $0.hasPrefix(wanted) }, "\(notes)") }
        #expect(
          try session.rows("SELECT count(*), count(required), count(parent_id) FROM \(schema).item").first == [
            "5", "3", "2",
          ])
      }
    }

    // Far dates are those of the proleptic Gregorian calendar, and SQLite has made a double of the first price.
    @Test("Values at the borders of their types arrive exactly")
    func borders() throws {
      let (folder, store) = try store([
        [
          "ZWHEN": -63_114_076_800.0, "ZSMALL": -32768, "ZPRICE": "123456789012345678901234567890.12345678", "ZFLAG": 0,
        ],
        ["ZWHEN": 63_113_904_000, "ZSMALL": 32767, "ZPRICE": 0.1, "ZFLAG": 1], ["ZWHEN": 0.000_001, "ZPRICE": -1e-7],
        ["ZWHEN": Double.infinity, "ZPRICE": 5],
        ["ZWHEN": 700_000_000.123_456, "ZPRICE": "1e20", "ZTEXT": "\u{1F40E}'\"\\\t\n"],
      ])
      defer { withExtendedLifetime(folder) {} }
      try TestServer.withSchema("borders") { session, schema in
        _ = try run(store, schema)
        let found = try session.rows(
          "SELECT \"when\"::text, small::text, price::text, flag::text, text FROM \(schema).item ORDER BY id")
        #expect(
          found == [
            ["0001-12-30 00:00:00+00 BC", "-32768", "123456789012345680000000000000", "false", nil],
            ["4001-01-01 00:00:00+00", "32767", "0.1", "true", nil],
            ["2001-01-01 00:00:00.000001+00", nil, "-0.0000001", nil, nil],
            ["infinity", nil, "5", nil, nil],
            ["2023-03-08 20:26:40.123456+00", nil, "100000000000000000000", nil, "\u{1F40E}'\"\\\t\n"],
          ], "\(found)")
      }
    }

    @Test(
      "A value that its column cannot hold ends the load with its object and property; nothing is cut",
      arguments: [
        ("ZTEXT", "CAST(x'610062' AS TEXT)", "text has a NUL character"),
        ("ZTEXT", "CAST(x'61ff' AS TEXT)", "text is not UTF-8"),
        ("ZTEXT", "x'6162'", "text is binary data"), ("ZSMALL", "32768", "small is 32768"), ("ZFLAG", "2", "flag is 2"),
        ("ZUUID", "x'00'", "uuid is not the 16 bytes of a UUID"), ("ZWHEN", "1e300", "when is the time 1e+300"),
        ("ZPRICE", "'abc'", "price is no decimal number"), ("ZSMALL", "1.5", "small is 1.5"),
        ("ZUUID", "'x'", "uuid is not"), ("ZTEXT", "CAST(zeroblob(400000) AS TEXT)", "a long text has a NUL character"),
      ])
    func misfits(column: String, value: String, message: String) throws {
      let (folder, store) = try store([["ZTEXT": "a"], ["ZTEXT": "b"]])
      defer { withExtendedLifetime(folder) {} }
      let queue = try DatabaseQueue(path: store)
      try queue.write { try $0.execute(sql: "UPDATE ZITEM SET \(column) = \(value) WHERE Z_PK = 2") }
      try queue.close()
      try TestServer.withSchema("misfit") { _, schema in
        let error = #expect(throws: BatchError.self) { try run(store, schema) }
        #expect(
          error?.message.hasPrefix(message) == true && error?.entity == "Item" && error?.key == 2,
          "\(String(describing: error))")
      }
    }

    @Test("What others change on the server before the proof is found, and the row is named")
    func tampering() throws {
      let (folder, store) = try store((0..<300).map { (number: Int) in ["ZTEXT": "text \(number)", "ZSMALL": number] })
      defer { withExtendedLifetime(folder) {} }
      for (change, message) in [
        ("UPDATE item SET small = 7 WHERE id = 123", "not what was sent: 123"),
        ("DELETE FROM item WHERE id = 7", "has 299 rows in the place of 300"),
        ("INSERT INTO item (id, required) VALUES (999, '')", "has 301 rows in the place of 300"),
        ("UPDATE item SET text = NULL WHERE id IN (5, 9)", "not what was sent: 5, 9"),
      ] {
        try TestServer.withSchema("tampering") { session, schema in
          let (unproved, first) = try load(store, schema, proves: false)
          _ = try unproved.run()
          first.close()
          try session.execute("SET search_path = \(schema); " + change)
          let (proved, second) = try load(store, schema)
          defer { second.close() }
          let error = #expect(throws: BatchError.self) { try proved.run() }
          #expect(error?.code == .mismatch && error?.message.contains(message) == true, "\(String(describing: error))")
        }
      }
    }

    @Test("A row that the server does not take is missed at once, also without the proof")
    func miscount() throws {
      let (folder, store) = try store((0..<20).map { (number: Int) in ["ZTEXT": "text \(number)"] })
      defer { withExtendedLifetime(folder) {} }
      try TestServer.withSchema("miscount") { session, schema in
        var (load, source) = try load(store, schema, proves: false)
        defer { source.close() }
        // A trigger comes between the tables and their rows.
        load.connect = { server in
          let inner = try server.connect()
          try? session.execute(
            "CREATE FUNCTION \(schema).lose() RETURNS trigger LANGUAGE plpgsql AS "
              + "$$BEGIN IF NEW.id = 7 THEN RETURN NULL; END IF; RETURN NEW; END$$")
          try? session.execute(
            "CREATE TRIGGER lose BEFORE INSERT ON \(schema).item FOR EACH ROW EXECUTE FUNCTION \(schema).lose()")
          return inner
        }
        try session.execute("CREATE SCHEMA \(schema)")
        try LoadBook(session: session, schema: load.schema, identity: load.identity).create([LoadBook.Unit()])
        let error = #expect(throws: BatchError.self) { try load.run() }
        #expect(
          error?.code == .mismatch && error?.message.contains("taken 19 of 20 rows") == true,
          "\(String(describing: error))")
        #expect(try session.rows("SELECT count(*) FROM \(schema).item").first == ["0"])
      }
    }

    @Test("What the server would refuse after the rows it refuses before them: an index's name, a table's")
    func rehearsal() throws {
      let (folder, store) = try store([["ZTEXT": "a"]])
      defer { withExtendedLifetime(folder) {} }
      try TestServer.withSchema("rehearsed") { session, schema in
        try session.execute("CREATE SCHEMA \(schema); CREATE TABLE \(schema).old (number integer)")
        try session.execute("CREATE INDEX item_parent_id_idx ON \(schema).old (number)")
        let (load, source) = try load(store, schema)
        defer { source.close() }
        let error = #expect(throws: BatchError.self) { try load.check() }
        #expect(
          error?.code == .refused && error?.message.contains("item_parent_id_idx") == true,
          "\(String(describing: error))")
        try session.execute("DROP TABLE \(schema).old")
        try load.check()
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = '\(schema)'"
        #expect(try session.rows(tables) == [["0"]])
      }
    }

    @Test(
      "External values without Core Data's marker arrive as they are, whatever their length",
      arguments: [100, OutsideValue.threshold - 1, OutsideValue.threshold, 300_000])
    func unmarked(bytes: Int) throws {
      let values = [[0x07], [0x01]].map { Data($0 + [UInt8](repeating: 0x55, count: bytes)) }
      let (folder, store) = try store(values.map { ["ZDATA": $0] })
      defer { withExtendedLifetime(folder) {} }
      try TestServer.withSchema("unmarked") { session, schema in
        _ = try run(store, schema)
        let found = try session.rows("SELECT length(data), get_byte(data, 0) FROM \(schema).item ORDER BY id")
        #expect(found == [["\(bytes + 1)", "7"], ["\(bytes)", "85"]])
      }
    }

    @Test("A load whose store or options are others than those on the server is refused")
    func foreign() throws {
      let (folder, store) = try store([["ZTEXT": "a"]])
      let (other, another) = try self.store([["ZTEXT": "b"]])
      defer { withExtendedLifetime((folder, other)) {} }
      try TestServer.withSchema("foreign") { _, schema in
        let (first, source) = try load(store, schema)
        _ = try first.run()
        source.close()
        let (second, wrong) = try load(another, schema)
        defer { wrong.close() }
        let error = #expect(throws: BatchError.self) { try second.run() }
        #expect(error?.code == .refused && error?.message.contains("unfinished load of another store") == true)
      }
    }

    @Test(
      "What a server says is one error, of a kind that scripts can act on",
      arguments: [
        ("53100", BatchError.Code.stopped, "has no room"), ("53200", .stopped, "has no room"),
        ("28P01", .refused, "does not let"),
        ("42501", .refused, "does not let"), ("XX001", .failed, "refused a statement"),
      ])
    func serverErrors(state: String, code: BatchError.Code, words: String) throws {
      let (folder, store) = try store([["ZTEXT": "a"]])
      defer { withExtendedLifetime(folder) {} }
      try TestServer.withSchema("errors") { _, schema in
        var (load, source) = try load(store, schema)
        defer { source.close() }
        load.isBegun = true
        load.connect = {
          FailingSession(try $0.connect(), PostgresError(state: state, message: "said so", isConnectionLost: false))
        }
        let error = #expect(throws: BatchError.self) { try load.run() }
        #expect(error?.code == code && error?.message.contains(words) == true, "\(String(describing: error))")
        // The same load goes on where the server lets it.
        load.connect = { try $0.connect() }
        #expect(try load.run().rows == ["item": 1])
      }
    }
  }

  /// A session whose COPY ends with an error of the server.
  private final class FailingSession: PostgresSession {
    private let inner: any PostgresSession
    private let error: PostgresError

    init(_ inner: any PostgresSession, _ error: PostgresError) { (self.inner, self.error) = (inner, error) }

    func execute(_ sql: String) throws { try inner.execute(sql) }
    func rows(_ sql: String) throws -> [[String?]] { try inner.rows(sql) }
    func beginCopy(_ sql: String) throws { try inner.beginCopy(sql) }
    func send(_ bytes: UnsafeRawBufferPointer) throws { try inner.send(bytes) }
    func endCopy() throws -> UInt64 { throw error }
    func copyOut(_ sql: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws { try inner.copyOut(sql, body) }
    func close() { inner.close() }
  }
#endif
