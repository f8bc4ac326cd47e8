import Foundation
import GRDB
import Testing

@testable import BatchCommand
@testable import RunSupport

@Suite("The account of a migration with rejects")
struct RejectAccountTests {
  private let library: RejectingLibrary

  init() throws { library = try RejectingLibrary() }

  /// Summary and report say it, and all parts of it add up.
  private func expect(_ balance: String, _ outcome: CommandProcess.Outcome) throws {
    let report = try library.folder.run("godwit", ["report", library.output])
    let json = try library.folder.run("godwit", ["report", library.output, "--json"])
    for text in [outcome.output, report.output, json.output] { #expect(text.contains(balance), "\(text)") }
    #expect(RejectingLibrary.addsUp(Substring(balance)), "\(balance)")
  }

  private static let missing =
    ". The model requires one: Core Data refuses to save such objects until they have it"

  @Test("Rejected books, their values and their links are counted as rejected, and everything adds up; exit code 10")
  func books() throws {
    let file = try library.mapping(book: String(RejectingLibrary.rejectedBooks.dropFirst(2)))
    let done = try library.migrate(file, ["--accept-loss"])
    let (books, users) = (
      try library.count("SELECT count(*) FROM ZBOOK"), try library.count("SELECT count(*) FROM ZUSER")
    )
    let rejected = try library.count("SELECT count(*) FROM ZBOOK WHERE ZTITLE = 'x'")
    let kept = "ZTITLE != 'x'"
    let names = RejectingLibrary.bookNames
    let rejectedValues = try library.values("Book", names, where: "ZTITLE = 'x'")
    let all = try library.values("Book", names) + library.values("User", ["name", "userId"])
    let dropped = try library.values("Book", ["authorName"], where: kept)
    let replaced = try library.values("Book", ["rating"], where: kept)
    let links = try library.count("SELECT count(ZUSER) FROM ZBOOK WHERE \(kept)")
    let rejectedLinks = try library.count("SELECT count(ZUSER) FROM ZBOOK WHERE ZTITLE = 'x'")
    #expect(done.code == 10 && rejected > 10 && rejectedLinks > 10, "\(done)")
    try expect(
      "\((books + users).grouped) objects (\((books + users - rejected).grouped) carried, \(rejected) rejected), "
        + "\(all.grouped) values (\((all - dropped - replaced - rejectedValues).grouped) carried, "
        + "\(replaced) replaced, \(dropped) dropped, \(rejectedValues) rejected), "
        + "\((links + rejectedLinks).grouped) links (\(links) carried, \(rejectedLinks) rejected)", done)
    #expect(done.output.contains("0 left out, \(rejected) rejected"), "\(done)")
    #expect(done.output.contains("drops \(dropped) values of Book.authorName\n"), "\(done)")
  }

  @Test("Links to rejected users are cleared; their own values are rejected")
  func users() throws {
    let file = try library.mapping(String(RejectingLibrary.rejectedUsers.dropFirst(2)))
    let done = try library.migrate(file, ["--accept-loss"])
    let rejected = try library.count("SELECT count(*) FROM ZUSER WHERE ZNAME = 'x'")
    let cleared = try library.count("SELECT count(*) FROM ZBOOK WHERE ZUSER % 10 = 0")
    let links = try library.count("SELECT count(ZUSER) FROM ZBOOK")
    #expect(done.code == 10 && rejected > 0 && cleared > 10, "\(done)")
    try expect("\(links.grouped) links (\((links - cleared).grouped) carried, \(cleared) cleared)", done)
    #expect(done.output.contains("0 links written, 0 left out, \(cleared) cleared\n"), "\(done)")
    #expect(
      done.output.contains(
        "note: \(cleared) references of Book.user were cleared: their objects were left out or rejected\(Self.missing)"),
      "\(done)")
    #expect(done.output.contains("\(rejected) rejected), "), "\(done)")
  }

  @Test("What a filter leaves out is left out with its values, and references to it are cleared; exit code 0")
  func filtered() throws {
    let file = try library.mapping("from: User\n    filter: name != 'x'")
    let done = try library.migrate(file, ["--accept-loss", "--validate", "none"])
    let left = try library.count("SELECT count(*) FROM ZUSER WHERE ZNAME = 'x'")
    let values = try library.values("User", ["name", "userId"], where: "ZNAME = 'x'")
    let cleared = try library.count("SELECT count(*) FROM ZBOOK WHERE ZUSER % 10 = 0")
    let links = try library.count("SELECT count(ZUSER) FROM ZBOOK")
    #expect(done.code == 0 && left > 0 && cleared > 10, "\(done)")
    #expect(done.output.contains("carried, \(left) left out), "), "\(done)")
    #expect(done.output.contains(" dropped, \(values) left out), "), "\(done)")
    try expect("\(links.grouped) links (\((links - cleared).grouped) carried, \(cleared) cleared)", done)
    #expect(
      done.output.contains(
        "note: \(cleared) references of Book.user were cleared: their objects were left out\(Self.missing)\n"))
  }

  @Test(
    "Links of a join table to rejected objects are cleared, those to objects of a filter are left out",
    arguments: [true, false])
  func joined(isRejected: Bool) throws {
    let (folder, store) = (library.folder, library.folder.file("Two.sqlite"))
    let made = try folder.run(
      "godwit", ["sample", ExampleFolder.models, "--version", "Library 2", "--rows", "1000", "--output", store])
    #expect(made.code == 0, "\(made)")
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: "UPDATE ZAUTHOR SET ZNAME = CASE Z_PK % 10 WHEN 0 THEN 'x' ELSE 'a|b' END") }
    let (links, lost) = try queue.read { db in
      (
        try Int.fetchOne(db, sql: "SELECT count(*) FROM Z_1BOOKS") ?? 0,
        try Int.fetchOne(db, sql: "SELECT count(*) FROM Z_1BOOKS JOIN ZAUTHOR ON Z_PK = Z_1AUTHORS WHERE ZNAME = 'x'")
          ?? 0
      )
    }
    try queue.close()
    let file = folder.newPath("Step.yaml")
    let author =
      isRejected ? #"attributes: { name: { split: $source.name, at: "|", part: 2 } }"# : #"filter: name != 'x'"#
    try "from: Library 2\nto: Library 3\nentities:\n  - User\n  - Book\n  - to: File\n  - from: Author\n    \(author)\n"
      .write(toFile: file, atomically: true, encoding: .utf8)
    let done = try folder.run(
      "godwit",
      ["migrate", store, "--output", library.output, "--max-rejects", "50%", "--accept-loss"] + library.words(file))
    #expect(done.code == (isRejected ? 10 : 0) && lost > 10, "\(done)")
    let account = try #require(done.output.split(separator: "\n").first { $0.contains(" objects (") })
    #expect(RejectingLibrary.addsUp(account), "\(account)")
    #expect(account.contains(", \(lost) \(isRejected ? "cleared" : "left out"))"), "\(account) of \(links)")
    let word = isRejected ? "0 left out, \(lost) cleared" : "\(lost) left out"
    #expect(done.output.contains("\((links - lost).grouped) links written, \(word)\n"), "\(done)")
  }

  @Test("A run with rejects that is stopped and resumed has the account of one that is not")
  func resumed() throws {
    let file = try library.mapping(String(RejectingLibrary.rejectedUsers.dropFirst(2)))
    let whole = try library.migrate(file, ["--accept-loss"])
    let balance = try #require(whole.output.split(separator: "\n").first { $0.contains(" objects (") })
    try FileManager.default.removeItem(atPath: library.output)
    let words = ["--accept-loss", "--checkpoint-every", "8kB", "--on-phase", "sh -c '[ $GODWIT_PHASE != copied ]'"]
    let stopped = try library.migrate(file, words)
    #expect(stopped.code != 0 && stopped.code != 10, "\(stopped)")
    let resumed = try library.folder.run("godwit", ["resume", library.output])
    #expect(resumed.code == 10 && resumed.output.contains(balance), "\(resumed)")
  }
}
