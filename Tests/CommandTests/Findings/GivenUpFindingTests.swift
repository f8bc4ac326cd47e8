import Foundation
import Streams
import Testing

@testable import MigrationJobs

/// What a run leaves to a person when it is cleaned away, given up or begun anew.
@Suite("Faults that were found: what stays when a run goes", .enabled(if: StopLibrary.isPossible, StopLibrary.needed))
struct GivenUpFindingTests {
  /// V2 cannot hold the 70000 that object 2 has in V1.
  private func narrowing() throws -> (FindingFolder, String) {
    let number = { (type: String) in #"<attribute name="n" attributeType="\#(type)" defaultValueString="0"/>"# }
    let folder = try FindingFolder([number("Integer 64"), number("Integer 16")])
    let store = try folder.sample("b.sqlite")
    try folder.execute(store, "UPDATE ZA SET ZN = Z_PK")
    try folder.execute(store, "UPDATE ZA SET ZN = 70000 WHERE Z_PK = 2")
    return (folder, store)
  }

  private func names(_ folder: FindingFolder, _ part: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.folder.path).filter { $0.contains(part) }.sorted()
  }

  @Test(
    "clean finishes a run whose new store has its name: the list of objects that were set aside stays",
    arguments: [false, true])
  func rejects(all: Bool) throws {
    let (folder, store) = try narrowing()
    // The new store has its name, the list does not yet.
    try folder.kill(folder.migrate(store) + ["--max-rejects", "5"], before: "rename Z.jsonl")
    #expect(try folder.isStore(store, at: "V2") && names(folder, ".rejects-").isEmpty)
    try folder.runWell(["clean", store] + (all ? ["--all"] : []))
    if !all { try folder.runWell(["clean", "--all", store]) }
    #expect(try folder.jobs().isEmpty && folder.texts(store, "SELECT ZN FROM ZA ORDER BY 1") == ["1", "3", "4"])
    let list = try #require(try names(folder, ".rejects-").first)
    #expect(try String(contentsOfFile: folder.file(list), encoding: .utf8).contains("\"A\""))
  }

  @Test("A backup is not cleaned away under a rollback that is about to put it back")
  func backups() throws {
    let folder = try FindingFolder()
    let store = try folder.store("b.sqlite")
    try folder.runWell(folder.migrate(store))
    let rollback = try folder.stopped(["rollback", store], before: "rename cutover.json")
    let backups = try names(folder, ".backup-")
    let cleaned = try folder.run(["clean", "--keep-backups", "0", store])
    #expect(cleaned.code == 0 && cleaned.output.contains("a run of its store is at work"), "\(cleaned)")
    #expect(try names(folder, ".backup-") == backups && !backups.isEmpty)
    rollback.send(SIGCONT)
    let outcome = try rollback.wait()
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try folder.isStore(store, at: "V1") && folder.names(store).count == 4)
  }

  @Test("migrate --restart gives nothing up for a migration that cannot be planned")
  func restart() throws {
    let folder = try FindingFolder()
    let store = try folder.store("b.sqlite")
    try folder.kill(folder.migrate(store) + FindingFolder.written, before: "rename cutover.json")
    let missing = folder.folder.newPath("Missing.xcdatamodeld")
    let outcome = try folder.run(["migrate", store, "--models", missing, "--to", "V2", "--restart"])
    #expect(outcome.code != 0, "\(outcome)")
    #expect(try folder.jobs().count == 1)
    try folder.runWell(["resume", store])
    #expect(try folder.jobs().isEmpty && folder.isStore(store, at: "V2"))
  }

  @Test("A run to another path whose journal cannot be read is given up: the source is as it was, and nothing is left")
  func unreadable() throws {
    let folder = try FindingFolder()
    let store = try folder.store("b.sqlite")
    let output = folder.file("o.sqlite")
    try folder.kill(folder.migrate(store, output: output), before: "* /o.sqlite")
    let journal = folder.file(".o.sqlite.godwit/cutover.json")
    #expect(folder.exists(journal))
    try Data("no journal".utf8).write(to: URL(fileURLWithPath: journal))
    let bytes = try CommandFolder.bytes(store)
    try folder.follow(["resume", output])
    #expect(try folder.jobs().isEmpty && !folder.exists(output) && CommandFolder.bytes(store) == bytes)
  }

  @Test(
    "Where another file lies under the new store's name, resume does not put it in place: it is kept beside the store")
  func exchanged() throws {
    let folder = try FindingFolder()
    let store = try folder.store("b.sqlite")
    try folder.kill(folder.migrate(store), before: "renameat2 /b.sqlite")
    // As an exchange leaves it that met a file which came in the last moment; then the store is replaced once more.
    let job = try JobDirectory(destination: store)
    let left = job.file(try #require(try CutOverJournal.read(job, LocalFileSystem())).newStore)
    let (foreign, copy) = (try folder.store("foreign.sqlite"), try folder.store("copy.sqlite"))
    try folder.execute(foreign, "UPDATE ZA SET ZNAME = 'foreign'")
    for (from, to) in [(foreign, left), (copy, store)] { try LocalFileSystem().rename(from, to: to) }
    let resumed = try folder.run(["resume", store])
    #expect(resumed.code == 20 && FindingFolder.advice(resumed)?.contains("--restart") == true, "\(resumed)")
    let again = try folder.run(try #require(FindingFolder.advice(resumed)))
    #expect(
      again.code == 0 && (again.output + again.error).contains("is kept from the run that was given up"), "\(again)")
    #expect(try folder.jobs().isEmpty && folder.isStore(store, at: "V2"))
    let kept = try names(folder, "b.sqlite.").filter { $0.hasPrefix("b.") && !$0.hasSuffix(".json") }.map(folder.file)
    #expect(try kept.contains { try folder.names($0) == Array(repeating: "foreign", count: 4) }, "\(kept)")
  }
}
