import Foundation
import GRDB

@testable import CoreDataModel
@testable import CoreDataStore
@testable import StoreVerification

/// A single fault, and what must be said about it.
struct VerificationFault {
  let name: String
  let kind: Violation.Kind
  let entity: String?
  var property: String?
  /// The key that must be among the examples.
  var key: Int?
  let make: (VerificationStore) throws -> Void

  init(
    _ name: String, _ kind: Violation.Kind, _ entity: String?, _ property: String? = nil, key: Int? = nil,
    make: @escaping (VerificationStore) throws -> Void
  ) {
    (self.name, self.kind, self.entity, self.property, self.key) = (name, kind, entity, property, key)
    self.make = make
  }

  init(
    _ name: String, _ kind: Violation.Kind, _ entity: String?, _ property: String? = nil, key: Int? = nil, sql: String
  ) {
    self.init(name, kind, entity, property, key: key) { try $0.change(sql) }
  }

  /// Every kind of fault, each at a place of the generator's choice.
  static func all(_ layout: StoreLayout, _ random: inout SeededRandom) -> [VerificationFault] {
    let book = Int.random(in: 1...VerificationStore.books, using: &random)
    let author = Int.random(in: 1...VerificationStore.authors, using: &random)
    let absent = Int.random(in: 1_000...9_000_000, using: &random)
    return references(layout, book: book, absent: absent)
      + links(layout, author: author, book: book, absent: absent)
      + rows(layout, book: book, author: author, absent: absent) + fixed(layout) + schema() + indexes(book: book)
  }

  private static func references(_ layout: StoreLayout, book: Int, absent: Int) -> [VerificationFault] {
    let numbers = layout.entityNumbers
    let helper = layout.entityColumn(forToOne: "owner", ofEntity: "Book")?.name ?? ""
    let reader = VerificationStore.authors + 1
    let wishes = "Z\(numbers["Reader"] ?? 0)WISHES"
    func update(_ set: String) -> String { "UPDATE ZBOOK SET \(set) WHERE Z_PK = \(book)" }
    return [
      .init("dangling to-one", .dangling, "Book", "shelf", key: book, sql: update("ZSHELF = \(absent)")),
      .init("dangling to-one with helper", .dangling, "Book", "owner", key: book, sql: update("ZOWNER = \(absent)")),
      .init("key of text", .dangling, "Book", "shelf", key: book, sql: update("ZSHELF = 'nothing'")),
      .init("dangling owner", .dangling, "Book", "wishes", key: book, sql: update("\(wishes) = \(absent)")),
      .init("owner of a wrong entity", .wrongEntity, "Book", "wishes", key: book, sql: update("\(wishes) = 1")),
      .init("key to a wrong sub-entity", .wrongEntity, "Book", "writer", key: book, sql: update("ZWRITER = \(reader)")),
      .init("wrong helper number", .helperNumber, "Book", "owner", key: book, sql: update("\(helper) = \(helper) + 1")),
      .init("no helper number", .helperNumber, "Book", "owner", key: book, sql: update("\(helper) = NULL")),
      .init(
        "one-to-one, both to one", .oneSided, "Book", "file", key: book,
        sql: update("ZFILE = (SELECT ZFILE FROM ZBOOK WHERE Z_PK = \(book % VerificationStore.books + 1))")),
    ]
  }

  private static func links(_ layout: StoreLayout, author: Int, book: Int, absent: Int) -> [VerificationFault] {
    layout.joinTables.flatMap { join -> [VerificationFault] in
      let (source, destination) = (join.sourceColumn, join.destinationColumn)
      let (entity, name) = (join.relationship.entity, join.relationship.name)
      let start = "UPDATE \(join.name) SET"
      let one = "WHERE rowid = (SELECT rowid FROM \(join.name) WHERE \(source) = \(author) LIMIT 1)"
      let reader = VerificationStore.authors + 1
      return [
        .init(
          "link to nothing", .dangling, entity, name, key: author, sql: "\(start) \(destination) = \(absent) \(one)"),
        .init("link from nothing", .dangling, entity, name, key: absent, sql: "\(start) \(source) = \(absent) \(one)"),
        .init("link of NULL", .dangling, entity, name, sql: "\(start) \(source) = NULL \(one)"),
        .init(
          "link from a wrong entity", .wrongEntity, entity, name, key: reader,
          sql: "\(start) \(source) = \(reader) \(one)"),
        .init("lost link", .rowCount, entity, name, sql: "DELETE FROM \(join.name) \(one)"),
      ]
    }
  }

  private static func rows(_ layout: StoreLayout, book: Int, author: Int, absent: Int) -> [VerificationFault] {
    let numbers = layout.entityNumbers
    return [
      .init("lost row", .rowCount, "Book", sql: "DELETE FROM ZBOOK WHERE Z_PK = \(book)"),
      .init(
        "row too many", .rowCount, "File",
        sql: "INSERT INTO ZFILE (Z_PK, Z_ENT) VALUES (\(VerificationStore.books - 100), \(numbers["File"] ?? 0))"),
      .init(
        "abstract entity", .entityNumber, "Person", key: author,
        sql: "UPDATE ZPERSON SET Z_ENT = \(numbers["Person"] ?? 0) WHERE Z_PK = \(author)"),
      .init(
        "entity of another table", .entityNumber, "Book", key: author,
        sql: "UPDATE ZPERSON SET Z_ENT = \(numbers["Book"] ?? 0) WHERE Z_PK = \(author)"),
      .init(
        "no entity", .entityNumber, "Book", key: book, sql: "UPDATE ZBOOK SET Z_ENT = NULL WHERE Z_PK = \(book)"),
      .init("key below 1", .key, "She\"lf", key: -4, sql: "UPDATE \"ZSHE\"\"LF\" SET Z_PK = -4 WHERE Z_PK = 3"),
    ]
  }

  private static func fixed(_ layout: StoreLayout) -> [VerificationFault] {
    func keys(_ set: String, _ entity: String) -> String {
      "UPDATE Z_PRIMARYKEY SET \(set) WHERE Z_ENT = \(layout.entityNumbers[entity] ?? 0)"
    }
    return [
      .init(
        "Z_MAX too small", .primaryKeys, "Book", key: VerificationStore.books, sql: keys("Z_MAX = Z_MAX - 1", "Book")),
      .init("wrong name", .primaryKeys, "Author", sql: keys("Z_NAME = 'Writer'", "Author")),
      .init("wrong parent", .primaryKeys, "Reader", sql: keys("Z_SUPER = 0", "Reader")),
      .init("entity missing", .primaryKeys, "File", sql: "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'File'"),
      .init("entity too many", .primaryKeys, nil, sql: "INSERT INTO Z_PRIMARYKEY VALUES (77, 'New', 0, 0)"),
      .init("other UUID", .metadata, nil, sql: "UPDATE Z_METADATA SET Z_UUID = lower(Z_UUID)"),
      .init("no metadata", .metadata, nil, sql: "DELETE FROM Z_METADATA"),
      .init("metadata twice", .metadata, nil, sql: "INSERT INTO Z_METADATA SELECT 2, Z_UUID, Z_PLIST FROM Z_METADATA"),
      .init("metadata unreadable", .metadata, nil, sql: "UPDATE Z_METADATA SET Z_PLIST = x'6270'"),
      .init("other version hash", .metadata, "Reader") { store in
        var hashes = store.layout.model.versionHashes
        hashes["Reader"]?[7] ^= 1
        let metadata = StoreMetadata.new(uuid: VerificationStore.uuid, versionHashes: hashes, identifiers: [""])
        try store.change {
          try $0.execute(sql: "UPDATE Z_METADATA SET Z_PLIST = ?", arguments: [Data(metadata.encoded())])
        }
      },
    ]
  }

  private static func schema() -> [VerificationFault] {
    [
      .init("missing column", .schema, "Book", sql: "ALTER TABLE ZBOOK DROP COLUMN ZPAGES"),
      .init("column too many", .schema, "Book", sql: "ALTER TABLE ZBOOK ADD COLUMN ZMORE INTEGER"),
      .init("missing table", .schema, "File", sql: "DROP TABLE ZFILE"),
      .init("table too many", .schema, nil, sql: "CREATE TABLE ZMORE (Z_PK INTEGER PRIMARY KEY)"),
      .init("misnamed column", .schema, "Book", sql: "ALTER TABLE ZBOOK RENAME COLUMN Z5WISHES TO Z9WISHES"),
    ]
  }

  private static func indexes(book: Int) -> [VerificationFault] {
    [
      .init("stale index entry", .index, "Book", key: book) { store in
        try store.withoutIndex("ZBOOK_ZSHELF_INDEX") {
          try store.change("UPDATE ZBOOK SET ZSHELF = ifnull(ZSHELF, 0) % 5 + 1 WHERE Z_PK = \(book)")
        }
      },
      .init("row that no index knows", .index, "Book", key: 61) { store in
        try store.withoutIndex("Z_Book_byPrice") {
          try store.change("INSERT INTO ZBOOK (Z_PK, Z_ENT) SELECT 61, Z_ENT FROM ZBOOK LIMIT 1")
        }
      },
      .init("bit in an index page", .index, "File") { try $0.flipLastByte(of: "ZFILE_ZBOOK_INDEX") },
      .init("unique value twice", .unique, "Book") { store in
        try store.change(
          """
          DROP INDEX Z_Book_UNIQUE_isbn;
          UPDATE ZBOOK SET ZISBN = (SELECT ZISBN FROM ZBOOK WHERE Z_PK = \(book % 60 + 1)) WHERE Z_PK = \(book);
          CREATE INDEX Z_Book_UNIQUE_isbn ON ZBOOK (ZISBN COLLATE BINARY ASC);
          PRAGMA writable_schema = ON;
          UPDATE sqlite_master SET sql = replace(sql, 'CREATE INDEX', 'CREATE UNIQUE INDEX')
          WHERE name = 'Z_Book_UNIQUE_isbn';
          """)
      },
      .init("page of zeros", .damaged, nil) { try $0.clearLeaf(of: "ZBOOK") },
    ]
  }
}

extension VerificationStore {
  /// Lets a change pass by an index: its row of the schema is away meanwhile.
  func withoutIndex(_ name: String, _ body: () throws -> Void) throws {
    var row: Row?
    try change { database in
      row = try Row.fetchOne(database, sql: "SELECT * FROM sqlite_master WHERE name = ?", arguments: [name])
      try database.execute(
        sql:
          "PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE name = '\(name)'; PRAGMA writable_schema = RESET"
      )
    }
    try body()
    guard let row else { return }
    try change { database in
      try database.execute(sql: "PRAGMA writable_schema = ON")
      try database.execute(
        sql: "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('index', ?, ?, ?, ?)",
        arguments: [name, row["tbl_name"] as String, row["rootpage"] as Int, row["sql"] as String])
    }
  }

  /// Changes the rowid of the entry that ends an index's first leaf.
  func flipLastByte(of index: String) throws {
    try withLeaf(of: index) { $0[$0.count - 1] ^= 1 }
  }

  func clearLeaf(of table: String) throws {
    try withLeaf(of: table) { page in for position in page.indices { page[position] = 0 } }
  }

  private func withLeaf(of name: String, _ body: (inout [UInt8]) -> Void) throws {
    var (number, size) = (0, 0)
    try change { database in
      let sql = "SELECT pageno, pgsize FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno LIMIT 1"
      guard let row = try Row.fetchOne(database, sql: sql, arguments: [name]) else { return }
      (number, size) = (row["pageno"], row["pgsize"])
    }
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    defer { try? file.close() }
    let offset = UInt64((number - 1) * size)
    try file.seek(toOffset: offset)
    var page = [UInt8](try file.read(upToCount: size) ?? Data())
    body(&page)
    try file.seek(toOffset: offset)
    try file.write(contentsOf: Data(page))
  }
}
