import Foundation
import GRDB

@testable import CoreDataModel
@testable import CoreDataStore
@testable import StoreVerification

/// A small store made through SQL alone: every shape of relationship, names that are not plain, seeded contents.
final class VerificationStore {
  static let uuid = "6D3B7A61-7A0C-4A53-9D8C-1E4A0C5D2B11"
  static let (books, authors, readers) = (60, 20, 10)
  /// Files 1 to this one have their data outside the store.
  static let outside: Int64 = 10
  /// The name of the file with that data.
  static func file(_ key: Int64) -> String { "\(10_000_000 + key)-0000-4000-8000-000000000000" }

  let folder: URL
  var path: String { folder.appendingPathComponent("a store?#%41.sqlite").path }
  let layout: StoreLayout
  private(set) var expectedRows: [String: UInt64] = [:]

  static func model() -> ManagedObjectModel {
    var person = StoreModels.entity(
      "Person", [("name", .string)], [StoreModels.link("owned", "Book", "owner", many: true)])
    person.isAbstract = true
    person.attributes[0].isOptional = false
    var book = StoreModels.entity(
      "Book", [("isbn", .string), ("pages", .integer32), ("price", .double), ("added", .date)],
      [
        StoreModels.link("authors", "Author", "books", many: true), StoreModels.link("file", "File", "book"),
        StoreModels.link("owner", "Person", "owned"), StoreModels.link("shelf", "She\"lf", "books"),
        StoreModels.link("writer", "Author", nil),
      ])
    var file = StoreModels.entity(
      "File", [("path", .string), ("data", .binaryData)], [StoreModels.link("book", "Book", "file")])
    file.attributes[1].allowsExternalBinaryDataStorage = true
    book.uniquenessConstraints = [["isbn"]]
    book.indexes = [
      .init(name: "byPrice", elements: [.init(property: "price", isAscending: false), .init(property: "added")])
    ]
    return ManagedObjectModel(
      name: "Verified",
      entities: [
        person, book,
        StoreModels.entity(
          "Author", parent: "Person", [],
          [
            StoreModels.link("books", "Book", "authors", many: true, ordered: true),
            StoreModels.link("friends", "Author", "friends", many: true),
          ]),
        StoreModels.entity("Reader", parent: "Person", [], [StoreModels.link("wishes", "Book", nil, many: true)]),
        file,
        StoreModels.entity(
          "She\"lf", [("x\" (y", .string)], [StoreModels.link("books", "Book", "shelf", many: true, ordered: true)]),
      ])
  }

  init(seed: UInt64) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("verify-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    layout = try StoreLayout(model: Self.model())
    var random = SeededRandom(seed)
    try change { database in
      try database.execute(sql: "PRAGMA page_size = 1024; PRAGMA auto_vacuum = 2")
      for sql in StoreLayout.fixedTables.map(\.sql) + layout.entityTables.map(\.sql) + layout.joinTables.map(\.sql) {
        try database.execute(sql: sql)
      }
      for index in layout.indexes { try database.execute(sql: index.sql) }
      try database.execute(sql: "BEGIN")
      try fill(database, &random)
      try database.execute(sql: "COMMIT")
      for name in layout.entityTables.map(\.name) + layout.joinTables.map(\.name) {
        let sql = "SELECT count(*) FROM \(StoreConnection.quoted(name))"
        expectedRows[name] = UInt64(try Int.fetchOne(database, sql: sql) ?? 0)
      }
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Runs SQL on the file, through a connection of its own.
  func change(_ body: (Database) throws -> Void) throws {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    // Files of a test need not survive a power cut.
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF") }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.inDatabase(body)
    try queue.close()
  }

  func change(_ sql: String) throws { try change { try $0.execute(sql: sql) } }

  func verify(_ expectedRows: [String: UInt64]? = nil, mode: VerificationMode = .full) throws -> VerificationReport {
    try StoreVerifier(path: path, model: layout.model).verify(
      .init(uuid: Self.uuid, rows: expectedRows ?? self.expectedRows), mode: mode)
  }

  private func insert(_ table: String, _ values: [String: (any DatabaseValueConvertible)?], _ database: Database) throws
  {
    let names = values.keys.sorted()
    let columns = names.map(StoreConnection.quoted).joined(separator: ", ")
    let marks = names.map { _ in "?" }.joined(separator: ", ")
    let arguments = StatementArguments(names.map { values[$0] ?? nil })
    try database.execute(
      sql: "INSERT INTO \(StoreConnection.quoted(table)) (\(columns)) VALUES (\(marks))", arguments: arguments)
  }

  private func number(_ entity: String) -> Int { layout.entityNumbers[entity] ?? 0 }

  private func fill(_ database: Database, _ random: inout SeededRandom) throws {
    for key in 1...(Self.authors + Self.readers) {
      let entity = number(key <= Self.authors ? "Author" : "Reader")
      try insert("ZPERSON", ["Z_PK": key, "Z_ENT": entity, "Z_OPT": 1, "ZNAME": "Person \(key)"], database)
    }
    for key in 1...5 { try insert("ZSHE\"LF", ["Z_PK": key, "Z_ENT": number("She\"lf"), "ZX\" (Y": "s"], database) }
    let files = Array(1...Self.books).shuffled(using: &random)
    for key in 1...Self.books {
      let owner = Int.random(in: 1...(Self.authors + Self.readers), using: &random)
      try insert(
        "ZBOOK",
        [
          "Z_PK": key, "Z_ENT": number("Book"), "ZFILE": files[key - 1], "ZOWNER": owner,
          layout.entityColumn(forToOne: "owner", ofEntity: "Book")?.name ?? "":
            number(owner <= Self.authors ? "Author" : "Reader"),
          "ZSHELF": key % 6 == 0 ? nil : key % 5 + 1, "Z_FOK_SHELF": key * 1024,
          "ZWRITER": Int.random(in: 1...Self.authors, using: &random), "ZISBN": "978-\(key * 7919 % 1000)",
          "ZPRICE": Double(key % 9) / 2, "ZADDED": Double(key % 4) * 1e8, "ZPAGES": key % 7 == 0 ? nil : key,
          "Z\(number("Reader"))WISHES": key % 3 == 0 ? Self.authors + 1 + key % Self.readers : nil,
        ], database)
      try insert(
        "ZFILE", ["Z_PK": files[key - 1], "Z_ENT": number("File"), "ZBOOK": key, "ZPATH": "/\(key)"], database)
    }
    for join in layout.joinTables {
      let isFriends = join.relationship.name == "friends"
      for source in 1...Self.authors {
        for step in 1...4 {
          let destination = 1 + (source * 3 + step * 5) % (isFriends ? Self.authors : Self.books)
          var row = [join.sourceColumn: source, join.destinationColumn: destination]
          if let order = join.destinationOrderColumn { row[order] = step * 1024 }
          try insert(join.name, row, database)
        }
      }
    }
    try fillOutside(database)
    try fillFixedTables(database)
  }

  private func fillOutside(_ database: Database) throws {
    let files = ExternalDataFolder(store: path).files
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
    for key in 1...Self.outside {
      try Data("outside \(key)".utf8).write(to: URL(fileURLWithPath: files + "/" + Self.file(key)))
      let value = Data([2]) + Data(Self.file(key).utf8) + Data([0])
      try database.execute(sql: "UPDATE ZFILE SET ZDATA = ? WHERE Z_PK = ?", arguments: [value, key])
    }
  }

  private func fillFixedTables(_ database: Database) throws {
    let maxima = [
      "Person": Int64(Self.authors + Self.readers), "Book": Int64(Self.books), "File": Int64(Self.books), "She\"lf": 5,
    ]
    for row in PrimaryKeyTable(layout: layout, maxima: maxima).rows {
      try insert(
        "Z_PRIMARYKEY",
        ["Z_ENT": row.entityNumber, "Z_NAME": row.name, "Z_SUPER": row.superNumber, "Z_MAX": row.maximum], database)
    }
    let metadata = StoreMetadata.new(uuid: Self.uuid, versionHashes: layout.model.versionHashes, identifiers: [""])
    try insert(
      "Z_METADATA", ["Z_VERSION": 1, "Z_UUID": Self.uuid, "Z_PLIST": Data(metadata.encoded())], database)
  }
}

/// SplitMix64: the same numbers from the same seed, on every machine.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
