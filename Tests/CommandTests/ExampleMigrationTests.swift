import Foundation
import GRDB
import Testing

@testable import BookMigration
@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations

@Suite("The example's program")
struct ExampleMigrationTests {
  @Test("Every policy that a mapping model names is registered, and looks up only what its destination has")
  func policies() throws {
    let library = try ModelLibrary(paths: [ExampleFolder.models])
    let steps = try VersionPath.find(
      from: library.target(named: "Library 1"), to: library.target(named: "Library 3"), library: library,
      mappings: MappingModelReader.read(path: ExampleFolder.mappings))
    var found: [String] = []
    for step in steps {
      for mapping in step.mappingModels.flatMap(\.entityMappings) {
        guard let policy = try ExampleFolder.policies.policy(for: mapping) else { continue }
        found.append(type(of: policy).className)
        for lookup in policy.lookups(for: mapping) {
          #expect(step.destination.attribute(lookup.attribute, of: lookup.entity) != nil)
        }
      }
    }
    #expect(found == ["LibraryBookPolicy", "LibraryBookPolicy"])
  }

  @Test("A library migrates from version 1 to 3 with the rows that the benchmark's SQL gives", arguments: [1, 2])
  func library(seed: UInt64) throws {
    let folder = try ExampleFolder()
    let store = try folder.library(books: 700, users: 40, seed: seed)
    let peer = try peer(of: store, in: folder)
    let report = try folder.migrate(store, models: ExampleFolder.models, mappings: ExampleFolder.mappings)
    #expect(report.targetVersion == "Library 3" && report.isVerified)
    for sql in [
      "SELECT * FROM ZAUTHOR", "SELECT * FROM ZBOOK", "SELECT * FROM ZFILE", "SELECT * FROM ZUSER",
      "SELECT * FROM Z_1BOOKS ORDER BY Z_1AUTHORS, Z_2BOOKS", "SELECT * FROM Z_PRIMARYKEY",
      "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name <> 'Z_MODELCACHE' ORDER BY name",
      "SELECT Z_UUID FROM Z_METADATA",
    ] {
      let (own, wanted) = (try ExampleFolder.rows(store, sql), try ExampleFolder.rows(peer, sql))
      #expect(!own.isEmpty && own == wanted, "seed \(seed): \(sql)")
    }
    #expect(try ExampleFolder.rows(store, "PRAGMA integrity_check") == ["[integrity_check:\"ok\"]"])
  }

  private func peer(of store: String, in folder: ExampleFolder) throws -> String {
    let path = folder.path + "/peer.sqlite"
    let sql = try String(contentsOfFile: ExampleFolder.root + "/Benchmarks/peer.sql", encoding: .utf8)
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "ATTACH ? AS source", arguments: [store])
      try db.execute(sql: sql)
    }
    try queue.close()
    return path
  }
}

@Suite("objc.io's example of a migration", .enabled(if: ExampleCorpus.isPresent))
struct ExampleObjcTests {
  // The corpus is no part of the repository; where it is missing there is nothing to migrate.
  @Test("Authors become objects, files belong to the last user with the id, and URLs keep their bytes")
  func bookMigration() throws {
    let folder = try ExampleFolder()
    let name = "objcio+issue-4-core-data-migration"
    let store = folder.path + "/Model1.sqlite"
    let original = "\(ExampleCorpus.root)/stores/\(name)/Model1.sqlite"
    try FileManager.default.copyItem(atPath: original, toPath: store)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: store)
    let report = try folder.migrate(
      store, models: "\(ExampleCorpus.root)/models/\(name)", mappings: "\(ExampleCorpus.root)/mappings/\(name)")
    #expect(report.targetVersion == "Model3")
    for (sql, wanted) in [
      ("SELECT count(*) AS n FROM ZBOOK", 4), ("SELECT count(*) AS n FROM ZAUTHOR", 3),
      ("SELECT count(*) AS n FROM ZFILE", 4), ("SELECT count(*) AS n FROM ZUSER", 3),
      ("SELECT count(*) AS n FROM Z_1BOOKS", 4), ("SELECT count(*) AS n FROM ZAUTHOR WHERE ZNAME = 'Franz Kafka'", 1),
      (
        "SELECT count(*) AS n FROM Z_1BOOKS JOIN ZAUTHOR ON Z_PK = Z_1AUTHORS WHERE ZNAME = 'Franz Kafka'", 2
      ),
      ("SELECT count(*) AS n FROM ZFILE JOIN ZBOOK ON ZBOOK.Z_PK = ZFILE.ZBOOK", 4),
      ("SELECT count(*) AS n FROM ZFILE WHERE ZUSER = (SELECT max(Z_PK) FROM ZUSER WHERE ZUSERID = 1)", 4),
    ] {
      #expect(try ExampleFolder.rows(store, sql) == ["[n:\(wanted)]"], "\(sql)")
    }
    let before = try ExampleFolder.rows(original, "SELECT hex(ZFILEURL) AS u FROM ZBOOK ORDER BY Z_PK")
    #expect(try ExampleFolder.rows(store, "SELECT hex(ZFILEURL) AS u FROM ZFILE ORDER BY ZBOOK") == before)
    let uuid = "SELECT Z_UUID FROM Z_METADATA"
    #expect(try ExampleFolder.rows(store, uuid) == ExampleFolder.rows(original, uuid))
  }
}

/// Real models and stores made by others, found by the variable GODWIT_CORPUS or above this file.
enum ExampleCorpus {
  static let root: String = {
    if let path = ProcessInfo.processInfo.environment["GODWIT_CORPUS"] { return path }
    var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    while folder.path != "/" {
      let candidate = folder.appendingPathComponent("shared/corpus").path
      if FileManager.default.fileExists(atPath: candidate) { return candidate }
      folder = folder.deletingLastPathComponent()
    }
    return ""
  }()

  static var isPresent: Bool { !root.isEmpty }
}
