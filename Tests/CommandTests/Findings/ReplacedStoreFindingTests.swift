import Foundation
import Glibc
import Testing

@Suite("Faults that were found: stores that were replaced", .enabled(if: StopLibrary.isPossible, StopLibrary.needed))
struct ReplacedStoreFindingTests {
  private let folder: FindingFolder
  private let store: String

  init() throws {
    folder = try FindingFolder()
    store = try folder.store("b.sqlite")
  }

  /// The backup beside the store.
  private func backup() throws -> String {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.folder.path)
    return folder.file(try #require(names.first { $0.hasPrefix("b.sqlite.backup-") && $0.hasSuffix("Z") }))
  }

  private func expectReplaced(launcher: [String] = []) throws {
    let outcome = try folder.run(["resume", store], launcher: launcher)
    #expect(outcome.code == 20 && outcome.error.contains("the store was replaced since"), "\(outcome)")
    #expect(outcome.error.contains("it is at version V1 now") && !outcome.output.contains("verified"), "\(outcome)")
    #expect(try folder.jobs().isEmpty && folder.isStore(store, at: "V1"))
    // The way that the message names.
    try folder.runWell(try #require(FindingFolder.advice(outcome)))
    #expect(try folder.isStore(store, at: "V2"))
  }

  @Test(
    "Finding 2: --keep-backups leaves the store that a rollback set aside alone, in migrate and in clean",
    arguments: [0, 1])
  func setAside(limit: Int) throws {
    try folder.runWell(folder.migrate(store))
    try folder.execute(store, "UPDATE ZA SET ZEXTRA = 'only here' WHERE Z_PK = 1")
    try folder.runWell(["rollback", "--force", store])
    let made = try FileManager.default.contentsOfDirectory(atPath: folder.folder.path).filter {
      $0.contains(".rolled-back-")
    }
    let aside = folder.file("b.sqlite.rolled-back-20200101T000000Z")
    // Older than any backup that is made now.
    for name in made {
      try FileManager.default.moveItem(
        atPath: folder.file(name), toPath: aside + (name.hasSuffix(".json") ? ".json" : ""))
    }
    func isThere() throws -> Bool { try folder.texts(aside, "SELECT ZEXTRA FROM ZA WHERE Z_PK = 1") == ["only here"] }
    try folder.runWell(folder.migrate(store) + ["--keep-backups", "\(limit)"])
    try #require(folder.exists(aside), "removed by migrate")
    #expect(try isThere())
    try folder.runWell(["clean", "--keep-backups", "\(limit)", folder.folder.path])
    try #require(folder.exists(aside), "removed by clean")
    #expect(try isThere())
  }

  @Test(
    "Finding 4: resume behind a cut-over that is done says that the old store is there again, and claims nothing",
    arguments: ["rename b.sqlite.godwit-report", "unlink log"], [true, false])
  func putBack(call: String, isMoved: Bool) throws {
    let original = try CommandFolder.bytes(store)
    try folder.kill(folder.migrate(store), before: call)
    #expect(try folder.isStore(store, at: "V2"))
    if isMoved {
      #expect(rename(try backup(), store) == 0)
    } else {
      try original.write(to: URL(fileURLWithPath: store), options: .atomic)
    }
    try expectReplaced()
  }

  @Test("Finding 4: while the folder of such a run is removed nothing is written to it, so that none of it stays")
  func quietRemoval() throws {
    try folder.kill(folder.migrate(store), before: "rename b.sqlite.godwit-report")
    #expect(rename(try backup(), store) == 0)
    // Long enough for a sign of how far the run is.
    try expectReplaced(launcher: folder.stopping("rmdir .b.sqlite.godwit", 1, "WAIT"))
  }

  @Test(
    "Finding 4: an old store in a file of the new one's number is not taken for the new one before the cut-over is done"
  )
  func sameNumber() throws {
    let original = try CommandFolder.bytes(store)
    // The second time: it says that all is done.
    try folder.kill(folder.migrate(store), before: "rename cutover.json", number: 2)
    #expect(try folder.isStore(store, at: "V2"))
    let handle = try #require(FileHandle(forWritingAtPath: store))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: original)
    try handle.close()
    let outcome = try folder.run(["resume", store])
    #expect([20, 22].contains(outcome.code) && !outcome.output.contains("verified"), "\(outcome)")
    #expect(try CommandFolder.bytes(store) == original)
    try folder.runWell(try #require(FindingFolder.advice(outcome)))
    #expect(try folder.jobs().isEmpty && folder.isStore(store, at: "V2"))
  }

  @Test(
    "Finding 9: a store that was replaced at the cut-over is migrated by what the messages name, and nobody loses its contents",
    arguments: ["resume", "migrate", "rollback", "clean"])
  func atCutOver(command: String) throws {
    let original = try CommandFolder.bytes(store)
    try folder.kill(folder.migrate(store), before: "* /b.sqlite")
    let first = try backup()
    let copy = folder.file("copy.sqlite")
    try original.write(to: URL(fileURLWithPath: copy))
    try folder.execute(copy, "UPDATE ZA SET ZNAME = 'restored ' || Z_PK")
    #expect(rename(copy, store) == 0)
    let words =
      switch command {
      case "migrate": folder.migrate(store)
      case "clean": ["clean", "--all", store]
      default: [command, store]
      }
    try folder.follow(words)
    #expect(try folder.jobs().isEmpty)
    #expect(try folder.names(store) == (1...4).map { "restored \($0)" })
    if ["clean", "rollback"].contains(command) { try folder.runWell(folder.migrate(store)) }
    #expect(try folder.isStore(store, at: "V2") && folder.names(store) == (1...4).map { "restored \($0)" })
    #expect(try CommandFolder.bytes(first) == original)
  }

  @Test(
    "Finding 9: of a run whose store was written to or replaced nobody says that resume goes on with it; what is named leads on",
    arguments: ["resume", "migrate", "rollback", "clean"], [true, false])
  func inTheMiddle(command: String, isReplaced: Bool) throws {
    try folder.kill(
      folder.migrate(store) + FindingFolder.written, before: "rename checkpoint-0000000002.lz4")
    let place = isReplaced ? folder.file("copy.sqlite") : store
    if isReplaced { try CommandFolder.bytes(store).write(to: URL(fileURLWithPath: place)) }
    try folder.execute(place, "UPDATE ZA SET ZNAME = 'new ' || Z_PK")
    if isReplaced { #expect(rename(place, store) == 0) }
    let said = try folder.run(["clean", "--dry-run", store])
    #expect(said.code == 0 && !said.output.contains("resume"), "\(said)")
    try folder.follow(command == "migrate" ? folder.migrate(store) : [command, store])
    #expect(try folder.jobs().isEmpty)
    if ["clean", "rollback"].contains(command) { try folder.runWell(folder.migrate(store)) }
    #expect(try folder.isStore(store, at: "V2") && folder.names(store) == (1...4).map { "new \($0)" })
  }

  @Test("Finding 9: a folder that is moved while a cut-over waits changes nothing: resume finishes it there")
  func moved() throws {
    try FileManager.default.createDirectory(atPath: folder.file("data"), withIntermediateDirectories: true)
    try FileManager.default.moveItem(atPath: store, toPath: folder.file("data/b.sqlite"))
    try folder.kill(folder.migrate(folder.file("data/b.sqlite")), before: "* /b.sqlite")
    try FileManager.default.moveItem(atPath: folder.file("data"), toPath: folder.file("moved"))
    let place = folder.file("moved/b.sqlite")
    let outcome = try folder.run(["resume", place])
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try folder.jobs().isEmpty && folder.isStore(place, at: "V2"))
  }
}
