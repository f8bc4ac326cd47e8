import Foundation
import GRDB
import Streams
import Testing

@testable import Codecs
@testable import CoreDataStore

@Suite("The metadata command")
struct MetadataCommandTests {
  private let folder: CommandFolder
  private let store: String

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 300)
  }

  private func metadata() throws -> StoreMetadata {
    let reader = try StoreReader(path: store, fileSystem: LocalFileSystem(), locking: .shared)
    defer { reader.close() }
    return reader.metadata
  }

  private func change(_ arguments: String..., code: Int32 = 0, at location: SourceLocation = #_sourceLocation) throws
    -> String
  {
    let outcome = try folder.run("godwit", ["metadata", store] + arguments)
    #expect(outcome.code == code, "\(outcome)", sourceLocation: location)
    return outcome.output + outcome.error
  }

  @Test("A value that is none of its type is refused with how to write it; a date needs no time")
  func forms() throws {
    _ = try change("set", "Day", "2026-01-31", "--type", "date")
    #expect(try metadata().entries["Day"] == .date(791_510_400))
    #expect(try change("set", "Day", "soon", "--type", "date", code: 20).contains("Write a date as 2026-01-31 or"))
    #expect(try change("set", "Flag", "maybe", "--type", "boolean", code: 20).contains("Write true or false"))
  }

  @Test("All entries are printed with their types, and nothing changes")
  func list() throws {
    let metadata = try metadata()
    let text = try expectLook(["metadata", store], in: folder)
    #expect(
      text.contains("  UUID: \(metadata.uuid)\n") && text.contains("  NSStoreModelVersionHashes: dictionary of 2\n"))
    let json = try document(try expectLook(["metadata", store, "--json"], in: folder))
    let entries = try #require(json["entries"] as? [String: [String: Any]])
    #expect(Set(entries.keys) == Set(metadata.entries.keys) && json["uuid"] as? String == metadata.uuid)
    #expect(entries["NSPersistenceFrameworkVersion"]?["type"] as? String == "integer")
    #expect(try expectLook(["metadata", store, "get", "NSStoreType"], in: folder) == "SQLite\n")
    #expect(try expectLook(["metadata", store, "get", "no such"], in: folder, code: 1).isEmpty)
  }

  @Test("Every type that is set is read again as it was given, and everything else stays, UUID and rows too")
  func types() throws {
    let before = try metadata()
    let rows = try ExampleFolder.rows(store, "SELECT * FROM ZBOOK")
    for (key, type, text, value) in [
      ("a.string", "string", "grün \"x\"", PropertyListValue.string("grün \"x\"")),
      ("a.integer", "integer", "-5", .integer(-5)),
      ("a.large", "integer", "18446744073709551615", .unsigned(.max)), ("a.real", "real", "0.1", .real(0.1)),
      ("a.flag", "boolean", "YES", .boolean(true)),
      ("a.date", "date", "2025-01-31T12:00:00.25Z", .date(760_017_600.25)),
      ("a.data", "data", "AAEC/w==", .data([0, 1, 2, 255])), ("a.empty", "string", "", .string("")),
    ] {
      _ = try change("set", key, "--type", type, "--", text)
      #expect(try metadata().entries[key] == value, "\(key)")
      let shown = try expectLook(["metadata", store, "get", key], in: folder)
      let wanted = ["a.flag": "true", "a.date": "2025-01-31T12:00:00.250000Z"][key] ?? text
      #expect(shown == wanted + "\n")
    }
    let after = try metadata()
    #expect(after.uuid == before.uuid && after.entries.filter { !$0.key.hasPrefix("a.") } == before.entries)
    for key in after.entries.keys where key.hasPrefix("a.") { _ = try change("remove", key) }
    #expect(try metadata() == before)
    #expect(try ExampleFolder.rows(store, "SELECT * FROM ZBOOK") == rows)
    #expect(try ExampleFolder.rows(store, "PRAGMA integrity_check") == ["[integrity_check:\"ok\"]"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Library.sqlite"])
  }

  @Test("A change says what was and what is, as text and as JSON")
  func output() throws {
    #expect(try change("set", "app", "7", "--type", "integer") == "\(store): app is 7 (before: nothing)\n")
    let json = try document(try change("set", "app", "AQ==", "--type", "data", "--json"))
    #expect(json["old"] as? NSDictionary == ["type": "integer", "value": 7])
    #expect(json["new"] as? NSDictionary == ["type": "data", "value": "AQ=="] && json["format"] as? Int == 1)
    #expect(try change("remove", "app") == "\(store): app is removed (before: data AQ==)\n")
  }

  @Test("Entries of Core Data need --force, and nothing makes the store one without hashes")
  func coreData() throws {
    for arguments in [["set", "NSStoreType", "x"], ["remove", "_NSAutoVacuumLevel"]] {
      try expectRefusal(
        20, ["--force", "nothing was written"], ["metadata", store] + arguments, in: folder, program: "godwit")
    }
    for arguments in [["set", "NSStoreModelVersionHashes", "x"], ["remove", "NSStoreModelVersionHashes"]] {
      try expectRefusal(
        20, ["would be none any more"], ["metadata", store, "--force"] + arguments, in: folder, program: "godwit")
    }
    _ = try change("set", "NSPersistenceFrameworkVersion", "1400", "--type", "integer", "--force")
    #expect(try metadata().frameworkVersion == 1400)
    try expectRefusal(1, ["no entry gone"], ["metadata", store, "remove", "gone"], in: folder, program: "godwit")
    try expectRefusal(
      20, ["no date"], ["metadata", store, "set", "a", "soon", "--type", "date"], in: folder, program: "godwit")
    for arguments in [["get"], ["set", "a"], ["remove", "a", "b"], ["put", "a"]] {
      #expect(try folder.run("godwit", ["metadata", store] + arguments).code == 64, "\(arguments)")
    }
  }

  // No look at the tree: a file that this process reads and closes takes the locks of its own connection with it.
  private func expectBusy(at location: SourceLocation = #_sourceLocation) throws {
    let outcome = try folder.run("godwit", ["metadata", store, "set", "app", "1"])
    #expect(outcome.code == 20 && outcome.output.isEmpty, "\(outcome)", sourceLocation: location)
    #expect(
      outcome.error.contains("another program") && outcome.error.contains("nothing was written"),
      sourceLocation: location)
  }

  @Test("A store in WAL mode keeps its rows and its mode, and one that is open elsewhere is refused")
  func writeAheadLog() throws {
    let queue = try DatabaseQueue(path: store)
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA journal_mode = WAL")
      try database.execute(sql: "UPDATE ZBOOK SET ZTITLE = 'in the log' WHERE Z_PK = 1")
    }
    try expectBusy()
    // As a crashed application leaves it: both files, and nobody who has them open.
    let copy = folder.file("copy.sqlite")
    for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: store + suffix, toPath: copy + suffix) }
    try queue.close()
    #expect(try folder.run("godwit", ["metadata", copy, "set", "app", "1"]).code == 0)
    #expect(try folder.run("godwit", ["metadata", copy, "get", "app"]).output == "1\n")
    #expect(try ExampleFolder.rows(copy, "SELECT ZTITLE AS t FROM ZBOOK WHERE Z_PK = 1") == ["[t:\"in the log\"]"])
    #expect(try ExampleFolder.rows(copy, "PRAGMA journal_mode") == ["[journal_mode:\"wal\"]"])
  }

  @Test(
    "A store in WAL mode that the user may only read is refused for its permissions",
    .enabled(
      if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0, "only root can take a permission from another user"))
  func onlyRead() throws {
    try DatabaseQueue(path: store).writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
    for (path, mode) in [(folder.path, 0o755), (store, 0o644)] { #expect(chmod(path, mode_t(mode)) == 0) }
    let nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    let words = ["metadata", store, "set", "app", "1"]
    try expectRefusal(
      20, ["this user may only read it", "permissions", "nothing was written"], words, in: folder, program: "godwit",
      launcher: nobody)
    #expect(chmod(store, 0o666) == 0)
    try expectRefusal(
      20, ["the store cannot be written", "permissions of the store and of its folder"], words, in: folder,
      program: "godwit", launcher: nobody)
  }

  @Test("A reader in a transaction, a foreign trigger, and an interrupted migration keep the metadata as it is")
  func kept() throws {
    let queue = try DatabaseQueue(path: store)
    try queue.inTransaction { database in
      _ = try Row.fetchOne(database, sql: "SELECT * FROM ZBOOK")
      try expectBusy()
      return .rollback
    }
    try queue.write {
      try $0.execute(sql: "CREATE TRIGGER own AFTER UPDATE ON Z_METADATA BEGIN DELETE FROM ZBOOK; END")
    }
    try expectRefusal(20, ["trigger own"], ["metadata", store, "set", "app", "1"], in: folder, program: "godwit")
    try queue.write { try $0.execute(sql: "DROP TRIGGER own") }
    try queue.close()
    #expect(try metadata().entries["app"] == nil)
    let large = try folder.sample("Large.sqlite", rows: 6000)
    _ = try folder.interrupted(large)
    try expectRefusal(
      20, ["migration", "resume"], ["metadata", large, "set", "app", "1"], in: folder, program: "godwit")
    let outcome = try folder.run("book-migration", ["resume", large])
    #expect(outcome.code == 0)
  }

  @Test("A writer that is killed at any moment leaves the old value or the new one", arguments: [5])
  func killed(seed: UInt64) throws {
    var random = ExampleRandom(state: seed)
    var kills = 0
    for round in 0..<25 {
      let process = try CommandProcess(
        "godwit", ["metadata", store, "set", "round", "\(round)", "--type", "integer"], in: folder)
      usleep(UInt32(2000 + random.next(40_000)))
      process.send(SIGKILL)
      if try process.wait().code == 128 + SIGKILL { kills += 1 }
      #expect(try ExampleFolder.rows(store, "PRAGMA integrity_check") == ["[integrity_check:\"ok\"]"], "seed \(seed)")
      let value = try metadata().entries["round"]
      if case .integer(let number)? = value { #expect(number <= round) }
    }
    print("metadata: \(kills) of 25 writers killed, seed \(seed)")
  }
}
