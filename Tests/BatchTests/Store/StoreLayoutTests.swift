import Testing

@testable import CoreDataModel
@testable import CoreDataStore

@Suite("Layouts of models made in code")
struct StoreLayoutTests {
  private let layout: StoreLayout

  init() throws { layout = try StoreLayout(model: StoreModels.library()) }

  @Test("Numbers run depth first, without regard to case")
  func numbers() throws {
    #expect(layout.entityNames == ["Author", "Cover", "Medium", "Book", "Reader", "Shelf"])
    let other = try StoreModels.layout([
      StoreModels.entity("SyncFeature"), StoreModels.entity("SyncableSettings"), StoreModels.entity("apple"),
      StoreModels.entity("Zoo"), StoreModels.entity("zebra", parent: "apple"),
      StoreModels.entity("Ant", parent: "apple"),
    ])
    #expect(other.entityNames == ["apple", "Ant", "zebra", "SyncableSettings", "SyncFeature", "Zoo"])
    #expect(other.entityNumbers["zebra"] == 3)
  }

  @Test("A hierarchy shares one table, whose columns come in Core Data's order")
  func columns() {
    #expect(layout.entityTables.map(\.name) == ["ZAUTHOR", "ZCOVER", "ZMEDIUM", "ZREADER", "ZSHELF"])
    #expect(
      layout.table(ofEntity: "Book")?.sql
        == "CREATE TABLE ZMEDIUM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOVER INTEGER, ZPAGES INTEGER, "
        + "ZSHELF INTEGER, Z5WISHES INTEGER, Z_FOK_SHELF INTEGER, Z_FOK_5WISHES INTEGER, ZTITLE VARCHAR, ZID BLOB )")
    #expect(
      layout.table(ofEntity: "Shelf")?.sql
        == "CREATE TABLE ZSHELF ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZFIRST INTEGER, Z3_FIRST INTEGER )"
    )
  }

  @Test("Inherited properties are found from below")
  func lookups() {
    #expect(layout.column(forAttribute: "id", ofEntity: "Book")?.role == .attribute(entity: "Medium", name: "id"))
    #expect(layout.column(forAttribute: "title", ofEntity: "Medium") == nil)
    #expect(layout.column(forToOne: "cover", ofEntity: "Book")?.name == "ZCOVER")
    #expect(layout.entityColumn(forToOne: "first", ofEntity: "Shelf")?.name == "Z3_FIRST")
    #expect(layout.entityColumn(forToOne: "shelf", ofEntity: "Book") == nil)
    #expect(layout.orderColumn(forToOne: "shelf", ofEntity: "Book")?.name == "Z_FOK_SHELF")
  }

  @Test("Every kind of relationship says where its links are")
  func storage() {
    #expect(
      layout.storage(of: "shelf", entity: "Book") == .ownKey(table: 2, column: 5, entityColumn: nil, orderColumn: 7))
    #expect(layout.storage(of: "books", entity: "Shelf") == .inverseKey(table: 2, column: 5, orderColumn: 7))
    #expect(layout.storage(of: "wishes", entity: "Reader") == .ownerKey(table: 2, column: 6, orderColumn: 8))
    #expect(
      layout.storage(of: "first", entity: "Shelf") == .ownKey(table: 4, column: 3, entityColumn: 4, orderColumn: nil))
    #expect(layout.storage(of: "books", entity: "Author") == .join(table: 0, ownerIsSource: true))
    #expect(layout.storage(of: "authors", entity: "Book") == .join(table: 0, ownerIsSource: false))
    #expect(layout.storage(of: "nothing", entity: "Book") == nil)
  }

  @Test("Join tables are named by the first side, self-referencing ones by the later name")
  func joins() {
    #expect(
      layout.joinTables.map(\.sql) == [
        "CREATE TABLE Z_1BOOKS ( Z_1AUTHORS INTEGER, Z_4BOOKS INTEGER, Z_FOK_4BOOKS INTEGER, PRIMARY KEY (Z_1AUTHORS, Z_4BOOKS) )",
        "CREATE TABLE Z_1FRIENDS ( Z_1FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_1FRIENDS, REFLEXIVE) )",
        "CREATE TABLE Z_1TEACHERS ( Z_1PUPILS INTEGER, Z_1TEACHERS INTEGER, PRIMARY KEY (Z_1PUPILS, Z_1TEACHERS) )",
      ])
    let teachers = layout.joinTable(for: "pupils", entity: "Author")
    #expect(teachers?.relationship == PropertyReference(entity: "Author", name: "teachers"))
    #expect(teachers?.otherName == "Z_1PUPILS")
    #expect(teachers?.isSelfReferencing == true)
  }

  @Test("Indexes come table by table: keys, Z_ENT, join tables, fetch indexes, constraints")
  func indexes() {
    #expect(
      layout.indexes.map(\.sql) == [
        "CREATE INDEX Z_1BOOKS_Z_4BOOKS_INDEX ON Z_1BOOKS (Z_4BOOKS, Z_1AUTHORS)",
        "CREATE INDEX Z_1FRIENDS_REFLEXIVE_INDEX ON Z_1FRIENDS (REFLEXIVE, Z_1FRIENDS)",
        "CREATE INDEX Z_1TEACHERS_Z_1TEACHERS_INDEX ON Z_1TEACHERS (Z_1TEACHERS, Z_1PUPILS)",
        "CREATE INDEX ZMEDIUM_ZCOVER_INDEX ON ZMEDIUM (ZCOVER)",
        "CREATE INDEX ZMEDIUM_ZSHELF_INDEX ON ZMEDIUM (ZSHELF)",
        "CREATE INDEX ZMEDIUM_Z5WISHES_INDEX ON ZMEDIUM (Z5WISHES)",
        "CREATE INDEX ZMEDIUM_Z_ENT_INDEX ON ZMEDIUM (Z_ENT)",
        "CREATE UNIQUE INDEX Z_Book_UNIQUE_title ON ZMEDIUM (ZTITLE COLLATE BINARY ASC)",
        "CREATE INDEX ZSHELF_ZFIRST_INDEX ON ZSHELF (ZFIRST)",
      ])
  }

  @Test("Z_PRIMARYKEY lists every entity; only roots carry the maximum")
  func primaryKeys() {
    let rows = PrimaryKeyTable(layout: layout, maxima: ["Medium": 12, "Book": 99]).rows
    #expect(rows.map(\.name) == layout.entityNames)
    #expect(rows.map(\.superNumber) == [0, 0, 0, 3, 0, 0])
    #expect(rows.map(\.maximum) == [0, 0, 12, 0, 0, 0])
  }

  @Test("Colliding names get suffixes in the order of entities, whatever their types")
  func collisions() throws {
    let layout = try StoreModels.layout([
      StoreModels.entity("Note"), StoreModels.entity("A", parent: "Note", [("text", .string), ("Text", .integer16)]),
      StoreModels.entity("B", parent: "Note", [("text", .binaryData)]),
    ])
    #expect(layout.column(forAttribute: "Text", ofEntity: "A")?.name == "ZTEXT")
    #expect(layout.column(forAttribute: "text", ofEntity: "A")?.name == "ZTEXT1")
    #expect(layout.column(forAttribute: "text", ofEntity: "B")?.name == "ZTEXT2")
  }

  @Test("Types take their SQL types and groups; transient attributes have no column")
  func types() throws {
    var entity = StoreModels.entity(
      "E",
      [
        ("a", .binaryData), ("b", .transformable), ("c", .uuid), ("d", .uri), ("e", .string), ("f", .decimal),
        ("g", .float),
        ("h", .date), ("i", .boolean), ("j", .undefined), ("k", .composite),
      ])
    entity.attributes[9].isTransient = true
    entity.attributes[10].elements = [
      AttributeDescription(name: "y", type: .double), AttributeDescription(name: "x", type: .string),
    ]
    let layout = try StoreModels.layout([entity])
    #expect(
      layout.entityTables[0].columns.dropFirst(3).map { "\($0.name) \($0.type)" } == [
        "ZI INTEGER", "ZG FLOAT", "ZH TIMESTAMP", "ZY FLOAT", "ZF DECIMAL", "ZE VARCHAR", "ZX VARCHAR", "ZD VARCHAR",
        "ZC BLOB",
        "ZB BLOB", "ZA BLOB",
      ])
    #expect(layout.column(forAttribute: "k.x", ofEntity: "E")?.name == "ZX")
  }

  @Test("Old-style indexes become fetch indexes; the same index twice is one")
  func fetchIndexes() throws {
    var entity = StoreModels.entity("E", [("a", .string), ("b", .string), ("t", .string)])
    entity.attributes[0].isIndexed = true
    entity.attributes[2].isIndexed = true
    entity.attributes[2].isTransient = true
    entity.compoundIndexes = [["a", "b"]]
    entity.indexes = [
      .init(name: "a", elements: [.init(property: "a")]),
      .init(name: "down", elements: [.init(property: "b", isAscending: false)]),
    ]
    #expect(
      try StoreModels.layout([entity]).indexes.map(\.sql) == [
        "CREATE INDEX Z_E_a ON ZE (ZA COLLATE BINARY ASC)",
        "CREATE INDEX Z_E_a_b ON ZE (ZA COLLATE BINARY ASC, ZB COLLATE BINARY ASC)",
        "CREATE INDEX Z_E_down ON ZE (ZB COLLATE BINARY DESC)",
      ])
  }

  @Test("Names that are not plain reach SQL in quotes only")
  func quoting() throws {
    let name = "x\" INTEGER); DROP TABLE Z; --"
    let layout = try StoreModels.layout([StoreModels.entity("Bü\"cher", [(name, .string)])])
    #expect(
      layout.entityTables[0].sql
        == "CREATE TABLE \"ZBÜ\"\"CHER\" ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "\"ZX\"\" INTEGER); DROP TABLE Z; --\" VARCHAR )")
  }
}
