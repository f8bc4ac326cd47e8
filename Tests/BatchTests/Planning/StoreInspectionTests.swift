import Foundation
import GRDB
import Streams
import Testing

@testable import Codecs
@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreSamples

@Suite("Inspection")
struct StoreInspectionTests {
  private func inspect(_ path: String, _ models: ModelLibrary? = nil) throws -> StoreInspection {
    try StoreInspection(path: path, models: models, fileSystem: LocalFileSystem())
  }

  @Test(
    "A store that carries its model needs none: properties, join tables, external data are told; trap 1: nothing is written"
  )
  func ownModel() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let store = try folder.sample("V1", rows: 400, seed: 1)
    try CarriedStore.addHistory(store, entity: 1)
    try CarriedStore.write(store) {
      try $0.execute(sql: "ALTER TABLE ZBOOK ADD COLUMN ZOLD INTEGER; CREATE VIRTUAL TABLE W USING fts5(x)")
    }
    let before = try MigrationFolder.tree(folder.path)
    let found = try inspect(store)
    #expect(try MigrationFolder.tree(folder.path) == before)
    #expect(found.modelSource == .cached && found.modelCache == "usable")
    #expect(found.problems == [])
    let city = try #require(found.entities.first { $0.name == "City" })
    #expect(
      city.properties == [.init(name: "population", kind: "attribute", type: "integer32", place: "ZPLACE.ZPOPULATION")])
    #expect(found.entities.reduce(0) { $0 + ($1.rows ?? 0) } == 400)
    #expect(found.tables.filter { $0.kind == .join }.allSatisfy { $0.relationship != nil && $0.rows != nil })
    #expect(
      found.tables.filter { $0.kind == .history }.map(\.name) == ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"])
    #expect(found.tables.first { $0.name == "ACHANGE" }?.rows == 40)
    #expect(found.tables.first { $0.name == "W" }?.kind == .virtual)
    #expect(found.unknownColumns == ["ZBOOK.ZOLD"])
  }

  @Test("Without model, cache or metadata the tables are still told, and what is missing is said")
  func damagedMetadata() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let store = try folder.sample("V1", rows: 100, seed: 1)
    for (change, words) in [
      ("UPDATE Z_MODELCACHE SET Z_CONTENT = x'123456'", "cannot be unpacked"),
      ("DELETE FROM Z_MODELCACHE", "no model is known"),
      ("UPDATE Z_METADATA SET Z_PLIST = x'62706c697374303041'", "cannot be read"),
      ("UPDATE Z_METADATA SET Z_PLIST = NULL", "is missing"),
    ] {
      try CarriedStore.write(store) { try $0.execute(sql: change) }
      let found = try inspect(store)
      #expect(
        (found.problems + found.traps + [found.modelCache]).contains { $0.contains(words) }, "\(change): \(found)")
      #expect(found.entities.reduce(0) { $0 + ($1.rows ?? 0) } == 100)
    }
    let error = #expect(throws: BatchError.self) { try folder.migrate(folder.request(store)) }
    #expect(error?.code == .badStore && error?.path == store)
  }

  @Test("Without metadata the store's own model and its UUID still count")
  func modelWithoutMetadata() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let store = try folder.sample("V1", rows: 100, seed: 1)
    let uuid = try inspect(store).uuid
    try CarriedStore.write(store) { try $0.execute(sql: "UPDATE Z_METADATA SET Z_PLIST = NULL") }
    let found = try inspect(store)
    #expect(found.uuid == uuid && uuid.count == 36)
    #expect(found.modelSource == .cached)
    #expect(found.modelCache.contains("no version hashes"))
    #expect(found.entities.contains { !$0.properties.isEmpty })
  }

  @Test("An entity that Z_PRIMARYKEY has under its old name is told under the model's, with its rows")
  func oldEntityName() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let store = try folder.sample("V1", rows: 100, seed: 1)
    let before = try inspect(store).entities
    try CarriedStore.write(store) {
      try $0.execute(sql: "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Tome' WHERE Z_NAME = 'Book'")
    }
    let found = try inspect(store)
    #expect(found.entities.map(\.name) == before.map(\.name))
    #expect(found.entities.map(\.rows) == before.map(\.rows))
    #expect(found.entities.map(\.versionHash) == before.map(\.versionHash))
    #expect(found.problems == [])
  }

  @Test("Damage in one table does not hide the others")
  func oneDamagedTable() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let store = try folder.sample("V1", rows: 400, seed: 1)
    let root = try MigrationFolder.rows(store, "SELECT rootpage FROM sqlite_master WHERE name = 'ZBOOK'")
    let page = try #require(Int(root[0].filter(\.isNumber).dropFirst(2)))
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: store))
    try file.seek(toOffset: UInt64((page - 1) * 4096))
    try file.write(contentsOf: Data(repeating: 0xEE, count: 200))
    try file.close()
    let found = try inspect(store)
    #expect(found.problems.contains { $0.contains("ZBOOK") && $0.contains("page \(page)") })
    #expect(found.entities.first { $0.name == "Book" }?.rows == nil)
    #expect(found.entities.first { $0.name == "Person" }?.rows ?? 0 > 0)
  }

  @Test("A file that is no SQLite store is named for what it is")
  func otherFiles() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let noise = (0..<2048).flatMap { index in
      withUnsafeBytes(of: SampleHash.word(7, UInt64(index)).littleEndian) { Array($0) }
    }
    let files: [(bytes: [UInt8], words: String)] = [
      ([], "empty"),
      (Array("<?xml version=\"1.0\"?>\n<!DOCTYPE database SYSTEM \"x\">\n<database>".utf8), "an XML store"),
      (Array("<?xml version=\"1.0\"?>\n<plist>".utf8), "an XML file"), (Array("CoreData\0\0".utf8), "a binary store"),
      (Array("bplist00".utf8), "property list"), ([0x1f, 0x8b, 8, 0], "compressed"), (noise, "encrypted"),
      (Array("SQLite format 3\0".utf8) + [0x10, 0, 1, 1, 80, 0x40, 0x20, 0x20] + noise[24...], "encrypted"),
      (Array("hello".utf8), "no SQLite database"),
    ]
    for (bytes, words) in files {
      let path = try folder.place("file")
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let error = #expect(throws: BatchError.self) { try inspect(path) }
      #expect(
        error?.code == (words == "an XML store" ? .xmlStore : .badStore) && error?.message.contains(words) == true
          && error?.hint != nil,
        "\(words): \(error?.message ?? "")")
    }
  }

  @Test("Version hashes of a kind that is not known belong to a newer framework")
  func newerFramework() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let store = try folder.sample("V1", rows: 10, seed: 1)
    _ = try MetadataEditor.change(store) { entries in
      var entries = entries
      entries["NSPersistenceFrameworkVersion"] = .integer(9999)
      return entries
    }
    #expect(try inspect(store).traps.contains { $0.contains("9999") })
    var request = folder.request(store)
    request.target = .identity
    #expect(try MigrationJob().plan(request).notes.contains { $0.contains("9999") })
    let reader = try StoreReader(path: store, fileSystem: LocalFileSystem(), locking: .none)
    defer { reader.close() }
    var entries = reader.metadata.entries
    entries["NSStoreModelVersionHashesVersion"] = .integer(4)
    let error = #expect(throws: BatchError.self) {
      try StoreMetadata(uuid: "x", plist: PropertyListWriter.write(.dictionary(entries)), path: store)
    }
    #expect(error?.hint?.contains("newer") == true)
  }

  @Test(
    "Every real store is inspected, by its own model where it has one, and nothing is written",
    .enabled(if: StoreCorpus.isPresent, "needs real stores: set GODWIT_CORPUS"))
  func realStores() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    var (cached, rows) = (0, UInt64(0))
    for (number, entry) in try StoreCorpus.stores().enumerated() {
      let store = try folder.place("real-\(number)")
      try StoreCorpus.copy(entry, to: store)
      let before = try MigrationFolder.tree(FilePaths.directory(of: store))
      let found = try inspect(store)
      #expect(try MigrationFolder.tree(FilePaths.directory(of: store)) == before, "\(entry.path)")
      if found.modelSource == .cached { cached += 1 }
      rows += found.entities.reduce(0) { $0 + ($1.rows ?? 0) }
      #expect(found.problems.isEmpty || entry.path.contains("v2CorruptDatabase"), "\(entry.path): \(found.problems)")
      #expect(found.entities.allSatisfy { $0.rows != nil }, "\(entry.path)")
    }
    print("inspection: \(cached) stores by their own model, \(rows) objects")
    #expect(cached == 54)
  }

  @Test("Without counting, samples tell the same of a small store, and that values outside were not looked for")
  func samples() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let store = try folder.sample("V1", rows: 3000, seed: 1)
    let reader = try SourceStore.open(store, LocalFileSystem(), locking: .shared, forInspection: true)
    defer { reader.close() }
    var inspector = StoreInspector(reader, models: nil, fileSystem: LocalFileSystem(), counts: false)
    let (found, counted) = (try inspector.inspect(), try inspect(store))
    for (sample, exact) in zip(found.entities, counted.entities) {
      let (rows, all) = (Double(sample.rows ?? 0), Double(exact.rows ?? 0))
      #expect(sample.isEstimate ? abs(rows - all) <= all / 5 : rows == all, "\(sample) \(all)")
    }
    #expect(found.entities.count == counted.entities.count && found.entities.contains { $0.rows ?? 0 > 0 })
    #expect(found.skipsExternalData == (counted.externalData != nil) && counted.entities.allSatisfy { !$0.isEstimate })
  }
}
