import CoreDataStore
import Foundation
import GRDB
import MappingModels
import Migrations
import Streams
import Testing

@testable import SwiftDataModels

@Suite(
  "Tables and indexes of SwiftData's stores follow from their sources",
  .enabled(if: SwiftDataCorpus.isPresent, "\(SwiftDataCorpus.missing)"))
struct SwiftDataLayoutCorpusTests {
  /// The schema of a copy of the store, its log included.
  private static func schema(_ store: String) throws -> [(name: String, sql: String)] {
    let copy = FileManager.default.temporaryDirectory.appendingPathComponent("swiftdata-\(UUID().uuidString)").path
    defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) } }
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store + suffix) {
      try FileManager.default.copyItem(atPath: store + suffix, toPath: copy + suffix)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy + suffix)
    }
    let queue = try DatabaseQueue(path: copy)
    defer { try? queue.close() }
    let history: Set<String> = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
    return try queue.read { database in
      try Row.fetchAll(database, sql: "SELECT name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
        .filter { !history.contains($0["tbl_name"]) && !($0["name"] as String).hasPrefix("sqlite_") }
        .map { ($0["name"], $0["sql"]) }
    }
  }

  @Test("Every table and index, to the letter and no other", arguments: SwiftDataCorpus.entries)
  func schema(_ entry: SwiftDataCorpus.Entry) throws {
    let layout = try StoreLayout(model: try #require(try SwiftDataCorpus.model(entry)))
    let tables = layout.entityTables.map { ($0.name, $0.sql) } + layout.joinTables.map { ($0.name, $0.sql) }
    let fixed = StoreLayout.fixedTables.map { ($0.name, $0.sql) }
    let wanted = Set((tables + fixed + layout.indexes.map { ($0.name, $0.sql) }).map(\.1))
    let found = Set(try Self.schema(entry.store).map(\.sql))
    #expect(wanted.subtracting(found).sorted() == [], "predicted, and not in \(entry)")
    #expect(found.subtracting(wanted).sorted() == [], "in \(entry), and not predicted")
  }

  @Test("The model that a store carries is the one that its sources make", arguments: SwiftDataCorpus.entries)
  func caches(_ entry: SwiftDataCorpus.Entry) throws {
    let reader = try SourceStore.open(entry.store, LocalFileSystem(), locking: .shared)
    defer { reader.close() }
    let cached = try StoreModel.find(of: reader, in: nil)
    let difference = ModelDifference(from: cached, to: try #require(try SwiftDataCorpus.model(entry)))
    #expect(difference.entities == [] && !difference.changesVersionHashes, "\(difference)")
    // The oldest framework's model has nothing that shows who made it.
    #expect(difference.changes.map(\.facet) == (cached.isOfSwiftData ? [] : ["isUsedWithSwiftData"]))
  }
}
