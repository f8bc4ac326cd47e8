import Batch
import BatchTesting
import Foundation
import Streams
import Testing

@Suite("Migrated fixtures")
struct MigratedStoreTests {
  private static func fixture(_ name: String = "fixture") throws -> (folder: MigrationFolder, store: String) {
    let folder = try MigrationFolder(MigrationModels.all)
    return (folder, try folder.copy(try folder.sample("V1", rows: 400, seed: 5), as: name))
  }

  @Test("The fixture is not touched, and the copy is gone with its owner")
  func copies() async throws {
    let (folder, store) = try Self.fixture()
    let before = try MigrationFolder.tree(folder.path)
    let path = try await {
      let migrated = try await MigratedStore(store, models: [folder.models])
      #expect(migrated.report.isVerified && migrated.report.targetVersion == "V3")
      #expect(FileManager.default.fileExists(atPath: migrated.path))
      return migrated.path
    }()
    #expect(!FileManager.default.fileExists(atPath: (path as NSString).deletingLastPathComponent))
    #expect(try MigrationFolder.tree(folder.path) == before)
  }

  @Test("Objects are read with attributes and relationships, as SQL finds them")
  func objects() async throws {
    let (folder, store) = try Self.fixture()
    let migrated = try await MigratedStore(store, models: [folder.models])
    let books = try migrated.objects("Book")
    let rows = try MigrationFolder.rows(migrated.path, "SELECT Z_PK, coalesce(ZWRITER, 0) FROM ZBOOK ORDER BY Z_PK")
    #expect(!books.isEmpty && books.map { "int64(\($0.key))|int64(\($0["writer"].keys.first ?? 0))" } == rows)
    let pages = try MigrationFolder.rows(
      migrated.path, "SELECT ZPAGES FROM ZBOOK WHERE ZPAGES IS NOT NULL ORDER BY Z_PK")
    #expect(books.compactMap { $0["pages"].integer.map { "int64(\($0))" } } == pages)
    let writer = try #require(books.first { !$0["writer"].keys.isEmpty })
    let human = try #require(try migrated.objects("Human", of: "writer", in: writer).first)
    #expect(human["books"].keys.contains(writer.key))
    #expect(try migrated.objects("Book", of: "books", in: human).allSatisfy { $0["writer"].keys == [human.key] })
    #expect(
      try migrated.count("Place") >= migrated.count("City")
        && migrated.objects("City").allSatisfy { $0.entity == "City" })
    #expect(books[0]["nothing"] == nil)
  }

  @Test("A store's log and its external data come with it")
  func companions() async throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let store = try folder.place("wal")
    try StoreSampler(model: try folder.model("V1"), rows: 300, seed: 2, intoLog: true)
      .write(to: store, fileSystem: LocalFileSystem(), progress: { _ in })
    let data = (store as NSString).deletingLastPathComponent + "/.Store_SUPPORT/_EXTERNAL_DATA"
    try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
    try "value".write(toFile: data + "/F", atomically: true, encoding: .utf8)
    let migrated = try await MigratedStore(store, models: [folder.models], to: "V2")
    #expect(migrated.report.targetVersion == "V2" && migrated.report.rowsRead > 0)
    let copied = (migrated.path as NSString).deletingLastPathComponent + "/.Store_SUPPORT/_EXTERNAL_DATA/F"
    #expect(FileManager.default.fileExists(atPath: copied))
    #expect(try migrated.count("Human") > 0)
  }

  @Test("What goes wrong is thrown, and nothing is left in the temporary folder")
  func failures() async throws {
    let (folder, store) = try Self.fixture()
    let missing = await #expect(throws: BatchError.self) {
      try await MigratedStore(store + "x", models: [folder.models])
    }
    #expect(missing?.code == .noSuchFile)
    let version = await #expect(throws: BatchError.self) {
      try await MigratedStore(store, models: [folder.models], to: "V9")
    }
    #expect(version?.code == .noModel)
    let migrated = try await MigratedStore(store, models: [folder.models])
    let entity = #expect(throws: BatchError.self) { try migrated.objects("Person") }
    #expect(entity?.code == .refused && entity?.hint?.contains("Human") == true)
    let many = #expect(throws: BatchError.self) { try migrated.object("Book", where: "nothing", is: nil) }
    #expect(many?.code == .failed && many?.entity == "Book")
  }

  @Test("Values compare with literals and say what they are")
  func values() {
    #expect(StoreValue.text("a") == "a" && StoreValue.integer(2) == 2 && StoreValue.real(0.5) == 0.5)
    #expect(StoreValue.boolean(true) == true && StoreValue.null == nil && StoreValue.list([1, "b"]) == [1, "b"])
    #expect(
      StoreValue.integer(2).number == 2 && StoreValue.real(0.5).number == 0.5 && StoreValue.text("a").number == nil)
    #expect(StoreValue.text("a").text == "a" && StoreValue.null.text == nil && StoreValue.text("1").integer == nil)
    #expect(StoreValue.object(["entity": "Book", "key": 7]).keys == [7] && StoreValue.list([3, 1]).keys == [3, 1])
    #expect(StoreValue.null.keys.isEmpty)
  }
}
