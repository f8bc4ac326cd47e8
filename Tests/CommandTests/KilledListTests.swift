import Foundation
import Glibc
import Testing

@Suite("Lists that are killed before they begin their first store", .serialized, .enabled(if: StopLibrary.isPossible))
struct KilledListTests {
  private let folder: CommandFolder
  private let list: String
  private let stores: [String]

  init() throws {
    let folder = try CommandFolder()
    stores = try (1...5).map { try folder.sample("S\($0).sqlite", rows: 30, seed: UInt64($0)) }
    (self.folder, list) = (folder, try folder.list(stores))
  }

  /// Kills the list before a file gets its name, the n-th with such a name.
  private func kill(_ suffix: String, _ moment: Int) throws {
    let library = try StopLibrary.build(at: folder.newPath("stop-at.so"))
    let killed = try folder.run(
      "book-migration", ["migrate", "--manifest", list] + CommandFolder.models,
      launcher: [
        "/usr/bin/env", "LD_PRELOAD=\(library)", "STOP_ONLY=rename \(suffix)", "STOP_AT=\(moment)", "STOP_WITH=KILL",
      ])
    try #require(killed.code == 128 + SIGKILL, "\(killed)")
  }

  private func summary(_ verb: String) throws -> ListDocument {
    try ListDocument(folder.run("book-migration", [verb, "--manifest", list, "--json"]))
  }

  @Test(
    "Whenever it is killed, it says of all of its stores that they are not begun, and its command begins them",
    arguments: [1, 3, 5])
  func notBegun(moment: Int) throws {
    try kill(".json", moment)
    for verb in ["status", "report"] {
      let found = try summary(verb)
      #expect(found.states == Array(repeating: "not begun", count: 5), "\(verb): \(found)")
      #expect(found.groups.count == 1 && found.groups[0].exitCode == 75, "\(found)")
    }
    let command = try #require(try summary("status").groups[0].next)
    #expect(command.hasPrefix("book-migration migrate --manifest "), "\(command)")
    #expect(try folder.paste(command).code == 0)
    #expect(try summary("status").states == Array(repeating: "done", count: 5))
  }

  @Test("What came to a store after the kill counts for it, and the others are still not begun")
  func later() throws {
    try kill(".json", 2)
    #expect(try folder.run("book-migration", ["migrate", stores[0]] + CommandFolder.models).code == 0)
    #expect(try folder.run("book-migration", ["rollback", stores[0]]).code == 0)
    #expect(try folder.run("book-migration", ["migrate", stores[4]] + CommandFolder.models).code == 0)
    let waiting = "not begun"
    #expect(try summary("status").states == ["rolled back", waiting, waiting, waiting, "done"])
    #expect(try summary("clean").code == 0)
    #expect(try summary("status").states[1] == "no migration is known")
  }

  @Test("Before it has noted its stores, it has left nothing: of none a migration is known")
  func tooEarly() throws {
    try kill(".stores", 1)
    let found = try summary("status")
    #expect(found.states == Array(repeating: "no migration is known", count: 5), "\(found)")
    #expect(try folder.run("book-migration", ["migrate", "--manifest", list] + CommandFolder.models).code == 0)
  }
}
