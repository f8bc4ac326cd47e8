import Foundation
import GRDB
import Testing

@Suite("Exports of persistent history")
struct HistoryExportTests {
  private let folder: CommandFolder
  private let store: String

  /// Three transactions: an insertion, a change of two properties, and a deletion that left something behind.
  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 60)
    let queue = try DatabaseQueue(path: store)
    try queue.write { database in
      try database.execute(
        sql: """
          CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
          CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZTIMESTAMP FLOAT, \
          ZAUTHOR VARCHAR, ZCONTEXTNAME VARCHAR);
          CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, \
          ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, ZTOMBSTONE0 VARCHAR);
          INSERT INTO ATRANSACTIONSTRING VALUES (9, 16003, 1, 'sync, "cloud"');
          INSERT INTO ATRANSACTION VALUES (1, 16002, 1, NULL, 568000000, 'app', 'view'), (2, 16002, 1, 9, 568000060.5, NULL, NULL);
          INSERT INTO ACHANGE VALUES (1, 16001, 1, 0, 1, 1, 1, NULL, NULL), (2, 16001, 1, 1, 1, 1, 2, x'41', NULL), \
          (3, 16001, 1, 2, 2, 7, 2, NULL, 'reader 7'), (4, 16001, 1, 2, 2, 8, 99, NULL, NULL);
          INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 4), (16002, 'TRANSACTION', 0, 2), (16003, 'TRANSACTIONSTRING', 0, 9);
          """)
    }
    try queue.close()
  }

  @Test("A line a change, in their order: time, transaction, object, properties, tombstone, author")
  func text() throws {
    let lines = try expectLook(["export", "--history", store], in: folder).split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "2019-01-01T01:46:40.000000Z  transaction 1  insert Book 1  by app, view",
        "2019-01-01T01:47:40.500000Z  transaction 2  update Book 1: authorName, title  by sync, \"cloud\"",
        "2019-01-01T01:47:40.500000Z  transaction 2  delete User 7  kept {\"ZTOMBSTONE0\":\"reader 7\"}  by sync, \"cloud\"",
        "time unknown  transaction 99  delete User 8",
      ])
  }

  @Test("The same for programs; an entity and a date choose, and a file gets its name when it is whole")
  func programs() throws {
    let path = folder.newPath("history.jsonl")
    let outcome = try folder.run("godwit", ["export", "--history", store, "--format", "jsonl", "--output", path])
    #expect(outcome.code == 0 && outcome.output.contains("4 changes"), "\(outcome)")
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
      try document(String($0))
    }
    #expect(lines.map { $0["kind"] as? String } == ["insert", "update", "delete", "delete"])
    #expect(lines[1]["properties"] as? [String] == ["authorName", "title"] && lines[1]["bitmap"] as? String == "41")
    #expect((lines[2]["tombstone"] as? [String: String]) == ["ZTOMBSTONE0": "reader 7"])
    #expect(lines[3]["time"] is NSNull && lines[3]["transaction"] as? Int == 99)
    let csv = try expectLook(["export", "--history", store, "--format", "csv"], in: folder)
    #expect(csv.hasPrefix("time,transaction,author,") && csv.contains("\"sync, \"\"cloud\"\"\""))
    let users = try expectLook(["export", "--history", store, "User"], in: folder)
    #expect(users.split(separator: "\n").count == 2)
    let late = try expectLook(["export", "--history", store, "--since", "2019-01-01T01:47:00Z"], in: folder)
    #expect(late.split(separator: "\n").count == 2)
  }

  @Test("Without a model the bits are shown, and a note says why")
  func withoutModel() throws {
    try folder.forgetModel(of: store)
    let outcome = try folder.run("godwit", ["export", "--history", store])
    #expect(outcome.code == 0 && outcome.output.contains("update Book 1: bits 41"))
    #expect(outcome.error.contains("1 change shows the bits") && outcome.error.contains("--models"))
  }

  @Test(
    "Bits of real histories stand for the properties that changed: dates among them are those of the transaction",
    .enabled(if: ExampleCorpus.isPresent, "set GODWIT_CORPUS to the corpus"),
    arguments: ["12-Monterey", "13-Ventura", "14-Sonoma"])
  func real(_ system: String) throws {
    let path = folder.file("NoteStore.sqlite")
    let original = ExampleCorpus.root + "/stores/RhetTbull+apple-notes-parser/NoteStore-macOS-\(system).sqlite"
    try FileManager.default.copyItem(atPath: original, toPath: path)
    let text = try expectLook(["export", "--history", path, "--format", "jsonl"], in: folder)
    let changes = try text.split(separator: "\n").map { try document(String($0)) }
    let updates = changes.filter { $0["kind"] as? String == "update" }
    #expect(updates.count > 50 && updates.allSatisfy { $0["properties"] is [String] })
    let ofEntity = { (name: String) in
      Set(updates.filter { $0["entity"] as? String == name }.compactMap { $0["properties"] as? [String] })
    }
    #expect(ofEntity("ICNoteData") == [["data"]])
    #expect(ofEntity("ICCloudState").contains(["currentLocalVersion", "localVersionDate"]))
  }
}
