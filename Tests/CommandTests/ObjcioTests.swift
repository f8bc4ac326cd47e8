import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import Migrations

// The corpus is no part of the repository: without it there is no store to migrate, and the suite says that it is
// skipped.
@Suite("objc.io's store through the program", .enabled(if: ExampleCorpus.isPresent, "set GODWIT_CORPUS to the corpus"))
struct ObjcioTests {
  private static let name = "objcio+issue-4-core-data-migration"
  private static let models = "\(ExampleCorpus.root)/models/\(name)"
  private static let arguments = ["--models", models, "--mappings", "\(ExampleCorpus.root)/mappings/\(name)"]

  private let folder: CommandFolder
  private let store: String
  private let original = "\(ExampleCorpus.root)/stores/\(name)/Model1.sqlite"

  init() throws {
    folder = try CommandFolder()
    store = folder.file("Model1.sqlite")
    try FileManager.default.copyItem(atPath: original, toPath: store)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: store)
  }

  private func migrate() throws -> CommandProcess.Outcome {
    try folder.run("book-migration", ["migrate", store] + Self.arguments)
  }

  @Test("It becomes Model3: authors once each, every file with its book and one user, all bytes of the URLs")
  func contents() throws {
    let outcome = try migrate()
    #expect(outcome.code == 0 && outcome.output.contains("version Model3") && outcome.output.contains("verified"))
    #expect(outcome.error.isEmpty)
    for (sql, wanted) in Self.counts {
      #expect(try ExampleFolder.rows(store, "SELECT count(*) AS n FROM " + sql) == ["[n:\(wanted)]"], "\(sql)")
    }
    let urls = try ExampleFolder.rows(original, "SELECT hex(ZFILEURL) AS u FROM ZBOOK ORDER BY Z_PK")
    #expect(try ExampleFolder.rows(store, "SELECT hex(ZFILEURL) AS u FROM ZFILE ORDER BY ZBOOK") == urls)
    #expect(urls.count == 4)
    #expect(try ExampleFolder.rows(store, "PRAGMA integrity_check") == ["[integrity_check:\"ok\"]"])
  }

  private static let counts = [
    ("ZBOOK", 4), ("ZAUTHOR", 3), ("ZFILE", 4), ("ZUSER", 3), ("Z_1BOOKS", 4),
    ("ZAUTHOR WHERE ZNAME = 'Franz Kafka'", 1),
    ("Z_1BOOKS JOIN ZAUTHOR ON Z_PK = Z_1AUTHORS WHERE ZNAME = 'Franz Kafka'", 2),
    ("ZFILE JOIN ZBOOK ON ZBOOK.Z_PK = ZFILE.ZBOOK", 4),
    ("ZFILE JOIN ZUSER ON ZUSER.Z_PK = ZFILE.ZUSER WHERE ZUSERID = 1", 4),
    ("ZFILE WHERE ZUSER = (SELECT max(Z_PK) FROM ZUSER WHERE ZUSERID = 1)", 4),
    ("(SELECT DISTINCT ZBOOK FROM ZFILE)", 4),
  ]

  @Test("Its metadata has the hashes of Model3 and the UUID that it had")
  func metadata() throws {
    #expect(try migrate().code == 0)
    let files = LocalFileSystem()
    let (old, new) = (
      try StoreReader(path: original, fileSystem: files, locking: .none),
      try StoreReader(path: store, fileSystem: files, locking: .none)
    )
    defer { for reader in [old, new] { reader.close() } }
    let model = try ModelLibrary(paths: [Self.models]).target(named: "Model3")
    #expect(new.metadata.versionHashes == model.versionHashes && model.versionHashes.count == 4)
    #expect(new.metadata.uuid == old.metadata.uuid)
  }

  @Test("The backup has the old bytes, nothing else is left, and a second run leaves everything alone")
  func backup() throws {
    #expect(try migrate().code == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names.count == 4 && names[0] == ".Model1.sqlite.godwit-report" && names[1] == "Model1.sqlite")
    #expect(names[2].hasPrefix("Model1.sqlite.backup-"))
    #expect(try CommandFolder.bytes(folder.file(names[2])) == CommandFolder.bytes(original))
    let before = try folder.tree()
    let again = try migrate()
    #expect(again.code == 0 && again.output.contains("nothing to do"))
    #expect(try folder.tree() == before)
  }
}
