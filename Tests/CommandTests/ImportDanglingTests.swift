import Foundation
import GRDB
import Testing

/// Links that lead to no object, as a damaged store has them.
@Suite("Imports with keys that lead to no object")
struct ImportDanglingTests {
  private let imports: ImportFolder
  private var folder: CommandFolder { imports.folder }

  init() throws { imports = try ImportFolder() }

  private let lines = [
    #"{"entity":"Keeper","key":1,"attributes":{"birthDate":0},"relationships":{"boss":77}}"#,
    #"{"entity":"Keeper","key":4,"attributes":{"birthDate":0},"relationships":{"tags":[5]}}"#,
    #"{"entity":"Lion","key":2,"attributes":{"name":"Leo"},"relationships":{"keeper":1}}"#,
    #"{"entity":"Lion","key":3,"attributes":{"name":"Lou"},"relationships":{"keeper":9}}"#,
  ].joined(separator: "\n")

  @Test("The error names the command that keeps such keys; the store has them, the summary their number")
  func kept() throws {
    let (path, store) = (try imports.write("a.jsonl", lines), folder.newPath("Zoo") + ".sqlite")
    let refused = try imports.importing([path], to: store)
    #expect(refused.code == 20 && !FileManager.default.fileExists(atPath: store), "\(refused)")
    let command = try #require(refused.error.split(separator: "`").first { $0.hasSuffix("--allow-dangling") })
    let outcome = try folder.paste(String(command))
    #expect(outcome.code == 0, "\(outcome)")
    #expect(outcome.output.contains("note: 3 keys lead to no object"), "\(outcome)")
    let exported = try folder.run("godwit", ["export", store, "--to-many"]).output
    for link in [#""key":77}"#, #""key":9}"#, #""key":1}"#, #""tags":[5]"#] {
      #expect(exported.contains(link), "\(exported)")
    }
  }

  @Test("A list of a one-to-many has no place for such a key: an error all the same, without that command")
  func lists() throws {
    for (line, options) in [
      (#"{"entity":"Keeper","attributes":{"birthDate":0},"relationships":{"minions":[77]}}"#, []),
      (#"{"entity":"Keeper","attributes":{"birthDate":0},"relationships":{"minions":[77]}}"#, ["--allow-dangling"]),
    ] {
      let outcome = try imports.importing([imports.write("b.jsonl", line)], options)
      #expect(outcome.code == 20 && !outcome.error.contains("keeps such keys"), "\(outcome)")
    }
  }

  @Test("No new object gets a key that leads to none: not in the import, and not by an application later")
  func reserved() throws {
    let keeper = #"{"entity":"Keeper","attributes":{"birthDate":0},"relationships":{"tags":[7]}}"#
    let other = keeper.replacing("[7]", with: "[]")
    let boss = #"{"entity":"Keeper","key":1,"attributes":{"birthDate":0},"relationships":{"boss":5}}"#
    let tags = ["a", "b"].map { #"{"entity":"Tag","attributes":{"label":"\#($0)"}}"# }
    let lines = [keeper, other, other, boss, other, other] + tags
    let (path, store) = (
      try imports.write("d.jsonl", lines.joined(separator: "\n")), folder.newPath("Keys") + ".sqlite"
    )
    let outcome = try imports.importing([path], ["--allow-dangling"], to: store)
    #expect(outcome.code == 0 && outcome.output.contains("note: 2 keys lead to no object"), "\(outcome)")
    let queue = try DatabaseQueue(path: store)
    try queue.read { db in
      let keys = try Int.fetchAll(db, sql: "SELECT Z_PK FROM ZKEEPER ORDER BY Z_PK")
      #expect(keys == [1, 6, 7, 8, 9, 10])
      #expect(try Int.fetchAll(db, sql: "SELECT Z_PK FROM ZTAG ORDER BY Z_PK") == [8, 9])
      for (name, largest) in [("Keeper", 10), ("Tag", 9)] {
        #expect(
          try Int.fetchOne(db, sql: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = ?", arguments: [name]) == largest)
      }
    }
    try queue.close()
  }

  @Test("With checkpoints or without, the bytes are the same")
  func checkpoints() throws {
    let path = try imports.write("c.jsonl", lines)
    let stores = try [[], ["--checkpoint-every", "1B"]].map { options in
      let store = folder.newPath("Same") + ".sqlite"
      let outcome = try imports.importing([path], ["--allow-dangling"] + options, to: store)
      #expect(outcome.code == 0, "\(outcome)")
      return try CommandFolder.bytes(store)
    }
    #expect(stores[0] == stores[1])
  }
}
