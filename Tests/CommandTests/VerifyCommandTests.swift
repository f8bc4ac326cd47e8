import Foundation
import GRDB
import Testing

@testable import Codecs
@testable import CoreDataModel
@testable import CoreDataStore

@Suite("verify, as a command") struct VerifyCommandTests {
  private let folder: CommandFolder
  private let source: String
  private let store: String
  /// TMPDIR of what verifies.
  private let temporary: String

  /// A library of version 1, and what mapping files make of it over two versions.
  init() throws {
    folder = try CommandFolder()
    source = try folder.sample("Old.sqlite", rows: 400)
    (store, temporary) = (folder.file("New.sqlite"), folder.newPath("tmp"))
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    let made = try folder.run("godwit", ["migrate", source, "--output", store] + Self.models)
    guard made.code == 0 else { throw CommandProcess.Missing(description: "no migrated store: \(made)") }
  }

  private static let models = [
    "--models", ExampleFolder.models, "--mappings", ExampleFolder.root + "/Examples/Mappings/Library",
  ]

  private func verify(_ store: String, _ arguments: [String] = []) throws -> CommandProcess.Outcome {
    // The folder's own time changes when a comparison makes its file there.
    let before = try folder.tree().filter { !$0.key.isEmpty }
    let outcome = try folder.run(
      "godwit", ["verify", store] + arguments, launcher: ["/usr/bin/env", "TMPDIR=\(temporary)"])
    #expect(try folder.tree().filter { !$0.key.isEmpty } == before, "trap 1: verify writes nothing and leaves nothing")
    return outcome
  }

  private func change(_ store: String, _ sql: String) throws {
    let queue = try DatabaseQueue(path: store)
    try queue.inDatabase { try $0.execute(sql: sql) }
    try queue.close()
  }

  private var against: [String] { ["--against", source] + Self.models }

  @Test(
    "A store that a chain of two steps made agrees with its source: exit code 0, in text and in JSON",
    arguments: ["fast", "full", "sqlite"])
  func agrees(mode: String) throws {
    let text = try verify(store, against + ["--verify", mode])
    #expect(text.code == 0 && text.output.contains("rows are equal to those that the migration gives"), "\(text)")
    // More than the rows of entities and links.
    #expect(text.output.contains(" tables, with those of Core Data itself, as Z_METADATA"), "\(text)")
    let alone = try verify(store, ["--verify", mode, "--json"])
    let found = try #require(try JSONSerialization.jsonObject(with: Data(alone.output.utf8)) as? [String: Any])
    #expect(alone.code == 0 && found["format"] as? Int == 1, "\(alone)")
    let report = try #require(found["report"] as? [String: Any])
    #expect((report["violations"] as? [Any])?.isEmpty == true)
  }

  @Test(
    "With its source a lost row, a changed value and a row too many are found, entity and key named, exit code 12",
    arguments: [
      ("DELETE FROM ZUSER WHERE Z_PK = 3", "differs: User 3, and 0 more rows of ZUSER"),
      ("UPDATE ZBOOK SET ZTITLE = 'another' WHERE Z_PK = 40", "differs: Book 40, and 0 more rows of ZBOOK"),
      (
        "INSERT INTO ZUSER (Z_PK, Z_ENT) SELECT 9999, Z_ENT FROM ZUSER LIMIT 1",
        "differs: User 9999, and 0 more rows of ZUSER"
      ),
    ])
  func differs(sql: String, words: String) throws {
    try change(store, sql)
    let outcome = try verify(store, against)
    #expect(outcome.code == 12 && outcome.output.contains(words), "\(outcome)")
  }

  @Test("A store that was made again in its own version is compared with its source, too")
  func identity() throws {
    let copy = folder.file("Copy.sqlite")
    let words = ["migrate", source, "--identity", "--output", copy] + Self.models
    #expect(try folder.run("godwit", words).code == 0)
    #expect(try verify(copy, against).code == 0)
    try change(copy, "DELETE FROM ZUSER WHERE Z_PK = 3")
    let outcome = try verify(copy, against)
    #expect(outcome.code == 12 && outcome.output.contains("differs: User 3, and 0 more rows of ZUSER"), "\(outcome)")
  }

  @Test("A lost link is found by the source alone, and named by its owner and the relationship")
  func lostLink() throws {
    let owner = try #require(
      try ExampleFolder.rows(store, "SELECT Z_1AUTHORS AS a FROM Z_1BOOKS WHERE rowid = 20").first)
    try change(store, "DELETE FROM Z_1BOOKS WHERE rowid = 20")
    #expect(try verify(store).code == 0)
    let outcome = try verify(store, against)
    let key = owner.filter(\.isNumber)
    #expect(outcome.code == 12 && outcome.output.contains("differs: Author \(key), books, and 0 more"), "\(outcome)")
  }

  @Test("Alone, a key that leads nowhere and a damaged page are found, exit code 12; a file that is no store has 30")
  func alone() throws {
    try change(store, "UPDATE ZFILE SET ZBOOK = 99999 WHERE Z_PK = 7")
    let dangling = try verify(store)
    #expect(dangling.code == 12 && dangling.output.contains("wrong: File 7, book: "), "\(dangling)")
    var bytes = try CommandFolder.bytes(store)
    bytes.replaceSubrange(4096..<4196, with: Data(repeating: 0xEE, count: 100))
    try bytes.write(to: URL(fileURLWithPath: store))
    let damaged = try verify(store)
    #expect([12, 30].contains(damaged.code) && (damaged.output + damaged.error).contains("page"), "\(damaged)")
    try Data("no store".utf8).write(to: URL(fileURLWithPath: store))
    #expect(try verify(store).code == 30)
  }

  @Test(
    "Trap 13: rows that only a source's -wal has are compared; a store with rows in a -wal is proved with them (fault 20)"
  )
  func log() throws {
    let logged = folder.file("Logged.sqlite")
    let made = try folder.run(
      "godwit",
      ["sample", ExampleFolder.models, "--version", "Library 1", "--rows", "400", "--wal", "--output", logged])
    #expect(made.code == 0)
    let new = folder.file("FromLog.sqlite")
    #expect(try folder.run("godwit", ["migrate", logged, "--output", new] + Self.models).code == 0)
    let outcome = try verify(new, ["--against", logged] + Self.models)
    #expect(outcome.code == 0, "\(outcome)")
    for mode in ["fast", "full", "sqlite"] {
      let proved = try verify(logged, ["--verify", mode])
      #expect(proved.code == 0 && proved.output.contains("\(logged): sound: 400 rows"), "\(proved)")
      #expect(proved.output.contains("note: the store has changes in its -wal file"), "\(proved)")
    }
    // A fault that only the log has is one of the store.
    try folder.breakInLog(store)
    let wrong = try verify(store, ["--json"])
    #expect(wrong.code == 12 && wrong.output.contains("\"path\" : \"\(store)\""), "\(wrong)")
    #expect(wrong.output.contains("-wal file: they were included"), "\(wrong)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
  }

  @Test(
    "A store with the rollback journal of an unfinished change is proved as it was before; its own files stay (fault 20)"
  )
  func journal() throws {
    var journal = Data([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])
    journal.append(Data(count: 600))
    try journal.write(to: URL(fileURLWithPath: store + "-journal"))
    let outcome = try verify(store)
    #expect(outcome.code == 0 && outcome.output.contains("\(store): "), "\(outcome)")
    #expect(outcome.output.contains("undone on a private copy"), "\(outcome)")
  }

  @Test("The summary of a migration accounts for every row and link of every step, in text and in JSON")
  func account() throws {
    let text = try folder.run("godwit", ["migrate", source, "--output", folder.file("A.sqlite")] + Self.models)
    #expect(
      text.output.contains("Library 1 to Library 2: 400 objects read, 400 written, 0 left out, 0 rejected, 3"),
      "\(text)")
    let json = try folder.run(
      "godwit", ["migrate", source, "--json", "--output", folder.file("B.sqlite")] + Self.models)
    let summary = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    let accounts = try #require(summary["accounts"] as? [[String: Any]])
    let books = try #require(
      (accounts.first?["objects"] as? [[String: Any]])?.first { $0["source"] as? String == "Book" })
    #expect(books["read"] as? Int == 390 && books["written"] as? Int == 390 && books["rejected"] as? Int == 0)
    let links = try #require((accounts.last?["links"] as? [[String: Any]])?.first)
    let rows = try ExampleFolder.rows(store, "SELECT count(*) AS n FROM Z_1BOOKS")
    #expect(rows == ["[n:\(links["written"] as? Int ?? -1)]"] && links["read"] as? Int == links["written"] as? Int)
    #expect(accounts.count == 2 && (accounts.first?["made"] as? [String: Any])?.keys.sorted() == ["Author"])
  }

  @Test(
    "Arguments that do not belong together are a usage error; other mapping models than the migration's show as differences"
  )
  func usage() throws {
    #expect(try verify(store, ["--verify", "none"]).code == 64)
    #expect(try verify(store, ["--mappings", ExampleFolder.mappings]).code == 64)
    #expect(try verify(store, ["--against", source]).code == 64)
    let other = try verify(store, ["--against", source, "--models", ExampleFolder.models])
    #expect(other.code == 12 && other.output.contains("differs: Author 1, and 389 more rows of ZAUTHOR"), "\(other)")
  }
}

@Suite("verify, with values outside the store") struct VerifyExternalDataTests {
  private let folder: CommandFolder
  private let models: String
  private let source: String
  private let store: String
  private static let file = "00000001-0000-4000-8000-000000000000"

  init() throws {
    folder = try CommandFolder()
    models = folder.newPath("Model.xcdatamodeld")
    var image = AttributeDescription(name: "image", type: .binaryData)
    image.allowsExternalBinaryDataStorage = true
    var photo = EntityDescription(name: "Photo")
    photo.attributes = [image]
    let first = ManagedObjectModel(name: "V1", entities: [photo])
    photo.attributes.append(AttributeDescription(name: "rating", type: .integer16))
    let second = ManagedObjectModel(name: "V2", entities: [photo])
    let bundle = ModelBundle(path: models, name: "Model", versions: [first, second], currentVersion: "V2")
    try ModelPackageWriter.write(bundle, to: models)
    (source, store) = (folder.file("Old.sqlite"), folder.file("New.sqlite"))
    _ = try folder.run("godwit", ["sample", models, "--version", "V1", "--rows", "5", "--output", source])
    let files = ExternalDataFolder(store: source).files
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
    try Data("a value".utf8).write(to: URL(fileURLWithPath: files + "/" + Self.file))
    let queue = try DatabaseQueue(path: source)
    try queue.inDatabase { db in
      let value = Data([2]) + Data(Self.file.utf8) + Data([0])
      try db.execute(sql: "UPDATE ZPHOTO SET ZIMAGE = CASE Z_PK WHEN 4 THEN ? END", arguments: [value])
    }
    try queue.close()
    let made = try folder.run("godwit", ["migrate", source, "--output", store, "--models", models])
    guard made.code == 0 else { throw CommandProcess.Missing(description: "no migrated store: \(made)") }
  }

  @Test("A missing file and one that is not the source's are found, entity, key and attribute named, exit code 12")
  func files() throws {
    let whole = try folder.run("godwit", ["verify", store, "--models", models, "--against", source])
    #expect(whole.code == 0 && whole.output.contains("files outside the store: 1, 1 of them shared with"), "\(whole)")
    // Without a source nothing is shared with one.
    #expect(try folder.run("godwit", ["verify", store]).output.contains("  files outside the store: 1\n"))
    let file = ExternalDataFolder(store: store).files + "/" + Self.file
    try FileManager.default.removeItem(atPath: file)
    let lost = try folder.run("godwit", ["verify", store])
    #expect(lost.code == 12 && lost.output.contains("wrong: Photo 4, image: the file of a value"), "\(lost)")
    try Data("A value".utf8).write(to: URL(fileURLWithPath: file))
    #expect(try folder.run("godwit", ["verify", store]).code == 0)
    let other = try folder.run("godwit", ["verify", store, "--models", models, "--against", source])
    #expect(
      other.code == 12 && other.output.contains("Photo 4, image: the file")
        && other.output.contains("not the source's"),
      "\(other)")
  }

  @Test("verify --hash says what was read of a store whose model is not known, too, and of a file that is no store")
  func hashOfUnknown() throws {
    let store = try folder.sample("Unknown.sqlite", rows: 50)
    try folder.forgetModel(of: store)
    let outcome = try folder.run("godwit", ["verify", store, "--hash"])
    let hash = SHA256.hash([UInt8](try CommandFolder.bytes(store))).hexadecimal
    #expect(outcome.code == 20 && outcome.error.contains("sha256 \(hash)  "), "\(outcome)")
    let other = folder.file("other.sqlite")
    try Data("no store".utf8).write(to: URL(fileURLWithPath: other))
    let refused = try folder.run("godwit", ["verify", other, "--hash"])
    #expect(refused.code == 30 && refused.error.contains("  8 bytes  \(other)"), "\(refused)")
  }
}
