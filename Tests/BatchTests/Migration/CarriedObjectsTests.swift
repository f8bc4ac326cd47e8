import Foundation
import GRDB
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// What a store has beyond its model, when the model changes: nothing becomes stale or is lost without a word.
@Suite struct CarriedObjectsTests {
  private let folder: MigrationFolder
  private let store: String

  init() throws {
    folder = try MigrationFolder([MigrationModels.first, MigrationModels.second])
    store = try folder.sample("V1", rows: 600, seed: 11)
  }

  private func number(_ entity: String, _ model: ManagedObjectModel) throws -> Int {
    try #require(try StoreLayout(model: model).entityNumbers[entity])
  }

  private func migrate(
    _ name: String = "new", _ change: (inout MigrationJob.Request) -> Void = { _ in }
  ) throws -> (path: String, report: MigrationJob.Report) {
    let output = try folder.place(name)
    var request = folder.request(store, output: output)
    request.target = .version("V2")
    change(&request)
    return (output, try folder.migrate(request))
  }

  private func refusal(_ change: (inout MigrationJob.Request) -> Void = { _ in }) throws -> BatchError {
    let before = try MigrationFolder.tree(folder.path)
    let error = try #require(throws: BatchError.self) { _ = try migrate("refused", change) }
    try? FileManager.default.removeItem(atPath: folder.path + "/refused")
    #expect(error.code == .refused)
    #expect(try MigrationFolder.tree(folder.path) == before)
    return error
  }

  @Test("History gets the new entity numbers where every row stays true")
  func historyIsRewritten() throws {
    // Chapter is the same in both versions, but for its number.
    let (old, new) = (try number("Chapter", MigrationModels.first), try number("Chapter", MigrationModels.second))
    #expect(old != new)
    try CarriedStore.addHistory(store, entity: old, hasBitmaps: true)
    let (path, _) = try migrate()
    let rest = "Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS"
    #expect(
      try MigrationFolder.rows(store, "SELECT \(rest) FROM ACHANGE")
        == MigrationFolder.rows(path, "SELECT \(rest) FROM ACHANGE"))
    #expect(try MigrationFolder.rows(path, "SELECT DISTINCT ZENTITY FROM ACHANGE") == ["int64(\(new))"])
    // The index over the numbers was made anew, and the keys of history go on where they were.
    #expect(
      try MigrationFolder.rows(path, "SELECT count(*) FROM ACHANGE WHERE ZENTITY = \(new) AND ZENTITYPK > 0") == [
        "int64(40)"
      ])
    #expect(
      try MigrationFolder.rows(path, "SELECT * FROM Z_PRIMARYKEY WHERE Z_ENT > 16000")
        == MigrationFolder.rows(store, "SELECT * FROM Z_PRIMARYKEY WHERE Z_ENT > 16000"))
    #expect(try MigrationFolder.rows(path, "PRAGMA integrity_check") == ["string(\"ok\")"])
  }

  @Test("History with a bitmap over properties that changed is refused by row and entity, or emptied on request")
  func historyOverChangedProperties() throws {
    try CarriedStore.addHistory(store, entity: try number("Book", MigrationModels.first), hasBitmaps: true)
    let error = try refusal()
    #expect(error.message.contains("row 1 of ACHANGE"))
    #expect(error.message.contains("Book has other properties in V2"))
    let (path, report) = try migrate { $0.extras.history = .empty }
    for table in ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"] {
      #expect(try MigrationFolder.rows(path, "SELECT count(*) FROM \(table)") == ["int64(0)"])
    }
    #expect(report.notes.contains { $0.contains("ACHANGE is emptied") })
    #expect(try MigrationFolder.rows(path, "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16001") == ["int64(40)"])
  }

  @Test(
    "A to-one to what gets a sub-entity has a second bit from then on, which no hash shows: refused",
    arguments: [false, true])
  func historyOverFamilies(addsChild: Bool) throws {
    let link = [StoreModels.link("u", "U", "ts")]
    let models = [("V1", !addsChild), ("V2", addsChild)].map { name, hasChild in
      ManagedObjectModel(
        name: name,
        entities: [
          StoreModels.entity("T", [("a", .string)], link),
          StoreModels.entity("U", [], [StoreModels.link("ts", "T", "u", many: true)]),
          StoreModels.entity(name + "Only"),
        ] + (hasChild ? [StoreModels.entity("U2", parent: "U", [("b", .string)])] : []))
    }
    let folder = try MigrationFolder(models)
    let store = try folder.sample("V1", rows: 0, seed: 1)
    try CarriedStore.addHistory(store, entity: try number("T", models[0]), hasBitmaps: true)
    var request = folder.request(store)
    request.target = .version("V2")
    let error = #expect(throws: BatchError.self) { try folder.migrate(request) }
    #expect(
      error?.message.contains("T has the to-one u, whose objects have other sub-entities in V2") == true,
      "\(String(describing: error))")
  }

  @Test("History of an entity that the new version does not have is refused")
  func historyOfRemovedEntity() throws {
    try CarriedStore.addHistory(store, entity: try number("Ghost", MigrationModels.first))
    #expect(try refusal().message.contains("Ghost has no objects in"))
  }

  @Test(
    "A number in history that no entity can have is refused, never a trap", arguments: [Int.min, -1, 0, 99, Int.max])
  func historyOfNoEntity(number: Int) throws {
    try CarriedStore.addHistory(store, entity: number)
    #expect(try refusal().message.contains("entity number \(number) is no entity of the store's version"))
  }

  @Test("Rows of Z_PRIMARYKEY that are nobody's are left out with a note, in an identity migration too")
  func strangers() throws {
    try CarriedStore.write(store) {
      try $0.execute(sql: "INSERT INTO Z_PRIMARYKEY VALUES (99, 'Stranger', 0, 5), (-1, 'Odd', 0, 1)")
    }
    for target in [MigrationTarget.version("V2"), .identity] {
      let (path, report) = try migrate("\(target == .identity)") { $0.target = target }
      #expect(report.notes.contains { $0.contains("-1 (Odd), 99 (Stranger)") })
      #expect(
        try MigrationFolder.rows(path, "SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_ENT IN (-1, 99)") == ["int64(0)"])
    }
  }

  @Test("A store mirrored with CloudKit is refused unless allowed; then its records get the new numbers")
  func cloudKit() throws {
    let (old, new) = (try number("Book", MigrationModels.first), try number("Book", MigrationModels.second))
    try CarriedStore.write(store) { db in
      try db.execute(
        sql: """
          CREATE TABLE ANSCKRECORDMETADATA ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, ZENTITYID INTEGER, ZENTITYPK INTEGER );
          INSERT INTO ANSCKRECORDMETADATA VALUES (1, 17001, \(old), 1), (2, 17001, \(old), 2);
          """)
    }
    #expect(try refusal().message.contains("CloudKit"))
    let (path, _) = try migrate { $0.extras.allowsCloudKit = true }
    #expect(try MigrationFolder.rows(path, "SELECT DISTINCT ZENTITYID FROM ANSCKRECORDMETADATA") == ["int64(\(new))"])
  }

  @Test(
    "Other tables are kept with their rows and indexes, virtual ones too; a name that the new version needs is refused")
  func otherTables() throws {
    try CarriedStore.write(store) { db in
      try db.execute(
        sql: """
          CREATE TABLE Notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE);
          INSERT INTO Notes VALUES (1, 'b'), (7, 'a');
          CREATE VIRTUAL TABLE Words USING fts5(word);
          INSERT INTO Words VALUES ('one two');
          ALTER TABLE ZBOOK ADD COLUMN ZOLD INTEGER;
          CREATE TRIGGER Fits AFTER DELETE ON Notes BEGIN SELECT 1; END;
          CREATE TRIGGER Stale AFTER UPDATE ON ZBOOK BEGIN SELECT ZOLD FROM ZBOOK; END;
          """)
    }
    let (path, report) = try migrate()
    #expect(
      try MigrationFolder.rows(path, "SELECT * FROM Notes ORDER BY text")
        == MigrationFolder.rows(store, "SELECT * FROM Notes ORDER BY text"))
    #expect(try MigrationFolder.rows(path, "SELECT * FROM Words WHERE word MATCH 'two'").count == 1)
    let notes = report.notes.joined(separator: "\n")
    #expect(notes.contains("ZBOOK.ZOLD"))
    #expect(notes.contains("Stale"))
    #expect(notes.contains("Notes"))
    try CarriedStore.write(store) { try $0.execute(sql: "CREATE TABLE ZAARDVARK (id INTEGER)") }
    #expect(try refusal().message.contains("ZAARDVARK"))
  }

  @Test(
    "A view where the new version needs a table, and tables that share a root page, are refused before anything is written"
  )
  func hostileSchemas() throws {
    try CarriedStore.write(store) { try $0.execute(sql: "CREATE VIEW ZAARDVARK AS SELECT 1") }
    #expect(try refusal().message.contains("ZAARDVARK"))
    try CarriedStore.write(store) { db in
      try db.execute(sql: "DROP VIEW ZAARDVARK; CREATE TABLE Twice (a); PRAGMA writable_schema = ON")
      try db.execute(
        sql:
          "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'ZBOOK') WHERE name = 'Twice'"
      )
    }
    let error = #expect(throws: BatchError.self) { try migrate("shared") }
    #expect(error?.code == .badStore && error?.message.contains("begin at page") == true)
    let found = try StoreInspection(path: store, models: nil, fileSystem: LocalFileSystem())
    #expect(found.problems.contains { $0.contains("begin at page") })
    #expect(found.entities.first { $0.name == "Book" }?.rows == nil)
  }

  @Test("An index of another table whose name the new version needs is left out with a note")
  func indexName() throws {
    let taken = try #require(
      try StoreLayout(model: MigrationModels.second).indexes.first { $0.name.hasPrefix("ZHUMAN") }?.name)
    try CarriedStore.write(store) { try $0.execute(sql: "CREATE TABLE Notes (a); CREATE INDEX \(taken) ON Notes (a)") }
    let (path, report) = try migrate("index")
    #expect(report.notes.contains { $0.contains(taken) })
    #expect(
      try MigrationFolder.rows(path, "SELECT tbl_name FROM sqlite_master WHERE name = '\(taken)'") == [
        "string(\"ZHUMAN\")"
      ])
  }
}
