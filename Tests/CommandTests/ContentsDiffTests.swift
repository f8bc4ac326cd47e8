import Foundation
import GRDB
import Testing

@Suite("Comparison of what two stores hold")
struct ContentsDiffTests {
  private let folder: CommandFolder
  private let old: String
  private let new: String

  init() throws {
    folder = try CommandFolder()
    old = try folder.sample(rows: 900)
    new = folder.file("Later.sqlite")
    try change(
      old,
      """
      CREATE TABLE Z_1READERS (Z_1BOOKS INTEGER, Z_2READERS INTEGER, PRIMARY KEY (Z_1BOOKS, Z_2READERS));
      INSERT INTO Z_1READERS VALUES (5, 6), (1, 2), (3, 4);
      """)
    try FileManager.default.copyItem(atPath: old, toPath: new)
  }

  private func change(_ store: String, _ sql: String) throws {
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  private func makeLater() throws {
    try change(
      new,
      """
      UPDATE ZBOOK SET ZTITLE = 'another', ZPAGES = 12, Z_OPT = Z_OPT + 1 WHERE Z_PK = 3;
      UPDATE ZBOOK SET Z_OPT = Z_OPT + 1 WHERE Z_PK = 4;
      UPDATE ZBOOK SET ZTITLE = 'before' WHERE Z_PK = 9;
      DELETE FROM ZBOOK WHERE Z_PK = 7;
      INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (100000, 1, 1, 'new <b>');
      DELETE FROM Z_1READERS WHERE Z_1BOOKS = 1;
      INSERT INTO Z_1READERS VALUES (2, 9);
      """)
    try change(old, "UPDATE ZBOOK SET ZTITLE = 'after' WHERE Z_PK = 9")
  }

  private func diff(_ words: [String] = []) throws -> String {
    try expectLook(["diff", "--contents", old, new] + words, in: folder)
  }

  @Test("Two copies do not differ, whoever they are")
  func same() throws {
    let text = try diff()
    #expect(text.contains("no difference\n") && text.contains("Z_1READERS: 3 the same"), "\(text)")
  }

  @Test("A date that differs by less than is shown is shown as it is stored")
  func exactDates() throws {
    try change(old, "UPDATE ZBOOK SET ZPUBLISHED = 1000.5 WHERE Z_PK = 3")
    try change(new, "UPDATE ZBOOK SET ZPUBLISHED = 1000.5000001 WHERE Z_PK = 3")
    let text = try diff()
    #expect(text.lowercased().contains("published: 1000.5 -> 1000.5000001\n"), "\(text)")
  }

  @Test("Objects that were added, removed and changed, with old and new values, and links; a save alone is no change")
  func changes() throws {
    try makeLater()
    let text = try diff()
    for line in [
      "\n~ Book 3\n", " -> 12\n", " -> \"another\"\n", "\n- Book 7: ",
      "\n~ Book 9\n    title: \"after\" -> \"before\"\n",
      "\n+ Book 100000: title \"new <b>\"\n", "\n+ Z_1READERS: Z_1BOOKS 2, Z_2READERS 9\n",
      "\n- Z_1READERS: Z_1BOOKS 1, Z_2READERS 2\n",
      "Book: 1 added, 1 removed, 2 changed, 1 saved again, ", "Z_1READERS: 1 added, 1 removed, 2 the same",
    ] { #expect(text.contains(line), "\(line): \(text)") }
    #expect(!text.contains("~ Book 4"))
  }

  @Test("The same as one JSON document and as a page; a limit shortens the list and not the numbers")
  func documents() throws {
    try makeLater()
    let found = try document(try diff(["--json"]))
    let changes = try #require(found["changes"] as? [[String: Any]])
    #expect(changes.count == 6 && found["format"] as? Int == 1)
    let third = try #require(changes.first { $0["key"] as? Int == 3 })
    let title = try #require((third["values"] as? [String: [String: Any]])?["title"])
    #expect(third["kind"] as? String == "changed" && title["new"] as? String == "another")
    let short = try document(try diff(["--json", "--limit", "1", "--entity", "Book"]))
    #expect((short["changes"] as? [Any])?.count == 1)
    let counts = try #require((short["entities"] as? [String: [String: Int]])?["Book"])
    #expect(counts["changed"] == 2 && counts["added"] == 1 && counts["removed"] == 1)
    let page = folder.newPath("page.html")
    let outcome = try folder.run("godwit", ["diff", "--contents", old, new, "--html", page])
    let html = try String(contentsOfFile: page, encoding: .utf8)
    #expect(
      outcome.code == 0 && html.contains("new &lt;b&gt;") && !html.contains("new <b>") && !html.contains("<script"))
  }

  @Test("Objects are paired by an attribute if their keys were given anew; without a model columns are named")
  func byAttribute() throws {
    for store in [old, new] { try change(store, "UPDATE ZBOOK SET ZISBN = 'isbn ' || Z_PK; DELETE FROM Z_MODELCACHE") }
    try change(
      new,
      "UPDATE ZBOOK SET Z_PK = Z_PK + 5000; UPDATE ZBOOK SET ZTITLE = 'x' WHERE Z_PK = 5003; DELETE FROM ZBOOK WHERE Z_PK = 5007"
    )
    let text = try diff(["--by", "ZISBN", "--entity", "Book"])
    #expect(text.contains("\n~ Book 3 -> 5003\n    ZTITLE: ") && text.contains("\n- Book 7: "), "\(text)")
    #expect(text.contains("1 removed, 1 changed, "))
  }

  @Test(
    "A million objects stay within 64 MiB",
    .enabled(if: ProcessInfo.processInfo.environment["GODWIT_LARGE"] != nil, "set GODWIT_LARGE"))
  func large() throws {
    let (first, second) = (
      try folder.sample("A.sqlite", rows: 1_000_000), try folder.sample("B.sqlite", rows: 1_000_000)
    )
    let outcome = try folder.run(
      "godwit", ["diff", "--contents", first, second], launcher: ["/usr/bin/time", "-f", "%M"])
    let peak = try #require(Int(outcome.error.split(separator: "\n").last ?? ""))
    #expect(outcome.code == 0 && peak < 64 << 10, "\(outcome.error)")
  }

  @Test("A key that not both stores have is refused with what was meant; tables without it are named in a note")
  func unknownKey() throws {
    for (words, said) in [
      (["--by", "foo"], "no entity has an attribute foo in both stores"),
      (["--by", "titel"], "titel in both stores, did you mean title?"),
      (["--by", "titel", "--entity", "Book"], "Book has no attribute titel in both stores, did you mean title?"),
    ] {
      for more in [[], ["--json"]] {
        let outcome = try folder.run("godwit", ["diff", "--contents", old, new] + words + more)
        #expect(outcome.code == 20 && outcome.error.contains(said) && outcome.output.isEmpty, "\(words): \(outcome)")
      }
    }
    #expect(try diff(["--by", "isbn"]).contains("note: User: compared by Z_PK, as it has no isbn"))
  }

  @Test("Stores with different UUIDs may have given keys anew: a note says so and what to do, also in JSON")
  func strangers() throws {
    let said = "the stores have different UUIDs"
    #expect(try !diff().contains(said))
    try change(new, "UPDATE Z_METADATA SET Z_UUID = '11111111-1111-1111-1111-111111111111'")
    let text = try diff()
    #expect(text.contains("note: \(said)") && text.contains("--by ATTRIBUTE"), "\(text)")
    let notes = try #require(try document(try diff(["--json"]))["notes"] as? [String])
    #expect(notes.contains { $0.hasPrefix(said) }, "\(notes)")
    #expect(try diff(["--by", "isbn"]).contains("relationships and links are compared by Z_PK all the same"))
  }

  // MARK: Ordered lists

  private func zoo() throws -> (old: String, new: String) {
    let store = folder.file("Zoo.sqlite")
    let made = try folder.run(
      "godwit", ["sample", try ZooModel.write(to: folder.newPath("zoo")), "--rows", "400", "--output", store])
    #expect(made.code == 0, "\(made)")
    try change(
      store,
      """
      UPDATE ZANIMAL SET ZKEEPER = NULL, Z_FOK_KEEPER = NULL;
      UPDATE ZANIMAL SET ZKEEPER = 1, Z_FOK_KEEPER = 1024 * Z_PK WHERE Z_PK IN (SELECT Z_PK FROM ZANIMAL LIMIT 5);
      """)
    let later = folder.file("LaterZoo.sqlite")
    try FileManager.default.copyItem(atPath: store, toPath: later)
    return (store, later)
  }

  private func orders(_ store: String) throws -> (table: String, order: String, list: String, member: String) {
    let queue = try DatabaseQueue(path: store)
    defer { try? queue.close() }
    let found = try queue.read { db in
      try Row.fetchOne(
        db,
        sql: "SELECT m.name AS t, c.name AS c FROM sqlite_master AS m, pragma_table_info(m.name) AS c "
          + "WHERE m.name LIKE 'Z\\_%' ESCAPE '\\' AND c.name LIKE 'Z\\_FOK%' ESCAPE '\\'")
    }
    let row = try #require(found)
    let (table, order): (String, String) = (row["t"], row["c"])
    let member = "Z_" + order.dropFirst(6)
    let names = try queue.read { try $0.columns(in: table).map(\.name) }
    let list = try #require(names.first { $0 != member && !$0.hasPrefix("Z_FOK") })
    return (table, order, list, member)
  }

  @Test("Other numbers in the same order are no difference; an object in another place is, with both places")
  func places() throws {
    let (old, new) = try zoo()
    func compare(_ words: [String] = []) throws -> String {
      try expectLook(["diff", "--contents", old, new] + words, in: folder)
    }
    try change(new, "UPDATE ZANIMAL SET Z_FOK_KEEPER = Z_FOK_KEEPER * 3 + 7")
    #expect(try compare().contains("no difference\n"))
    let keys = try ExampleFolder.rows(
      new, "SELECT Z_PK AS k FROM ZANIMAL WHERE ZKEEPER = 1 ORDER BY Z_FOK_KEEPER"
    ).map { $0.filter(\.isNumber) }
    // The last one before the first one: all five stand in another place.
    try change(new, "UPDATE ZANIMAL SET Z_FOK_KEEPER = -1 WHERE Z_PK = \(keys[4])")
    let text = try compare()
    #expect(text.contains(" \(keys[4])\n    keeper@place: 5 -> 1\n"), "\(text)")
    #expect(text.contains(" \(keys[0])\n    keeper@place: 1 -> 2\n") && !text.contains("@order"), "\(text)")
    let changes = try #require(try document(try compare(["--json"]))["changes"] as? [[String: Any]])
    #expect(changes.count == 5 && changes.allSatisfy { $0["kind"] as? String == "moved" }, "\(changes)")
    // What is gone moves nobody.
    try change(new, "DELETE FROM ZANIMAL WHERE Z_PK = \(keys[4])")
    let fewer = try compare()
    #expect(fewer.contains("- ") && !fewer.contains("@place"), "\(fewer)")
  }

  @Test("The same of ordered links of a join table")
  func linkPlaces() throws {
    let (old, new) = try zoo()
    let at = try orders(old)
    for store in [old, new] {
      try change(
        store,
        """
        DELETE FROM \(at.table);
        INSERT INTO \(at.table) (\(at.list), \(at.member), \(at.order)) VALUES (1, 1, 10), (1, 2, 20), (2, 1, 10);
        """)
    }
    try change(new, "UPDATE \(at.table) SET \(at.order) = \(at.order) + 5")
    #expect(try expectLook(["diff", "--contents", old, new], in: folder).contains("no difference\n"))
    try change(new, "UPDATE \(at.table) SET \(at.order) = 1 WHERE \(at.list) = 1 AND \(at.member) = 2")
    let text = try expectLook(["diff", "--contents", old, new], in: folder)
    #expect(
      text.contains("    \(at.member)@place: 2 -> 1\n") && text.contains("\(at.table): 2 moved, 3 the same"), "\(text)")
  }

  @Test(
    "A store of an application with ordered relationships comes back from its export without a difference",
    .enabled(if: ProcessInfo.processInfo.environment["GODWIT_CORPUS"] != nil, "set GODWIT_CORPUS"))
  func orderedRoundTrip() throws {
    let corpus = try #require(ProcessInfo.processInfo.environment["GODWIT_CORPUS"])
    let (application, store) = ("wireapp+wire-ios-data-model", folder.file("wire.sqlite"))
    try FileManager.default.copyItem(
      atPath: "\(corpus)/stores/\(application)/store2-54-0.wiredatabase", toPath: store)
    let model = "\(corpus)/models/\(application)/zmessaging.xcdatamodeld/zmessaging2.54.0.xcdatamodel"
    let (lines, again) = (folder.file("all.jsonl"), folder.file("again.sqlite"))
    let exported = try folder.run(
      "godwit", ["export", store, "--to-many", "--dates", "seconds", "--output", lines, "--models", model])
    #expect(exported.code == 0, "\(exported)")
    let made = try folder.run("godwit", ["import", model, lines, "--validate", "none", "--output", again])
    #expect(made.code == 0, "\(made)")
    let compared = try folder.run("godwit", ["diff", "--contents", store, again, "--models", model])
    #expect(compared.code == 0 && compared.output.contains("no difference\n"), "\(compared)")
  }

  @Test("Options of contents need --contents, and an entity must be there")
  func refusals() throws {
    #expect(try folder.run("godwit", ["diff", old, new, "--by", "ZISBN"]).code == 64)
    let outcome = try folder.run("godwit", ["diff", "--contents", old, new, "--entity", "Bok"])
    #expect(outcome.code == 20 && outcome.error.contains("did you mean Book?"), "\(outcome)")
  }
}
