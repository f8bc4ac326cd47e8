import Foundation
import GRDB

@testable import BookMigration
@testable import CoreDataModel
@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// The example of this repository with a temporary folder to run it in.
final class ExampleFolder {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path
  static let models = root + "/Examples/BookMigration/Library.xcdatamodeld"
  static let mappings = root + "/Examples/BookMigration/Mappings"
  /// What the example's program registers.
  static let policies = PolicyRegistry([
    MHWBookToBookPolicy.self, MHWUserToUserPolicy.self, LibraryBookPolicy.self,
  ])

  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("example-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Makes a store of version 1: keys with gaps, users without books, books without author or ISBN. Every book has a
  /// user, as the model demands.
  func library(books: Int, users: Int, seed: UInt64) throws -> String {
    let store = path + "/Library.sqlite"
    let model = try ModelLibrary(paths: [Self.models]).target(named: "Library 1")
    let layout = try StoreLayout(model: model)
    let queue = try DatabaseQueue(path: store)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA auto_vacuum = 2")
      for sql in layout.entityTables.map(\.sql) + StoreLayout.fixedTables.map(\.sql) { try db.execute(sql: sql) }
    }
    try queue.write { db in
      var random = ExampleRandom(state: seed)
      for user in 1...users {
        try db.execute(
          sql: "INSERT INTO ZUSER (Z_PK, Z_ENT, Z_OPT, ZUSERID, ZNAME) VALUES (?, 2, ?, ?, ?)",
          arguments: [user * 3, 1 + random.next(5), random.next(users), "Reader \(user)"])
      }
      for book in 1...books { try Self.insert(book, users: users, &random, db) }
      let plist = StoreMetadata.new(uuid: Self.uuid, versionHashes: model.versionHashes, identifiers: [""]).encoded()
      try db.execute(sql: "INSERT INTO Z_METADATA VALUES (1, ?, ?)", arguments: [Self.uuid, Data(plist)])
      try db.execute(
        sql: "INSERT INTO Z_PRIMARYKEY VALUES (1, 'Book', 0, ?), (2, 'User', 0, ?)",
        arguments: [
          books * 2 + 7, users * 3,
        ])
    }
    try queue.close()
    return store
  }

  static let uuid = "6E0E7C0B-9D3B-4E67-A6C4-0B5C3B1D7F21"

  private static func insert(_ book: Int, users: Int, _ random: inout ExampleRandom, _ db: Database) throws {
    let author = random.next(10) == 0 ? nil : "Author \(random.next(40)) Ünïcode"
    let user = random.next(20) == 0 ? 3 : (1 + random.next(users)) * 3
    // Whole seconds and halves: SQLite keeps the former as integers.
    try db.execute(
      sql: """
        INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZPAGES, ZUSER, ZPUBLISHED, ZRATING, ZAUTHORNAME, ZFILEURL, ZISBN, ZTITLE)
        VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
      arguments: [
        book * 2 + random.next(2), 1 + random.next(5), random.next(900), user, Double(random.next(1_000_000)) / 2,
        Double(random.next(10)) / 2, author, "file:///Library/\(book).epub",
        random.next(3) == 0 ? nil : "\(9_780_000_000_000 + random.next(1_000_000_000))",
        String(repeating: "Title ", count: random.next(40) == 0 ? 900 : 1 + random.next(6)),
      ])
  }

  /// Migrates a store in place, as the example's program does.
  func migrate(_ store: String, models: String, mappings: String) throws -> MigrationJob.Report {
    var request = MigrationJob.Request(source: store, models: [models], mappings: [mappings])
    request.interval = .bytes(1 << 16)
    return try MigrationJob(policies: Self.policies).migrate(request, monitor: RunMonitor(interval: request.interval))
  }

  /// Rows of a query, a text each; storage classes show.
  static func rows(_ store: String, _ sql: String) throws -> [String] {
    let queue = try DatabaseQueue(path: store)
    defer { try? queue.close() }
    return try queue.read { db in try Row.fetchAll(db, sql: sql).map(\.description) }
  }
}

/// SplitMix64: the same numbers on every machine.
struct ExampleRandom {
  var state: UInt64

  mutating func next(_ bound: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
  }
}
