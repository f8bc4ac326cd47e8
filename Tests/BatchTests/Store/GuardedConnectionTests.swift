import Foundation
import GRDB
import Testing

@testable import CoreDataStore
@testable import MigrationJobs
@testable import StoreVerification

@Suite("What SQLite may do with a file that others made") struct GuardedConnectionTests {
  private let folder: MigrationFolder
  private let store: String
  private var outside: String { folder.path + "/outside.sqlite" }

  init() throws {
    folder = try MigrationFolder([MigrationModels.first, MigrationModels.second])
    store = try folder.sample("V1", rows: 30, seed: 1)
  }

  /// Every way in which the program opens SQLite.
  private func connections() throws -> [(name: String, run: (String) throws -> Void)] {
    let queue = try DatabaseQueue(path: store, configuration: GuardedConnection.configuration)
    let editor = try MetadataConnection(store)
    let judge = try StoreConnection(path: store)
    return [
      ("configuration", { sql in try queue.inDatabase { try $0.execute(sql: sql) } }),
      ("editor", { try editor.run($0) }),
      ("judge", { try judge.rows($0) { _ in } }),
    ]
  }

  @Test(
    "No extension is loaded, nothing is attached, no file is written, and SQL changes no schema by hand, on any connection"
  )
  func ways() throws {
    try CarriedStore.write(store) { try $0.execute(sql: "CREATE TABLE Notes (text)") }
    for (name, run) in try connections() {
      for sql in [
        "SELECT load_extension('evil')", "ATTACH '\(outside)' AS other", "VACUUM INTO '\(outside)'",
        "UPDATE sqlite_master SET sql = 'CREATE TABLE Notes (evil)' WHERE name = 'Notes'",
        "SELECT writefile('\(outside)', 'x')", "SELECT readfile('/etc/passwd')",
      ] {
        #expect(throws: (any Error).self, "\(name): \(sql)") { try run(sql) }
      }
      #expect(!FileManager.default.fileExists(atPath: outside), "\(name)")
    }
  }

  @Test("Triggers, views and generated columns that call functions are carried as text, and never run")
  func schema() throws {
    try CarriedStore.write(store) { db in
      try db.execute(
        sql: """
          CREATE TABLE Notes (text, loud AS (upper(text)));
          INSERT INTO Notes (text) VALUES ('a');
          CREATE VIEW Evil AS SELECT load_extension('evil');
          CREATE TRIGGER Written AFTER INSERT ON ZBOOK BEGIN SELECT load_extension('evil'); INSERT INTO Notes (text) VALUES ('b'); END;
          """)
    }
    let report = try folder.migrate(folder.request(store))
    #expect(report.isVerified)
    #expect(try MigrationFolder.rows(store, "SELECT text FROM Notes") == ["string(\"a\")"])
  }
}
