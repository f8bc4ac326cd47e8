import Foundation
import GRDB
import Testing

@Suite("Exports as Parquet")
struct ParquetExportTests {
  private let folder: CommandFolder
  private static let models = ["--models", ExampleFolder.models]

  init() throws { folder = try CommandFolder() }

  private func exported(_ store: String, _ words: [String], to path: String) throws -> CommandProcess.Outcome {
    let outcome = try folder.run("godwit", ["export", store, "--format", "parquet", "--output", path] + words)
    #expect(outcome.code == 0, "\(outcome)")
    return outcome
  }

  /// A model with an attribute of each type, and sub-entities whose attributes of one name have several types.
  private func everything() throws -> (model: String, store: String) {
    let types = [
      ("b", "Boolean"), ("d", "Date"), ("dec", "Decimal"), ("dbl", "Double"), ("f", "Float"), ("i16", "Integer 16"),
      ("i32", "Integer 32"), ("i64", "Integer 64"), ("s", "String"), ("u", "UUID"), ("uri", "URI"),
      ("x", "Transformable"), ("y", "Binary"),
    ].map { #"<attribute name="\#($0)" optional="YES" attributeType="\#($1)"/>"# }
    let external = #"<attribute name="z" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>"#
    let contents = """
      <?xml version="1.0" encoding="UTF-8"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Thing">\(types.joined())\(external)
      <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Thing" inverseName="before" inverseEntity="Thing"/>
      <relationship name="before" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Thing" inverseName="next" inverseEntity="Thing"/>
      </entity>
      <entity name="Left" parentEntity="Thing"><attribute name="own" optional="YES" attributeType="Integer 32"/></entity>
      <entity name="Right" parentEntity="Thing"><attribute name="own" optional="YES" attributeType="String"/></entity>
      </model>
      """
    let model = folder.newPath("Every.xcdatamodel")
    try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
    try contents.write(toFile: model + "/contents", atomically: false, encoding: .utf8)
    let lines = folder.newPath("things.jsonl")
    try Self.objects.write(toFile: lines, atomically: false, encoding: .utf8)
    let store = folder.file("Every.sqlite")
    let made = try folder.run("godwit", ["import", model, lines, "--output", store])
    try #require(made.code == 0, "\(made)")
    return (model, store)
  }

  private static let objects = #"""
    {"entity":"Thing","key":1,"attributes":{"b":true,"d":568000000.25,"dec":1.25,"dbl":0.1,"f":0.5,"i16":-7,"i32":70000,"i64":9007199254740993,"s":"Ünï","u":"6E0E7C0B-9D3B-4E67-A6C4-0B5C3B1D7F21","uri":"http://a.b/","x":"AQID","y":"","z":"AAEC"}}
    {"entity":"Left","key":2,"attributes":{"own":5,"b":false},"relationships":{"next":{"entity":"Thing","key":1}}}
    {"entity":"Right","key":3,"attributes":{"own":"five"},"relationships":{"next":{"entity":"Left","key":2}}}
    {"entity":"Left","key":4,"attributes":{"d":"1900-01-01T00:00:00.000001Z"},"relationships":{"next":{"entity":"Thing","key":1}}}

    """#

  @Test("A value that is too large for the type of its column is NULL, and is counted")
  func tooLarge() throws {
    let (model, store) = try everything()
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: "UPDATE ZTHING SET ZF = 1e300, ZI16 = 70000 WHERE Z_PK = 1") }
    try queue.close()
    let outcome = try exported(store, ["Thing", "--models", model], to: folder.newPath("things.parquet"))
    #expect(
      outcome.error.contains("value of Thing.f does") && outcome.error.contains("value of Thing.i16 does"), "\(outcome)"
    )
  }

  @Test(
    "Each type of attribute becomes the type of Parquet that stands for it; values and NULLs are those of the store")
  func types() throws {
    let store = try everything().store
    let path = folder.newPath("things.parquet")
    let outcome = try exported(store, ["Thing", "--to-many"], to: path)
    #expect(!outcome.error.contains("NULL is written"), "\(outcome)")
    let file = try ParquetDocument(path)
    #expect(file.rows == 4 && file.groups == 1)
    let types = [0, 2, 6, 5, 4, 1, 1, 2, 6, 7, 6, 6, 6, 6]
    for (name, type) in zip(["b", "d", "dec", "dbl", "f", "i16", "i32", "i64", "s", "u", "uri", "x", "y", "z"], types) {
      #expect(file.columns.first { $0.name == name }?.type == type, "\(name)")
    }
    func text(_ text: String) -> ParquetDocument.Value { .bytes(Array(text.utf8)) }
    #expect(
      file["@entity"] == ["Thing", "Left", "Right", "Left"].map(text) && file["@key"] == (1...4).map { .number($0) })
    #expect(file["b"] == [.flag(true), .flag(false), nil, nil])
    #expect(file["d"] == [.number(1_546_307_200_250_000), nil, nil, .number(-2_208_988_799_999_999)])
    #expect(file["dec"][0] == text("1.25") && file["dbl"][0] == .real(0.1) && file["f"][0] == .real(0.5))
    #expect(file["i16"][0] == .number(-7) && file["i32"][0] == .number(70000))
    #expect(file["i64"][0] == .number(9_007_199_254_740_993) && file["s"][0] == text("Ünï"))
    #expect(
      file["u"][0]
        == .bytes([0x6E, 0x0E, 0x7C, 0x0B, 0x9D, 0x3B, 0x4E, 0x67, 0xA6, 0xC4, 0x0B, 0x5C, 0x3B, 0x1D, 0x7F, 0x21]))
    #expect(
      file["x"][0] == .bytes([1, 2, 3]) && file["y"][0] == .bytes([])
        && file["z"] == [.bytes([0, 1, 2]), nil, nil, nil])
    #expect(file["z@file"] == [nil, nil, nil, nil] && file["own"] == [nil, text("5"), text("five"), nil])
    #expect(file["next"] == [nil, .number(1), .number(2), .number(1)])
    #expect(file["next@entity"] == [nil, text("Thing"), text("Left"), text("Thing")])
    #expect(file["before"] == ["2 4", "3", "", ""].map(text))
  }

  @Test("What does not have its column's type is NULL and is counted by name; texts that are not UTF-8 are repaired")
  func strays() throws {
    let store = try everything().store
    let queue = try DatabaseQueue(path: store)
    try queue.write {
      try $0.execute(
        sql: "UPDATE ZTHING SET ZI16 = 70000, ZU = x'01', ZD = 'soon', ZB = 2, ZS = CAST(x'FF' AS TEXT) WHERE Z_PK = 1")
    }
    try queue.close()
    let path = folder.newPath("things.parquet")
    let outcome = try exported(store, ["Thing"], to: path)
    for name in ["i16", "u", "d", "b"] {
      #expect(outcome.error.contains("1 value of Thing.\(name) does not have the column's type"), "\(outcome)")
    }
    #expect(outcome.error.contains("1 text was not UTF-8"))
    let file = try ParquetDocument(path)
    #expect(file["i16"][0] == nil && file["u"][0] == nil && file["d"][0] == nil && file["b"][0] == nil)
    #expect(file["s"][0] == .bytes(Array("\u{FFFD}".utf8)))
  }

  @Test("A folder has a file for each root entity, with chosen columns and rows; --raw has those of links, too")
  func folders() throws {
    let store = try folder.sample(rows: 600)
    let path = folder.newPath("chosen")
    _ = try exported(
      store, ["Book", "--columns", "title", "--where", "pages > 1000"] + Self.models, to: path + "/")
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["Book.parquet"])
    let count = try ExampleFolder.rows(store, "SELECT count(*) AS n FROM ZBOOK WHERE ZPAGES > 1000")
    let chosen = try ParquetDocument(path + "/Book.parquet")
    #expect(["[n:\(chosen.rows)]"] == count && chosen.columns.map(\.name) == ["@entity", "@key", "@uri", "title"])
    let queue = try DatabaseQueue(path: store)
    try queue.write {
      try $0.execute(
        sql: """
          CREATE TABLE Z_1READERS (Z_1BOOKS INTEGER, Z_2READERS INTEGER, PRIMARY KEY (Z_1BOOKS, Z_2READERS));
          INSERT INTO Z_1READERS VALUES (1, 2), (3, 4);
          """)
    }
    try queue.close()
    let raw = folder.newPath("raw")
    _ = try exported(store, ["--raw"], to: raw + "/")
    let links = try ParquetDocument(raw + "/Z_1READERS.parquet")
    #expect(links["Z_1BOOKS"] == [.number(1), .number(3)] && links["Z_2READERS"] == [.number(2), .number(4)])
    let books = try ParquetDocument(raw + "/Book.parquet")
    #expect(books.columns.first { $0.name == "ZPUBLISHED" }?.logical?[8][2].fields.keys.sorted() == [2])
    let refused = try folder.run("godwit", ["export", store, "--format", "parquet"] + Self.models)
    #expect(refused.code == 64 && refused.error.contains("name one, write to a folder"), "\(refused)")
    #expect(try folder.run("godwit", ["export", store, "--history", "--format", "parquet"]).code == 64)
  }

  @Test("Many row groups and pages hold each row once, in order; the same store gives the same bytes")
  func groups() throws {
    let store = try folder.sample(rows: 120_000)
    let (first, second) = (folder.newPath("a.parquet"), folder.newPath("b.parquet"))
    for path in [first, second] { _ = try exported(store, ["Book", "--memory", "48M"] + Self.models, to: path) }
    #expect(try CommandFolder.bytes(first) == CommandFolder.bytes(second))
    let file = try ParquetDocument(first)
    #expect(file.groups > 1)
    let keys = try ExampleFolder.rows(store, "SELECT Z_PK AS k, ZPAGES AS p FROM ZBOOK ORDER BY Z_PK")
    let found = zip(file["@key"], file["pages"]).map { key, pages in
      guard case .number(let key)? = key else { return "" }
      guard case .number(let pages)? = pages else { return "[k:\(key) p:NULL]" }
      return "[k:\(key) p:\(pages)]"
    }
    #expect(found == keys)
  }

  @Test("Apache Arrow reads the file, and finds what JSON lines say", .enabled(if: Arrow.isThere, "\(Arrow.missing)"))
  func anotherProgram() throws {
    let stores = [(try everything().store, "Thing", [String]()), (try folder.sample(rows: 5000), "Book", Self.models)]
    for (store, entity, words) in stores {
      let path = folder.newPath("all.parquet")
      _ = try exported(store, [entity] + words, to: path)
      let lines = folder.newPath("all.jsonl")
      let outcome = try folder.run("godwit", ["export", store, entity, "--output", lines] + words)
      #expect(outcome.code == 0)
      #expect(try Arrow.compare(path, lines) == "", "\(entity)")
    }
  }
}
