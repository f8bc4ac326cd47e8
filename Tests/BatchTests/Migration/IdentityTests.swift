import Foundation
import GRDB
import Streams
import Testing

@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations

/// An identity migration changes the file and nothing in it.
@Suite struct IdentityTests {
  private func identity(_ folder: MigrationFolder, _ store: String) throws -> String {
    let output = try folder.place("identity")
    var request = folder.request(store, output: output)
    request.target = .identity
    let report = try folder.migrate(request)
    #expect(report.isVerified)
    #expect(report.notes == [])
    return output
  }

  private func expectSame(_ old: String, _ new: String) throws {
    #expect(try CarriedStore.schema(old) == CarriedStore.schema(new))
    let (before, after) = (try CarriedStore.contents(old), try CarriedStore.contents(new))
    #expect(before.keys.sorted() == after.keys.sorted())
    for (table, rows) in before { #expect(rows == after[table], "\(table)") }
    #expect(try MigrationFolder.rows(new, "PRAGMA integrity_check") == ["string(\"ok\")"])
    let plists = try [old, new].map {
      try StoreReader(path: $0, fileSystem: LocalFileSystem(), locking: .none).metadata
    }
    #expect(plists[0] == plists[1])
  }

  @Test("Every construct that a model can have is read and written back", arguments: [UInt64(1), 2])
  func everyConstruct(seed: UInt64) throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let store = try folder.sample("V1", rows: 900, seed: seed)
    try expectSame(store, try identity(folder, store))
  }

  @Test("History, other tables, virtual tables, triggers, views, odd indexes and unknown columns are kept as they are")
  func everythingElse() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let store = try folder.sample("V1", rows: 300, seed: 3)
    try CarriedStore.addHistory(store, entity: 1, hasBitmaps: true)
    try CarriedStore.write(store) { db in
      try db.execute(
        sql: """
          CREATE TABLE Notes (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT COLLATE NOCASE UNIQUE, half GENERATED ALWAYS AS (id / 2));
          INSERT INTO Notes (text) VALUES ('b'), ('A'), ('c'), (NULL);
          CREATE INDEX NotesHalf ON Notes (half);
          CREATE TABLE Pairs (a TEXT, b INTEGER, note BLOB, PRIMARY KEY (b DESC, a)) WITHOUT ROWID;
          CREATE INDEX PairsNote ON Pairs (note);
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
          INSERT INTO Pairs SELECT hex(randomblob(20)), i, zeroblob(i % 1500) FROM n;
          CREATE VIRTUAL TABLE Words USING fts5(word);
          INSERT INTO Words VALUES ('one two'), ('two three');
          CREATE VIRTUAL TABLE Z_RT_Place_area USING rtree(Z_PK, x0, x1);
          INSERT INTO Z_RT_Place_area VALUES (1, 0, 1), (2, 5, 6);
          CREATE VIEW Titles AS SELECT Z_PK FROM ZBOOK;
          UPDATE ZBOOK SET Z_OPT = 9 WHERE Z_PK = 1;
          CREATE TRIGGER Z_DA_ZBOOK AFTER UPDATE ON ZBOOK BEGIN SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('x', 1); END;
          ALTER TABLE ZBOOK ADD COLUMN ZOLD INTEGER DEFAULT 7;
          CREATE INDEX BookPartly ON ZBOOK (ZTITLE) WHERE ZPAGES > 100;
          CREATE INDEX BookShout ON ZBOOK (upper(ZTITLE), Z_PK);
          CREATE INDEX BookAgain ON ZBOOK (ZTITLE DESC);
          ANALYZE;
          """)
    }
    let output = try identity(folder, store)
    try expectSame(store, output)
    // Still in use: virtual tables answer, indexes are found, AUTOINCREMENT goes on.
    try CarriedStore.write(output) { db in
      #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM Words WHERE word MATCH 'two'") == 2)
      #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM Z_RT_Place_area WHERE x0 > 2") == 1)
      try db.execute(sql: "INSERT INTO Notes (text) VALUES ('d'); DELETE FROM Pairs WHERE b < 500")
      #expect(try Int.fetchOne(db, sql: "SELECT max(id) FROM Notes") == 5)
    }
    #expect(try MigrationFolder.rows(output, "PRAGMA integrity_check") == ["string(\"ok\")"])
  }

  @Test("Keys that lead nowhere are kept, counted, and no reason to refuse the result")
  func danglingKeys() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let store = try folder.sample("V1", rows: 300, seed: 4)
    try CarriedStore.write(store) { try $0.execute(sql: "UPDATE ZBOOK SET ZAUTHOR = 99999 WHERE Z_PK IN (2, 5)") }
    try expectSame(store, try identity(folder, store))
  }

  @Test("A name that Z_PRIMARYKEY kept from before a rename stays")
  func oldEntityName() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let store = try folder.sample("V1", rows: 300, seed: 5)
    try CarriedStore.write(store) {
      try $0.execute(sql: "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Tome' WHERE Z_NAME = 'Book'")
    }
    try expectSame(store, try identity(folder, store))
  }

  @Test("Rows that lie in the -wal file only are taken along")
  func writeAheadLog() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let store = try folder.sample("V1", rows: 300, seed: 6)
    let queue = try DatabaseQueue(path: store)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
      try db.execute(sql: "UPDATE ZBOOK SET ZTITLE = 'from the log'; DELETE FROM ZTAG WHERE Z_PK % 2 = 0")
    }
    let copy = try folder.copy(store, as: "copy")
    try queue.close()
    let output = try identity(folder, copy)
    try expectSame(store, output)
    #expect(try MigrationFolder.rows(output, "SELECT DISTINCT ZTITLE FROM ZBOOK") == ["string(\"from the log\")"])
  }

  @Test("An identity migration that is interrupted anywhere ends with the same bytes")
  func interrupted() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let store = try folder.sample("V1", rows: 2000, seed: 7)
    try CarriedStore.addHistory(store, entity: 1)
    try CarriedStore.write(store) { db in
      try db.execute(sql: "CREATE TABLE Pairs (a TEXT PRIMARY KEY, b BLOB) WITHOUT ROWID")
      for key in 1...500 {
        try db.execute(sql: "INSERT INTO Pairs VALUES (?, zeroblob(300))", arguments: ["key \(key)"])
      }
    }
    let expected = try MigrationFolder.bytes(try identity(folder, store))
    let stops = try folder.stopped(every: 9) { count in
      var request = folder.request(store, output: try folder.place("stop-\(count)"))
      request.target = .identity
      return request
    } finished: { output, count in
      let bytes = try MigrationFolder.bytes(output)
      #expect(bytes == expected, "stopped after \(count)")
    }
    #expect(stops > 3)
  }
}
