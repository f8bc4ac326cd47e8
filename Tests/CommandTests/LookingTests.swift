import Foundation
import GRDB
import Testing

@Suite("Commands that only look")
struct LookingTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder() }

  private func expectNoWrites(_ store: String, at location: SourceLocation = #_sourceLocation) throws {
    func state() -> [String] { FileManager.default.subpaths(atPath: folder.state)?.sorted() ?? [] }
    let (before, known) = (try folder.tree(), state())
    for arguments in [
      ["plan", store] + CommandFolder.models, ["plan", store, "--json"] + CommandFolder.models, ["inspect", store],
      ["inspect", store, "--models", ExampleFolder.models], ["status", store], ["status", store, "--json"],
    ]
      + (try FileManager.default.contentsOfDirectory(atPath: folder.path).contains { $0.hasSuffix(".godwit") }
        ? [["report", store], ["report", store, "--json"]] : [])
    {
      let outcome = try folder.run("book-migration", arguments)
      #expect(outcome.code == 0 && outcome.error.isEmpty, "\(arguments): \(outcome)", sourceLocation: location)
      #expect(try folder.tree() == before, "\(arguments)", sourceLocation: location)
    }
    #expect(state() == known, sourceLocation: location)
  }

  // Traps 1 and 2.
  @Test("plan, inspect, status and report change nothing beside a store and an interrupted run of it")
  func noWrites() throws {
    let store = try folder.sample(rows: 6000)
    try expectNoWrites(store)
    _ = try folder.interrupted(store)
    try expectNoWrites(store)
  }

  // Traps 1 and 13.
  @Test(
    "They change nothing of a store whose last rows are only in its log, with and without a -shm",
    arguments: [true, false])
  func writeAheadLog(hasSharedMemory: Bool) throws {
    let store = try folder.sample(rows: 500)
    try folder.keepInLog(store)
    if !hasSharedMemory { try FileManager.default.removeItem(atPath: store + "-shm") }
    try expectNoWrites(store)
    let found = try folder.run("book-migration", ["inspect", store])
    #expect(found.output.contains("journal      wal") && found.output.contains("warning: "))
  }

  @Test("plan --check says with its exit code whether something is to be done")
  func check() throws {
    let store = try folder.sample(rows: 100)
    let arguments = ["plan", store, "--check"] + CommandFolder.models
    #expect(try folder.run("book-migration", arguments).code == 0)
    #expect(try folder.run("book-migration", arguments + ["--to", "Library 1"]).code == 3)
  }
}
