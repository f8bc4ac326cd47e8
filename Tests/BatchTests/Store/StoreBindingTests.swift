import Testing

@testable import CoreDataStore
@testable import RunSupport

@Suite("Layouts are bound to stores by name")
struct StoreBindingTests {
  private let layout: StoreLayout

  init() throws { layout = try StoreLayout(model: StoreModels.library()) }

  private func fresh() -> [String: String] {
    let texts = layout.entityTables.map { ($0.name, $0.sql) } + layout.joinTables.map { ($0.name, $0.sql) }
    return Dictionary(uniqueKeysWithValues: texts + StoreLayout.fixedTables.map { ($0.name, $0.sql) })
  }

  private func bind(_ tables: [String: String]) throws -> StoreBinding {
    let rows = tables.sorted { $0.key < $1.key }.enumerated().map { position, entry in
      SchemaRow(type: "table", name: entry.key, tableName: entry.key, rootPage: UInt32(position + 2), sql: entry.value)
    }
    let schema = try StoreSchema(rows: rows, path: nil)
    return try StoreBinding(layout: layout, schema: schema, modelName: "Library 3", path: "a.sqlite")
  }

  @Test("A fresh store binds position by position and leaves nothing over")
  func freshStore() throws {
    let binding = try bind(fresh())
    for table in binding.tables { #expect(table.positions == Array(table.layout.columns.indices)) }
    #expect(binding.joins.map(\.sourcePosition) == [0, 1, 0])
    #expect(binding.joins.map(\.destinationPosition) == [1, 0, 1])
    #expect(binding.joins.map(\.destinationOrderPosition) == [2, nil, nil])
    #expect(binding.extras == StoreBinding.Extras())
  }

  @Test("Columns in another order, in other letters and in quotes are found; surplus ones are reported")
  func migratedStore() throws {
    var tables = fresh()
    tables["ZSHELF"] =
      "CREATE TABLE \"ZSHELF\" (\"z_ent\" INTEGER, Z_PK INTEGER PRIMARY KEY, ZOLD VARCHAR, Z_OPT INTEGER, Z3_FIRST INTEGER, 'ZFIRST' INTEGER)"
    tables["ZEXTRA"] = "CREATE TABLE ZEXTRA (a)"
    tables["ACHANGE"] = "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY)"
    tables["ANSCKEVENT"] = "CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY)"
    let binding = try bind(tables)
    #expect(binding.tables[4].positions == [1, 0, 3, 5, 4])
    #expect(binding.extras.columns == [.init(table: "ZSHELF", column: "ZOLD")])
    #expect(binding.extras.tables == ["ZEXTRA"])
    #expect(binding.extras.history == ["ACHANGE"])
    #expect(binding.extras.cloudKit == ["ANSCKEVENT"])
  }

  @Test("A missing table or column is named, with its entity and the claimed model")
  func missing() throws {
    var tables = fresh()
    tables["ZREADER"] = nil
    let table = #expect(throws: BatchError.self) { try bind(tables) }
    #expect(table?.code == .badStore)
    #expect(table?.entity == "Reader")
    #expect(table?.message == "the store's metadata claims model Library 3, but the store has no table ZREADER")
    tables = fresh()
    tables["ZAUTHOR"] = "CREATE TABLE ZAUTHOR ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )"
    let column = #expect(throws: BatchError.self) { try bind(tables) }
    #expect(column?.path == "a.sqlite")
    #expect(
      column?.message
        == "the store's metadata claims model Library 3, but the store has no column ZNAME in table ZAUTHOR")
    tables = fresh()
    tables["Z_METADATA"] = nil
    #expect(#expect(throws: BatchError.self) { try bind(tables) }?.message == "the file has no table Z_METADATA")
  }

  @Test("A join table is found when renumbered, named by the other side, or with columns in the old order")
  func joins() throws {
    var tables = fresh()
    tables["Z_1BOOKS"] = nil
    tables["Z_9BOOKS"] =
      "CREATE TABLE Z_9BOOKS (Z_12BOOKS INTEGER, Z_9AUTHORS INTEGER, Z_FOK_12BOOKS INTEGER, PRIMARY KEY (Z_12BOOKS, Z_9AUTHORS))"
    tables["Z_1TEACHERS"] = nil
    tables["Z_1PUPILS"] =
      "CREATE TABLE Z_1PUPILS (Z_1TEACHERS INTEGER, Z_1PUPILS INTEGER, PRIMARY KEY (Z_1TEACHERS, Z_1PUPILS))"
    let binding = try bind(tables)
    #expect(binding.joins.map(\.schema.name) == ["Z_9BOOKS", "Z_1FRIENDS", "Z_1PUPILS"])
    #expect(binding.joins[0].sourcePosition == 1)
    #expect(binding.joins[0].destinationPosition == 0)
    #expect(binding.joins[0].destinationOrderPosition == 2)
    #expect(binding.joins[2].sourcePosition == 1)
    #expect(binding.joins[2].destinationPosition == 0)
    #expect(binding.extras == StoreBinding.Extras())
  }

  @Test("A join table that is missing, unordered or there twice is an error that names the relationship")
  func badJoins() throws {
    var tables = fresh()
    tables["Z_1BOOKS"] = "CREATE TABLE Z_1BOOKS (Z_1AUTHORS INTEGER, Z_4BOOKS INTEGER)"
    let unordered = #expect(throws: BatchError.self) { try bind(tables) }
    #expect(unordered?.entity == "Author")
    #expect(
      unordered?.message.contains("has no table Z_1BOOKS with columns Z_1AUTHORS, Z_4BOOKS, Z_FOK_4BOOKS") == true)
    tables["Z_1BOOKS"] = nil
    for number in [7, 8] {
      tables["Z_\(number)BOOKS"] =
        "CREATE TABLE Z_\(number)BOOKS (Z_7AUTHORS INTEGER, Z_8BOOKS INTEGER, Z_FOK_8BOOKS INTEGER)"
    }
    let twice = #expect(throws: BatchError.self) { try bind(tables) }
    #expect(twice?.message.contains("several tables for Author.books: Z_7BOOKS, Z_8BOOKS") == true)
  }

  @Test("Columns with an old entity number are taken when there is no doubt")
  func renumberedColumns() throws {
    var tables = fresh()
    tables["ZMEDIUM"] = tables["ZMEDIUM"]?.replacing("5WISHES", with: "9WISHES")
    tables["ZSHELF"] = tables["ZSHELF"]?.replacing("Z3_FIRST", with: "Z7_FIRST")
    let binding = try bind(tables)
    #expect(binding.tables[2].positions == Array(0..<11))
    #expect(binding.tables[4].positions == Array(0..<5))
  }
}

// Needs real stores, which are no part of the package.
@Suite(
  "Layouts are bound to stores that Core Data wrote", .enabled(if: StoreCorpus.isPresent, "no corpus (GODWIT_CORPUS)"))
struct StoreBindingCorpusTests {
  @Test("Every store binds to its model; only history is left over")
  func allStores() throws {
    var (stores, joins) = (0, 0)
    for sample in try StoreLayoutCorpusTests.samples() {
      let binding = try StoreBinding(
        layout: sample.layout, schema: sample.schema, modelName: sample.entry.model ?? "", path: sample.entry.path)
      stores += 1
      joins += binding.joins.count
      #expect(
        binding.extras.tables == [] && binding.extras.columns == [] && binding.extras.cloudKit == [],
        "\(sample.entry.path)")
      #expect(binding.extras.history.isEmpty != sample.entry.path.contains("NoteStore"), "\(sample.entry.path)")
      #expect(sample.schema.foreign.isEmpty, "\(sample.entry.path)")
    }
    #expect(stores == 67)
    #expect(joins == 240)
  }

  @Test("A store whose metadata claims another version is caught by its columns")
  func corruptStore() throws {
    let entries = try StoreCorpus.stores()
    let corrupt = try #require(entries.first { $0.path.contains("v2CorruptDatabase") })
    let path =
      try #require(StoreCorpus.root)
      + "/models/apptentive+apptentive-ios/ATDataModel.xcdatamodeld/ATDataModel 3.xcdatamodel/contents"
    let layout = try StoreLayout(model: StoreModelReader.read(path))
    let schema = try StoreSchema(rows: StoreCorpus.withCopy(corrupt, StoreCorpus.schemaRows), path: nil)
    let error = #expect(throws: BatchError.self) {
      try StoreBinding(layout: layout, schema: schema, modelName: "ATDataModel 3", path: corrupt.path)
    }
    #expect(error?.code == .badStore)
    #expect(error?.message.contains("claims model ATDataModel 3, but the store has no column") == true)
  }
}
