import Foundation
import GRDB
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MigrationJobs
@testable import RunSupport

/// Steps with rules through the library: what each rule makes of rows written by SQL.
@Suite("Rules of mapping files")
struct RuleMigrationTests {
  private static func shop() -> [ManagedObjectModel] {
    let old = ManagedObjectModel(
      name: "S1",
      entities: [
        StoreModels.entity(
          "Order",
          [
            ("number", .integer32), ("placed", .string), ("hours", .string), ("minutes", .string), ("person", .string),
            ("code", .string), ("weight", .double),
          ], [StoreModels.link("lines", "Line", "order", many: true)]),
        StoreModels.entity(
          "Line", [("sku", .string), ("pieces", .integer16)], [StoreModels.link("order", "Order", "lines")]),
        StoreModels.entity("Draft", [("text", .string)]),
      ])
    let new = ManagedObjectModel(
      name: "S2",
      entities: [
        StoreModels.entity(
          "Order",
          [
            ("number", .integer64), ("placed", .date), ("times", .integer32), ("first", .string), ("last", .string),
            ("country", .string), ("label", .string), ("weight", .integer16), ("size", .string), ("isHeavy", .boolean),
          ],
          [
            StoreModels.link("lines", "Line", "order", many: true), StoreModels.link("buyer", "Person", "orders"),
            StoreModels.link("parcels", "Parcel", "orders", many: true),
          ]),
        StoreModels.entity(
          "Line", [("sku", .string), ("pieces", .integer16)], [StoreModels.link("order", "Order", "lines")]),
        StoreModels.entity(
          "Person", [("name", .string), ("source", .string)], [StoreModels.link("orders", "Order", "buyer", many: true)]
        ),
        StoreModels.entity(
          "Parcel", [("sku", .string), ("count", .integer16)],
          [StoreModels.link("orders", "Order", "parcels", many: true), StoreModels.link("line", "Line", nil)]),
        StoreModels.entity("Article", [("sku", .string)]),
      ])
    return [old, new]
  }

  private static let countries = "code,name\nDE,Germany\nFR,France\n"
  private static let attributes = """
          times: { sum: [$source.hours, $source.minutes] }
          placed: { date: $source.placed, format: "yyyy-MM-dd HH:mm", zone: "+01:00" }
          first: { split: $source.person, part: 1 }
          last: { split: $source.person, part: 2, default: { value: none } }
          country: { lookup: $source.code, in: countries, default: { value: elsewhere } }
          label: { join: [{ prefix: $source.person, length: 3 }, $source.number], with: "-" }
          weight: { cast: $source.weight, to: integer }
          isHeavy: { cast: $source.hours, to: boolean }
    """
  private static let objects = """
        objects:
          - findOrCreate: Person
            by: { name: $source.person }
            attributes: { source: { value: order } }
            link: buyer
          - forEach: $source.lines
            create: Parcel
            attributes: { sku: $item.sku, count: $item.pieces }
            relationships: { line: $item }
            link: parcels
          - findOrCreate: Article
            by: { sku: { join: [{ value: art }, $item.sku] } }
            forEach: $source.lines
          - create: Article
            userInfo: { kind: other }
    """

  private static func file(_ attributes: String = attributes, _ objects: String = objects) -> String {
    """
    from: S1
    to: S2
    tables: { countries: countries.csv }
    entities:
      - remove: Draft
      - Line
      - to: Article
      - from: Order
        userInfo: { kind: shop }
        attributes:
    \(attributes)
    \(objects)

    """
  }

  private let folder: MigrationFolder
  private let store: String

  init() throws {
    folder = try MigrationFolder(Self.shop())
    store = try folder.sample("S1", rows: 6, seed: 1)
    let queue = try DatabaseQueue(path: store)
    defer { try? queue.close() }
    try queue.write { db in
      for table in ["ZORDER", "ZLINE"] { try db.execute(sql: "DELETE FROM \(table)") }
      for (key, values) in [
        (1, "11, '2001-01-01 01:00', '1', '30', 'Ada Byron', 'DE', 2.75"),
        (2, "12, NULL, '2', '-5', 'Bob', 'XX', NULL"), (3, "13, '2001-01-02 01:00', NULL, '1', NULL, NULL, -3.5"),
        (5, "15, '2000-12-31 01:00', '0', '9', 'Ada Byron', 'FR', 1"),
      ] {
        try db.execute(
          sql: """
            INSERT INTO ZORDER (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZPLACED, ZHOURS, ZMINUTES, ZPERSON, ZCODE, ZWEIGHT)
            VALUES (\(key), (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Order'), 1, \(values))
            """)
      }
      for (key, order, sku) in [(1, 1, "a"), (2, 1, "b"), (4, 5, "a")] {
        try db.execute(
          sql: """
            INSERT INTO ZLINE (Z_PK, Z_ENT, Z_OPT, ZORDER, ZPIECES, ZSKU)
            VALUES (\(key), (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Line'), 1, \(order), \(key * 2), '\(sku)')
            """)
      }
    }
  }

  private func request(_ text: String, _ name: String) throws -> MigrationJob.Request {
    let mappings = "\(folder.path)/\(name)-mappings"
    try FileManager.default.createDirectory(atPath: mappings, withIntermediateDirectories: true)
    for (file, content) in ["S1_to_S2.yaml": text, "countries.csv": Self.countries] {
      try Data(content.utf8).write(to: URL(fileURLWithPath: "\(mappings)/\(file)"))
    }
    var request = folder.request(try folder.copy(store, as: name))
    request.mappings = [mappings]
    return request
  }

  private func failure(_ attributes: String, _ objects: String = "") throws -> BatchError {
    do {
      _ = try folder.migrate(request(Self.file(attributes, objects), "failing-\(UUID().uuidString)"))
    } catch let error as BatchError {
      return error
    }
    return BatchError(.failed, "nothing")
  }

  @Test("A rule's expression reads the source object and the item at hand together, also within a subquery")
  func both() throws {
    let objects = """
          objects:
            - forEach: $source.lines
              create: Parcel
              attributes:
                sku: $item.sku
                count: SUBQUERY($source.lines, $x, $x.pieces <= $item.pieces).@count + $source.number * 100
      """
    let request = try request(Self.file(Self.attributes, objects), "both")
    #expect(try folder.migrate(request).isVerified)
    let rows = try MigrationFolder.rows(request.source, "SELECT ZSKU, ZCOUNT FROM ZPARCEL ORDER BY Z_PK")
    #expect(rows == [("a", 1101), ("b", 1102), ("a", 1501)].map { "string(\"\($0)\")|int64(\($1))" })
  }

  @Test("Values are computed as the file says, and NULL stays NULL")
  func values() throws {
    let request = try request(Self.file(), "values")
    #expect(try folder.migrate(request).isVerified)
    let rows = try MigrationFolder.rows(
      request.source,
      "SELECT Z_PK, ZNUMBER, ZPLACED, ZTIMES, ZFIRST, ZLAST, ZCOUNTRY, ZLABEL, ZWEIGHT, ZISHEAVY FROM ZORDER ORDER BY Z_PK"
    )
    #expect(
      rows == [
        "int64(1)|int64(11)|int64(0)|int64(31)|string(\"Ada\")|string(\"Byron\")|string(\"Germany\")|string(\"Ada-11\")|int64(2)|int64(1)",
        "int64(2)|int64(12)|null|int64(-3)|string(\"Bob\")|string(\"none\")|string(\"elsewhere\")|string(\"Bob-12\")|null|int64(1)",
        "int64(3)|int64(13)|int64(86400)|null|null|string(\"none\")|string(\"elsewhere\")|string(\"13\")|int64(-3)|null",
        "int64(5)|int64(15)|int64(-86400)|int64(9)|string(\"Ada\")|string(\"Byron\")|string(\"France\")|string(\"Ada-15\")|int64(1)|int64(0)",
      ])
  }

  @Test("Objects are made once for each value or related object, found again, linked, and left out by user info")
  func objects() throws {
    let request = try request(Self.file(), "objects")
    let report = try folder.migrate(request)
    #expect(report.rows["Draft"] == nil)
    let rows = { (sql: String) in try MigrationFolder.rows(request.source, sql) }
    #expect(
      try rows(
        "SELECT p.ZNAME, p.ZSOURCE, group_concat(o.Z_PK) FROM ZORDER o JOIN ZPERSON p ON p.Z_PK = o.ZBUYER GROUP BY 1")
        == [
          "string(\"Ada Byron\")|string(\"order\")|string(\"1,5\")", "string(\"Bob\")|string(\"order\")|string(\"2\")",
        ])
    #expect(try rows("SELECT count(*), sum(ZBUYER IS NULL) FROM ZORDER") == ["int64(4)|int64(1)"])
    #expect(
      try rows("SELECT ZSKU, ZCOUNT, ZLINE FROM ZPARCEL ORDER BY ZLINE") == [
        "string(\"a\")|int64(2)|int64(1)", "string(\"b\")|int64(4)|int64(2)", "string(\"a\")|int64(8)|int64(4)",
      ])
    #expect(try rows("SELECT ZSKU FROM ZARTICLE ORDER BY 1") == ["string(\"arta\")", "string(\"artb\")"])
    let join = try StoreLayout(model: folder.model("S2")).joinTables[0].name
    #expect(try rows("SELECT count(*) FROM \(join)") == ["int64(3)"])
    #expect(
      try rows("SELECT Z_PK, ZORDER FROM ZLINE ORDER BY 1") == [
        "int64(1)|int64(1)", "int64(2)|int64(1)", "int64(4)|int64(5)",
      ])
  }

  @Test("A row that a rule cannot read is reported by entity and key, without its value")
  func failures() throws {
    for (attributes, key, text) in [
      (
        "      placed: null\n      times: { sum: [$source.hours, $source.person] }", 1,
        "a value that is added up is no number"
      ),
      ("      placed: { date: $source.placed, format: yyyy-MM-dd }", 1, "a text is no date of the format yyyy-MM-dd"),
      (
        "      placed: null\n      weight: { cast: $source.person, to: integer }", 1,
        "a value cannot be cast to integer"
      ),
      (
        "      placed: null\n      weight: { if: hours > -1000, then: { value: heavy } }", 1,
        "an expression compares values of different kinds"
      ),
    ] {
      let error = try failure(attributes)
      #expect(error.code == .policyFailed && error.entity == "Order" && error.key == Int64(key), "\(error)")
      #expect(error.message.contains(text) && !error.description.contains("Ada"), "\(error)")
    }
  }

  @Test("Names that the models do not have are refused before anything is written, with the nearest one")
  func unknownNames() throws {
    for (attributes, objects, text) in [
      ("      tims: 1", "", "OrderToOrder: Order has no attribute tims, did you mean times?"),
      ("      first: $source.persn", "", "first: Order has no property persn, did you mean person?"),
      (
        "      first: $same", "    objects: [{ create: Parcl }]",
        "create Parcl: S2 has no entity Parcl, did you mean Parcel?"
      ),
      (
        "      first: $same", "    objects: [{ create: Parcel, link: buyer }]",
        "create Parcel: buyer of Order leads to Person"
      ),
      (
        "      first: $same", "    objects: [{ create: Parcel, relationships: { line: $item } }]",
        "line: $item needs forEach"
      ),
    ] {
      let error = try failure(attributes, objects)
      #expect(error.code == .badMapping && error.message.contains(text), "\(error)")
    }
  }

  @Test("What is looked for before it is made is refused")
  func tooEarly() throws {
    let found = "    objects: [{ create: Parcel, relationships: { line: { find: Line, by: { sku: $source.code } } } }]"
    let text = Self.file("      placed: null", found)
    _ = try folder.migrate(request(text, "found"))
    let late = text.replacing("  - Line\n", with: "") + "  - Line\n"
    let error = #expect(throws: BatchError.self) { try folder.migrate(request(late, "late")) }
    #expect(
      error?.message.contains("objects of Line are looked for before LineToLine makes them; put it first") == true)
  }

  @Test("A run goes on with its own copy of the mapping file and its tables")
  func resumed() throws {
    let whole = try request(Self.file(), "whole")
    _ = try folder.migrate(whole)
    let expected = try MigrationFolder.bytes(whole.source)
    let stops = try folder.stopped(every: 4) {
      try request(Self.file(), "stop-\($0)")
    } then: {
      try FileManager.default.removeItem(atPath: try #require($0.mappings.first))
    } finished: { path, count in
      let bytes = try MigrationFolder.bytes(path)
      #expect(bytes == expected, "stop \(count)")
    }
    #expect(stops > 2)
  }
}
