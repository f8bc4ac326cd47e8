import CoreDataStore
import Foundation
import Streams
import Testing

@testable import SwiftDataModels

@Suite(
  "A store of SwiftData is migrated by its sources alone",
  .enabled(if: ExampleCorpus.isPresent && SourceParser.isThere, "set GODWIT_CORPUS to the corpus"))
struct SwiftPlanCorpusTests {
  private static func metadata(_ store: String) throws -> StoreMetadata {
    let reader = try SourceStore.open(store, LocalFileSystem(), locking: .shared)
    defer { reader.close() }
    return reader.metadata
  }

  @Test("Version 1 of myhome becomes what its own version 2 says of tables, indexes, metadata and history")
  func myhome() throws {
    let folder = try CommandFolder(readsSwift: true)
    let store = try MyHome.copy("MyHomeV1Seed.store", to: folder)
    let other = try MyHome.copy("MyHomeV2Seed.store", to: folder)
    let (old, wanted) = (try Self.metadata(store), try Self.metadata(other))
    let history = "SELECT * FROM ATRANSACTION"
    let transactions = try ExampleFolder.rows(store, history)
    let done = try folder.run(
      "godwit", ["migrate", store, "--models", MyHome.sources, "--to", "2.0.0"])
    #expect(done.code == 0, "\(done)")
    let schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"
    #expect(try ExampleFolder.rows(store, schema) == ExampleFolder.rows(other, schema))
    let entities = "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY"
    #expect(try ExampleFolder.rows(store, entities) == ExampleFolder.rows(other, entities))
    let found = try Self.metadata(store)
    #expect(found.uuid == old.uuid && found.versionHashes == wanted.versionHashes)
    #expect(found.versionIdentifiers == wanted.versionIdentifiers && wanted.versionIdentifiers == ["2.0.0"])
    // The expense's number is another one now, and the history follows it.
    #expect(try ExampleFolder.rows(store, "SELECT ZENTITY AS e FROM ACHANGE") == ["[e:2]"])
    #expect(try ExampleFolder.rows(store, history) == transactions)
  }
}
