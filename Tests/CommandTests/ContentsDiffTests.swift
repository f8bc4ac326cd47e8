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

  @Test("Options of contents need --contents, and an entity must be there")
  func refusals() throws {
    #expect(try folder.run("godwit", ["diff", old, new, "--by", "ZISBN"]).code == 64)
    let outcome = try folder.run("godwit", ["diff", "--contents", old, new, "--entity", "Bok"])
    #expect(outcome.code == 20 && outcome.error.contains("did you mean Book?"), "\(outcome)")
  }
}
