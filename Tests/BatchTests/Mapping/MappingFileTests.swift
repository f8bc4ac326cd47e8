import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import RunSupport

@Suite("Mapping files")
struct MappingFileTests {
  private static let example = """
    from: { name: Library 1, hashes: { Book: "\(String(repeating: "0a", count: 32))" } }
    to: { checksum: abc= }
    others: true
    entities:
      - User
      - to: Author
      - remove: Draft
      - name: Books
        from: Book
        to: Volume
        filter: pages > 0
        userInfo: { modelVersion: 2 }
        byName: false
        attributes: { title: $source.name, pages: 3, rating: 1.5, isOpen: true, note: null, isbn: $same, text: "'x: y'" }
        relationships: [authors]
    """

  @Test("A file becomes the mapping model that it describes")
  func whole() throws {
    let model = try MappingText.read(Self.example, name: "Books.yml")
    #expect(model.name == "Books" && model.sourceModelName == "Library 1" && model.mapsOthers)
    #expect(model.sourceHashes == ["Book": Array(repeating: 10, count: 32)])
    #expect(model.destinationModelName == nil && model.destinationChecksum == "abc=")
    #expect(model.entityMappings.map(\.name) == ["UserToUser", "Author", "Draft", "Books"])
    #expect(model.entityMappings.map(\.sourceEntity) == ["User", nil, "Draft", "Book"])
    #expect(model.entityMappings.map(\.destinationEntity) == ["User", "Author", nil, "Volume"])
    #expect(model.entityMappings.map(\.mapsByName) == [true, true, false, false])
    let book = model.entityMappings[3]
    #expect(book.filterPredicate == "pages > 0" && book.userInfo == ["modelVersion": "2"] && book.rules == nil)
    #expect(book.attributeMappings.map(\.name) == ["title", "pages", "rating", "isOpen", "note", "isbn", "text"])
    #expect(
      book.attributeMappings.map(\.valueExpression) == [
        .keyPath(operand: .variable("source"), path: ["name"]), .constant(.integer(3)), .constant(.real(1.5)),
        .constant(.integer(1)), .constant(.null), nil, .constant(.text("x: y")),
      ])
    #expect(book.relationshipMappings == [PropertyMapping(name: "authors")])
  }

  @Test("JSON is read as the same model")
  func json() throws {
    let text = """
      {"$schema": "mapping.schema.json", "from": "A", "to": "B", "entities": ["User", {"from": "Book",
      \t"attributes": {"title": "$source.na\\u006de", "pages": 3, "note": null, "day": {"date": "$source.d", "format": "y\\/M"}}}]}
      """
    let yaml = """
      from: A
      to: B
      entities:
        - User
        - from: Book
          attributes:
            title: $source.name
            pages: 3
            note: null
            day: { date: $source.d, format: y/M }
      """
    #expect(try MappingText.read(text, name: "X.json") == MappingText.read(yaml, name: "X.yaml"))
  }

  @Test(
    "An error names line, entity and key, and what is allowed",
    arguments: [
      (
        MappingText.book("atributes: {}"),
        "line 5: an entity mapping has no key atributes, did you mean attributes?. Allowed are name, from"
      ),
      (
        "from: A\nto: B\nentitys: []",
        "line 3: the file has no key entitys, did you mean entities?. Allowed are $schema, from"
      ),
      ("from: A\nto: B", "the file has no entities"),
      ("to: B\nentities: []", "does not say which versions"),
      ("- a", "the file has to be keys and values. Allowed are"),
      ("", "the file is empty"),
      ("a: [", "line 2, column 1"),
      ("from: A\nfrom: B", "line 1: the key from stands here twice"),
      (MappingText.book("attributes: { a: { date: $source.b } }"), "BookToBook: line 5: date needs format"),
      (
        MappingText.book("attributes: { a: { date: $source.b, format: EEE } }"),
        "the date format is not understood. Allowed are y yyyy"
      ),
      (MappingText.book("attributes: { a: { date: $source.b, format: y, zone: Mars } }"), "the zone is not understood"),
      (
        MappingText.book("attributes: { a: { cast: $source.b, to: number } }"),
        "Allowed are text, integer, double, boolean"
      ),
      (MappingText.book("attributes: { a: { cast: 1, at: x } }"), "at does not go with cast. cast takes to"),
      (MappingText.book("attributes: { a: { lookup: $source.b, in: t } }"), "there is no table t"),
      (MappingText.book("attributes: { a: {} }"), "a value needs one of value, expression"),
      (MappingText.book("attributes: { a: name }"), "Write $source.name for an attribute"),
      (MappingText.book("attributes: { a: $source. }"), "BookToBook: line 5: the expression"),
      (MappingText.book("attributes: { a: [] }"), "an expression has to be a text"),
      (MappingText.book("filter: pages >"), "BookToBook: line 5: the predicate"),
      (MappingText.book("policy: P\nobjects: [{ create: File }]"), "has a policy and rules"),
      (MappingText.book("objects: [{ create: File, find: File }]"), "one of create, find and findOrCreate"),
      (MappingText.book("objects: [{ findOrCreate: File }]"), "findOrCreate needs by"),
      (MappingText.book("objects: [{ create: File, forEach: $source.a.b }]"), "Write $source.NAME"),
      (MappingText.book("objects: [{ create: File, relationships: { a: 3 } }]"), "Allowed are $destination, $item"),
      ("from: A\nto: B\nentities: [{ to: File, objects: [{ create: File }] }]", "Add the key from"),
      ("from: A\nto: B\nentities: [User, User]", "another entity mapping has the name UserToUser"),
      ("from: { hashes: { A: xy } }\nto: B\nentities: []", "the version hash of A has to be 64 hexadecimal digits"),
      (
        "from: A\nto: B\ndestination: {}\nentities: []",
        "line 3: a destination names no server and no file. Add the key postgres"
      ),
      ("from: A\nto: B\ndestination: { url: x }\nentities: []", "a destination has no key url"),
      (
        "from: A\nto: B\ndestination: { postgres: \"postgres://a:b@c/d\" }\nentities: []",
        "line 3: a password does not belong into a mapping file. Give it by PGPASSWORD"
      ),
      ("from: A\nto: B\ndestination: { postgres: x, sqlite: y }\nentities: []", "names a server and a file. Keep one"),
      ("from: A\nto: B\ndestination: { sqlite: y, schema: s }\nentities: []", "schema does not go with sqlite"),
      ("from: A\nto: B\ndestination: { sqlite: y, dates: old }\nentities: []", "Allowed are iso, unix"),
      ("from: A\nto: B\ndestination: { postgres: x, names: camel }\nentities: []", "Allowed are snake-case, core-data"),
      (
        "from: A\nto: B\ndestination: { postgres: x, schema: \(String(repeating: "s", count: 64)) }\nentities: []",
        "schema has to be a name of 1 to 63 bytes"
      ),
      ("from: A\nto: B\ntables: { t: ../t.csv }\nentities: []", "in the folder of the mapping file"),
    ])
  func errors(text: String, wanted: String) {
    let found = MappingText.failure(text)
    #expect(found.contains(wanted), "\(found)")
  }

  @Test("Anchors repeat values, and << keys and values, within a budget; an alias of nothing is an error")
  func anchors() throws {
    let text = """
      from: A
      to: B
      entities:
        - from: Book
          attributes: &common { title: $source.name, pages: &pages { cast: $source.pages, to: integer }, star: "'a *b'" }
        - from: Paper
          attributes: { <<: *common, title: $source.title, sheets: *pages, twice: $source.a *2 }
      """
    let plain = """
      from: A
      to: B
      entities:
        - from: Book
          attributes: { title: $source.name, pages: { cast: $source.pages, to: integer }, star: "'a *b'" }
        - from: Paper
          attributes: { title: $source.title, sheets: { cast: $source.pages, to: integer }, twice: $source.a *2, pages: { cast: $source.pages, to: integer }, star: "'a *b'" }
      """
    let found = MappingText.failure(text.replacing("*pages", with: "*page"))
    #expect(found.contains("line 7: nothing before has the anchor &page"), "\(found)")
    #expect(try MappingText.read(text) == MappingText.read(plain))
  }

  @Test("Hostile files are refused within bounds: aliases, depth, size, bytes that are no text")
  func hostile() throws {
    let bomb = (1...30).map { "a\($0): &a\($0) [\(Array(repeating: "*a\($0 - 1)", count: 9).joined(separator: ","))]" }
    #expect(
      MappingText.failure("a0: &a0 x\n" + bomb.joined(separator: "\n")).contains("aliases stand for more than 10"))
    #expect(MappingText.failure("a: &a [x]\n? [*a, *a]\n: y").contains("a key has to be a text, and no alias"))
    for opening in ["[", "{a: ", "- ", "? ", "{? ", "[a: "] {
      #expect(MappingText.failure(String(repeating: opening, count: 100_000)) != "nothing")
    }
    #expect(MappingText.failure(String(repeating: "#", count: (1 << 20) + 1)).contains("larger than 1 MiB"))
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bytes-\(UUID().uuidString).yaml").path
    try Data([0x61, 0xFF, 0x62]).write(to: URL(fileURLWithPath: folder))
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(throws: BatchError.self) { try MappingModelReader.read(path: folder) }
    // In expressions, & and * are what they were.
    let text = MappingText.book("attributes: { a: $source.b * $source.c }\nfilter: a == 1 && b == 2")
    #expect(try MappingText.read(text).entityMappings.count == 1)
  }

  @Test("Damaged files end with an error or a model, never with the process")
  func damaged() throws {
    var random = SplitMix(state: 12)
    let whole = Array(Self.example.utf8)
    for round in 0..<400 {
      var bytes = whole
      for _ in 0...random.next(4) { bytes[random.next(bytes.count)] = UInt8(random.next(128)) }
      if round % 3 == 0 { bytes.removeSubrange(random.next(bytes.count)...) }
      _ = MappingText.failure(String(decoding: bytes, as: UTF8.self))
    }
  }

  @Test("Tables are read with quotation marks, in any order of columns; what is wrong in one is said")
  func tables() throws {
    let text =
      "from: A\nto: B\ntables: { t: { file: t.csv, key: code, value: name } }\n"
      + "entities: [{ from: Book, attributes: { a: { lookup: $source.c, in: t } } }]"
    let table = "\u{FEFF}name,x,code\r\n\"Côte d'Ivoire, \"\"CI\"\"\",1,CI\r\n\"two\nlines\",2,TL\n\n"
    let model = try MappingText.read(text, tables: ["t.csv": table])
    guard case .lookup(_, let read)? = model.entityMappings[0].rules?.attributes[0].value else {
      Issue.record("no table")
      return
    }
    #expect(read["CI"] == "Côte d'Ivoire, \"CI\"" && read["TL"] == "two\nlines" && read["ci"] == nil)
    // Texts that look alike are two keys.
    let alike = try MappingText.read(text, tables: ["t.csv": "name,x,code\none,1,\u{E9}\ntwo,2,e\u{301}\n"])
    guard case .lookup(_, let two)? = alike.entityMappings[0].rules?.attributes[0].value else {
      Issue.record("no table")
      return
    }
    #expect(two["\u{E9}"] == "one" && two["e\u{301}"] == "two")
    #expect(MappingText.failure(text, tables: ["t.csv": "name,x\na,b"]).contains("no column code. It has name, x"))
    #expect(MappingText.failure(text, tables: ["t.csv": "name,code\na"]).contains("row 2 has 1 column instead of 2"))
    #expect(
      MappingText.failure(text, tables: ["t.csv": "name,code\na,x\nb,x"]).contains("row 3 has a key that another"))
    #expect(MappingText.failure(text, tables: ["t.csv": "name,code\n\"a,x"]).contains("left open"))
    #expect(MappingText.failure(text).contains("cannot be read"))
  }
}
