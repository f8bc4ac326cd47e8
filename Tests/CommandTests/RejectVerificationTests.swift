import Foundation
import GRDB
import Testing

@testable import BatchCommand

@Suite("verify and clean after a migration with rejects")
struct RejectVerificationTests {
  private let library: RejectingLibrary
  private let file: String

  init() throws {
    library = try RejectingLibrary()
    file = try library.mapping(String(RejectingLibrary.rejectedUsers.dropFirst(2)))
  }

  private func verify(_ more: [String] = []) throws -> CommandProcess.Outcome {
    let before = try library.folder.tree().filter { !$0.key.isEmpty }
    let words = ["verify", library.output, "--against", library.store] + library.words(file)
    let outcome = try library.folder.run("godwit", words + more)
    #expect(try library.folder.tree().filter { !$0.key.isEmpty } == before, "verify leaves nothing")
    return outcome
  }

  @Test(
    "verify --against compares a store with rejects: they are counted, all else is equal, exit code 0; a difference is 12",
    arguments: [true, false])
  func compared(hasRecord: Bool) throws {
    #expect(try library.migrate(file, ["--accept-loss"]).code == 10)
    if !hasRecord { try FileManager.default.removeItem(atPath: library.folder.file(".New.sqlite.godwit-report")) }
    let rejected = try library.count("SELECT count(*) FROM ZUSER WHERE ZNAME = 'x'")
    let equal = try verify()
    let words = "rejected: \(rejected) objects of User cannot be migrated from Library 1: no result has them\n"
    #expect(equal.code == 0 && equal.output.contains(words), "\(equal)")
    #expect(equal.output.contains("rows are equal to those that the migration gives"), "\(equal)")
    let json = try JSONDecoder().decode(JSONValue.self, from: Data(try verify(["--json"]).output.utf8))
    let found = try #require(json["comparison"]?["rejected"]?.elements.first)
    #expect(found["entity"]?.text == "User" && found["count"]?.count == rejected, "\(json)")
    let queue = try DatabaseQueue(path: library.output)
    try queue.write { try $0.execute(sql: "DELETE FROM ZBOOK WHERE Z_PK = 7") }
    try queue.close()
    let differs = try verify()
    #expect(differs.code == 12 && differs.output.contains("differs: Book 7, and 0 more rows of ZBOOK"), "\(differs)")
  }

  @Test("clean lists the list of rejected objects and says what removes it; that does, and touches no other file")
  func cleaned() throws {
    let (folder, store) = (library.folder, library.store)
    let words = ["migrate", store, "--to", "Library 2", "--max-rejects", "10%", "--accept-loss"]
    #expect(try folder.run("godwit", words + library.words(file)).code == 10)
    let report = try folder.run("godwit", ["report", store, "--json"])
    let list = try #require(
      try JSONDecoder().decode(JSONValue.self, from: Data(report.output.utf8))["rejects"]?["path"]?.text)
    #expect(try folder.run("godwit", ["rollback", store]).code == 0)
    let others = [
      "\(store).rejects-2025.jsonl", "\(store).rejects.jsonl", "\(folder.path)/.rejects-20250131T120000Z.jsonl",
    ]
    for other in others { try Data("{}\n".utf8).write(to: URL(fileURLWithPath: other)) }
    let kept = try folder.run("godwit", ["clean", "--all", store])
    let advice = try #require(kept.output.split(separator: "\n").first { $0.contains("kept \(list): ") })
    #expect(
      kept.code == 0 && advice.contains("list of rejected objects; remove it with `godwit clean --reports "), "\(kept)")
    let command = try #require(advice.split(separator: "`").dropFirst().first)
    let dry = try folder.paste("\(command) --dry-run")
    #expect(dry.output.contains("would remove \(list): list of rejected objects; "), "\(dry)")
    let removed = try folder.paste(String(command))
    #expect(removed.code == 0 && removed.output.contains("removed \(list): list of rejected objects; "), "\(removed)")
    #expect(!FileManager.default.fileExists(atPath: list))
    #expect(others.allSatisfy { FileManager.default.fileExists(atPath: $0) })
    let again = try folder.run("godwit", ["clean", folder.path])
    #expect(again.code == 0 && !again.output.contains("rejected objects"), "\(again)")
  }
}
