import Foundation
import GRDB
import Streams
import Testing

@testable import CoreDataModel
@testable import RunSupport
@testable import StoreExports

@Suite("Export of a store as text")
struct ExportTests {
  @Test(
    "Every object of a sample says what SQL finds: all types, hierarchies, orders, both sides of a to-many",
    arguments: [1, 2])
  func samples(seed: UInt64) throws {
    var objects = 0
    for model in SampleModels.all {
      let store = try SampleTestStore(model, rows: 900, seed: seed)
      for toMany in [false, true] {
        let result = try ExportTestStore(path: store.path, model: model).differences(toMany: toMany)
        #expect(result.problems.isEmpty, "\(model.name), seed \(seed): \(result.problems.prefix(3))")
        objects += result.objects
      }
    }
    print("export: \(objects) objects compared, seed \(seed)")
    #expect(objects > 900 * SampleModels.all.count)
  }

  @Test("An entity's export has the objects of its sub-entities, and no others; a limit cuts it off")
  func entities() throws {
    let model = SampleModels.hierarchy()
    let store = try SampleTestStore(model, rows: 900, seed: 3)
    let exports = ExportTestStore(path: store.path, model: model)
    let all = try exports.export().summary.rows
    for entity in model.entities {
      let rows = try exports.export(entity: entity.name).summary.rows
      #expect(rows == all.filter { model.isKind($0.key, of: entity.name) }, "\(entity.name)")
    }
    let (text, summary) = try exports.export(limit: 17)
    #expect(text.split(separator: "\n").count == 17 && summary.rows.values.reduce(0, +) == 17)
    #expect(try exports.export(limit: 0).text.isEmpty)
    #expect(throws: BatchError.self) { try exports.export(entity: "Nobody") }
  }

  @Test("CSV has the values of JSON, a column for every property of the sub-entities, and reads back as RFC 4180 says")
  func csv() throws {
    let model = SampleModels.hierarchy()
    let store = try SampleTestStore(model, rows: 600, seed: 4)
    let exports = ExportTestStore(path: store.path, model: model)
    let rows = ExportTestStore.fields(try exports.export(.csv, entity: "Item", toMany: true).text)
    let header = rows[0].compactMap { $0 }
    #expect(
      header == [
        "@entity", "@key", "@uri", "camera", "color", "name", "size", "width", "children", "cover", "cover@entity",
        "owner",
        "parent",
      ])
    let objects = try exports.objects(entity: "Item", toMany: true)
    #expect(rows.count == objects.count + 1)
    for (row, object) in zip(rows.dropFirst(), objects) {
      guard case .object(let members) = object, case .object(let attributes)? = members["attributes"],
        case .object(let related)? = members["relationships"]
      else { continue }
      let fields = Dictionary(uniqueKeysWithValues: zip(header, row))
      for (name, value) in attributes { #expect(fields[name]! == Self.field(value), "\(name) of \(object)") }
      for (name, value) in related { #expect(fields[name]! == Self.field(value), "\(name) of \(object)") }
    }
    #expect(throws: BatchError.self) { try exports.export(.csv) }
  }

  private static func field(_ value: ExportedValue) -> String? {
    switch value {
    case .null: nil
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text
    case .list(let keys): keys.isEmpty ? nil : keys.map { field($0) ?? "" }.joined(separator: " ")
    case .object(let members): members["key"].flatMap(field)
    default: "?"
    }
  }

  private static func makeStrange(_ store: SampleTestStore) throws {
    let queue = try DatabaseQueue(path: store.path)
    let reference =
      "02" + "../../../../../../etc/passwd-aaaaaaaa".utf8.map { String(format: "%02x", $0) }.joined() + "00"
    try queue.write { database in
      try database.execute(
        sql: """
          UPDATE ZOPTIONAL SET ZTEXT = CAST(x'41FF42' AS TEXT), ZFLAG = 7, ZDOUBLE = 1e999, ZDATE = 1e300, ZSMALL = 'word',
            ZID = x'01', ZIMAGE = x'\(reference.prefix(76))', ZLINK = 'a"b\\c' || char(10, 0, 9, 31) || ',' WHERE Z_PK = 1;
          UPDATE ZOPTIONAL SET ZTEXT = '', ZDATE = -63114076800, ZDECIMAL = 9223372036854775807, ZFLOAT = 0.10000000149011612,
            ZIMAGE = CAST(x'02' || '6E0E7C0B-9D3B-4E67-A6C4-0B5C3B1D7F21' || x'00' AS BLOB) WHERE Z_PK = 2;
          """)
    }
    try queue.close()
  }

  @Test("Damaged and strange values: repaired, counted, never lost, never a path", arguments: [1])
  func strangeValues(seed: UInt64) throws {
    let store = try SampleTestStore(SampleModels.everyType(), rows: 40, seed: seed)
    try Self.makeStrange(store)
    let folder = store.folder + "/.Sample_SUPPORT/_EXTERNAL_DATA"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(count: 77).write(to: URL(fileURLWithPath: folder + "/6E0E7C0B-9D3B-4E67-A6C4-0B5C3B1D7F21"))
    let exports = ExportTestStore(path: store.path, model: store.model)
    let (text, summary) = try exports.export(entity: "Optional")
    #expect(summary.repairedTexts == 1)
    let lines = text.split(separator: "\n")
    for part in [
      #""text":"A\#u{FFFD}B""#, #""flag":7"#, #""double":"Infinity""#, #""date":1e+300"#, #""small":"word""#,
      #""id":"AQ==""#,
      #""link":"a\"b\\c\n\u0000\t\u001F,""#, #""image":"Ai4uL"#,
    ] { #expect(lines[0].contains(part), "\(part) in \(lines[0])") }
    for part in [
      #""text":"""#, #""date":"0000-12-30T00:00:00.000000Z""#, #""decimal":9223372036854775807"#, #""float":0.1,"#,
      #""image":{"bytes":77,"externalFile":"6E0E7C0B-9D3B-4E67-A6C4-0B5C3B1D7F21"}"#,
    ] { #expect(lines[1].contains(part), "\(part) in \(lines[1])") }
    let csv = ExportTestStore.fields(try exports.export(.csv, entity: "Optional").text)
    let header = csv[0].compactMap { $0 }
    let fields = csv.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(header, $0)) }
    #expect(fields[0]["link"]! == "a\"b\\c\n\0\t\u{1F}," && fields[0]["double"]! == "Infinity")
    #expect(fields[1]["text"]! == "" && fields[1]["image"]! == "external:6E0E7C0B-9D3B-4E67-A6C4-0B5C3B1D7F21")
  }

  @Test("A row of no entity ends the export with its key, and a store without its tables is refused")
  func damage() throws {
    let store = try SampleTestStore(SampleModels.plain(), rows: 40, seed: 5)
    let queue = try DatabaseQueue(path: store.path)
    try queue.write { try $0.execute(sql: "UPDATE ZBOOK SET Z_ENT = 99 WHERE Z_PK = 3") }
    let exports = ExportTestStore(path: store.path, model: store.model)
    let error = #expect(throws: BatchError.self) { try exports.export() }
    #expect(error?.code == .badStore && error?.key == 3 && error?.message.contains("99") == true)
    #expect(try exports.export(entity: "Author").summary.rows.keys.sorted() == ["Author"])
    try queue.write { try $0.execute(sql: "DROP TABLE ZAUTHOR") }
    try queue.close()
    #expect(throws: BatchError.self) { try exports.export() }
  }

  @Test("Columns that were added later have their default, and a store whose rows lie in the -wal file is whole")
  func laterColumns() throws {
    let store = try SampleTestStore(SampleModels.plain(), rows: 40, seed: 6)
    let queue = try DatabaseQueue(path: store.path)
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA journal_mode = WAL")
      try database.execute(sql: "ALTER TABLE ZAUTHOR ADD COLUMN ZAGE INTEGER DEFAULT 42")
      try database.execute(sql: "UPDATE ZAUTHOR SET ZNAME = 'in the log' WHERE Z_PK = 1")
    }
    // Both files as they are while the log is not yet in the main file.
    let copy = store.folder + "/copy.sqlite"
    for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: store.path + suffix, toPath: copy + suffix) }
    try queue.close()
    var entities = SampleModels.plain().entities
    let place = try #require(entities.firstIndex { $0.name == "Author" })
    entities[place].attributes.append(AttributeDescription(name: "age", type: .integer16))
    let before = try MigrationFolder.tree(store.folder)
    let exports = ExportTestStore(path: copy, model: ManagedObjectModel(name: "Later", entities: entities))
    let lines = try exports.export(entity: "Author").text.split(separator: "\n")
    #expect(lines[0].contains(#""attributes":{"age":42,"name":"in the log"}"#), "\(lines[0])")
    #expect(lines.allSatisfy { $0.contains(#""age":42"#) })
    #expect(try MigrationFolder.tree(store.folder) == before)
  }

  @Test("A damaged store ends in an error that names it, or in text, never in a trap", arguments: [9])
  func damagedBytes(seed: UInt64) throws {
    let store = try SampleTestStore(SampleModels.everyType(), rows: 300, seed: seed)
    let whole = [UInt8](try store.bytes())
    var (random, failures) = (seed, 0)
    func next(_ bound: Int) -> Int {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(random >> 33) % bound
    }
    for round in 0..<150 {
      var bytes = whole
      for _ in 0..<1 + next(40) { bytes[100 + next(bytes.count - 100)] = UInt8(next(256)) }
      try Data(bytes).write(to: URL(fileURLWithPath: store.path))
      do {
        _ = try ExportTestStore(path: store.path, model: store.model).export(toMany: round % 3 == 0)
      } catch let error as BatchError {
        failures += 1
        #expect(
          error.path?.hasPrefix(store.path) == true || error.code == .refused, "\(error), seed \(seed), round \(round)")
      } catch let error as StreamsError {
        failures += 1
        #expect(error.path?.hasPrefix(store.path) == true, "\(error), seed \(seed), round \(round)")
      }
    }
    print("export: \(failures) of 150 damaged stores refused, seed \(seed)")
    #expect(failures > 10)
  }

  @Test("Lists longer than the sorter's memory come whole and in order")
  func manyLinks() throws {
    let store = try SampleTestStore(SampleModels.plain(), rows: 400, seed: 8)
    let queue = try DatabaseQueue(path: store.path)
    let count = 300_000
    try queue.write { database in
      try database.execute(
        sql: """
          WITH RECURSIVE n(i) AS (SELECT 100000 UNION ALL SELECT i + 1 FROM n WHERE i < 100000 + ? - 1)
          INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZAUTHOR) SELECT i, 2, 1, 2 FROM n
          """, arguments: [count])
    }
    try queue.close()
    let exports = ExportTestStore(path: store.path, model: store.model)
    let objects = try exports.export(entity: "Author", toMany: true, budget: MemoryBudget(total: 0)).text.split(
      separator: "\n")
    let second = try #require(objects.first { $0.contains("\"key\":2,") })
    let keys = second.split(separator: "[")[1].prefix { $0 != "]" }.split(separator: ",").compactMap { Int($0) }
    #expect(keys.count >= count && keys == keys.sorted() && keys.suffix(count).elementsEqual(100_000..<100_000 + count))
  }
}

@Suite("Dates of an export")
struct ExportDateTests {
  @Test("Dates are those of Foundation's calendar, to the microsecond", arguments: [11])
  func dates(seed: UInt64) throws {
    var random = seed
    for _ in 0..<4000 {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      // Years 1600 to 9999: before, Foundation changes the calendar.
      let seconds = -12_622_780_800 + Double(random >> 11) / 0x1p53 * 265_046_774_400
      let text = String(decoding: try #require(ExportDate.text(seconds)), as: UTF8.self)
      let read = try #require(ExportedValue.seconds(text), "\(text)")
      #expect(abs(read - seconds) < 0.000_04, "\(text) for \(seconds), seed \(seed)")
    }
  }

  @Test("The ends of the range, leap days, and what has no date")
  func ends() {
    for (seconds, text) in [
      (0.0, "2001-01-01T00:00:00.000000Z"), (-0.25, "2000-12-31T23:59:59.750000Z"),
      (0.999_999_9, "2001-01-01T00:00:01.000000Z"),
      (-63_145_526_400, "0000-01-01T00:00:00.000000Z"), (252_423_993_599, "9999-12-31T23:59:59.000000Z"),
      (-26_524_800, "2000-02-29T00:00:00.000000Z"), (-3_182_284_800, "1900-02-28T00:00:00.000000Z"),
      (-3_182_198_400, "1900-03-01T00:00:00.000000Z"),
    ] { #expect(ExportDate.text(seconds).map { String(decoding: $0, as: UTF8.self) } == text, "\(seconds)") }
    for seconds in [252_423_993_600, 252_423_993_599.999_999_9, -63_145_526_400.1, .nan, .infinity, -.infinity, 1e300] {
      #expect(ExportDate.text(seconds) == nil, "\(seconds)")
    }
  }
}
