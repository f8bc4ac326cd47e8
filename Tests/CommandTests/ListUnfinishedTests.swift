import Foundation
import Glibc
import Testing

@testable import BatchCommand

@Suite("A list knows runs that have replaced nothing, and imports that were interrupted", .serialized)
struct ListUnfinishedTests {
  /// V2 cannot hold a number that is too large for it.
  private func narrowing() throws -> (FindingFolder, stores: [String], list: String) {
    let number = { (type: String) in #"<attribute name="n" attributeType="\#(type)" defaultValueString="0"/>"# }
    let folder = try FindingFolder([number("Integer 64"), number("Integer 16")])
    let stores = try ["a.sqlite", "b.sqlite", "c.sqlite"].map { name in
      let store = try folder.sample(name)
      try folder.execute(store, "UPDATE ZA SET ZN = Z_PK")
      return store
    }
    return (folder, stores, try Self.write(stores, in: folder.folder))
  }

  private static func write(_ lines: [String], in folder: CommandFolder) throws -> String {
    let list = folder.newPath("stores.txt")
    try lines.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
    return list
  }

  private func widen(_ store: String, _ folder: FindingFolder) throws {
    try folder.execute(store, "UPDATE ZA SET ZN = 70000 WHERE Z_PK = 2")
  }

  @Test("rollback of a list counts a store whose migration failed as 0, for nothing was replaced")
  func failed() throws {
    let (folder, stores, list) = try narrowing()
    try widen(stores[1], folder)
    let migrated = try folder.run(["migrate", "--manifest", list, "--models", folder.models])
    #expect(migrated.code == 1, "\(migrated)")
    let back = try folder.run(["rollback", "--manifest", list])
    #expect(back.code == 0 && back.output.contains("3 stores: 2 restored, 1 nothing was replaced"), "\(back)")
    #expect(back.output.contains("\(stores[1]): its migration failed before"), "\(back)")
    let again = try ListDocument(folder.run(["rollback", "--manifest", list, "--json"]))
    #expect(again.code == 0 && again.states == ["rolled back", "nothing was replaced", "rolled back"], "\(again)")
  }

  @Test("rollback of a list counts a store whose migration was interrupted as 0, for nothing was replaced")
  func interrupted() throws {
    let folder = try CommandFolder()
    let store = try folder.sample("Long.sqlite", rows: 3000)
    _ = try folder.interrupted(store, every: "5kB")
    let list = try Self.write([store], in: folder)
    let back = try folder.run("book-migration", ["rollback", "--manifest", list])
    #expect(back.code == 0 && back.output.contains("\(store): its migration is not finished"), "\(back)")
    let cleaned = try folder.run("book-migration", ["clean", "--manifest", list])
    #expect(
      cleaned.code == 0 && cleaned.output.contains("kept: 1\n  \(store): interrupted run; resume it"), "\(cleaned)")
    #expect(try folder.run("book-migration", ["resume", store, "--quiet"]).code == 0)
  }

  @Test("The command that gives up failed runs of a list works as it is printed")
  func givenUp() throws {
    let (folder, stores, list) = try narrowing()
    // It has a backup, and its next migration fails.
    try folder.runWell(["migrate", stores[1], "--identity", "--models", folder.models])
    try widen(stores[1], folder)
    #expect(try folder.run(["migrate", "--manifest", list, "--models", folder.models]).code == 1)
    let back = try ListDocument(folder.run(["rollback", "--manifest", list, "--json"]))
    #expect(back.code == 20 && back.states == ["restored", "refused", "restored"], "\(back)")
    let next = try #require(back.groups.first { $0.state == "refused" }?.next)
    #expect(next == "sed -n '2p' \(list) | godwit clean --manifest - --all", "\(next)")
    let cleaned = try folder.folder.paste(next)
    #expect(cleaned.code == 0 && cleaned.output.contains("1 store: 1 cleaned"), "\(cleaned)")
    #expect(try folder.jobs().isEmpty)
  }

  @Test("A command that begins anew has no option that nobody typed, and one that was chosen since")
  func defaults() throws {
    let (folder, stores, _) = try narrowing()
    try widen(stores[0], folder)
    let words = ["migrate", stores[0], "--models", folder.models]
    #expect(try folder.run(words).code == 1)
    let whole = "`godwit migrate \(stores[0]) --models \(folder.models) --restart`"
    #expect(try folder.run(["status", stores[0]]).output.contains("Begin anew with \(whole)"))
    #expect(try folder.run(["resume", stores[0], "--history", "empty"]).code != 0)
    let chosen = "`godwit migrate \(stores[0]) --models \(folder.models) --history empty --restart`"
    #expect(try folder.run(["status", stores[0]]).output.contains("Begin anew with \(chosen)"))
  }

  @Test(
    "A store that an interrupted import was to make is shown, kept, gone on with and given up as alone",
    .enabled(if: StopLibrary.isPossible, StopLibrary.needed))
  func imports() throws {
    let imports = try ImportFolder()
    try imports.interrupt(try imports.linked())
    let (folder, list) = (imports.folder, try Self.write([imports.store], in: imports.folder))
    func run(_ words: [String]) throws -> ListDocument {
      try ListDocument(folder.run("godwit", words + ["--manifest", list, "--json"]))
    }
    for words in [["status", "--check"], ["report"]] {
      let found = try run(words)
      #expect(found.code == 75 && found.states == ["interrupted"], "\(found)")
      #expect(found.groups[0].next?.hasSuffix("godwit resume --manifest \(list)") == true, "\(found)")
    }
    let kept = try run(["clean"])
    #expect(kept.code == 0 && kept.states == ["kept"], "\(kept)")
    #expect(kept.stores[0].detail?.hasPrefix("interrupted import; resume it with `godwit resume ") == true, "\(kept)")
    let back = try run(["rollback"])
    #expect(back.code == 0 && back.states == ["nothing was replaced"], "\(back)")
    let next = try #require(try run(["status"]).groups[0].next)
    let done = try folder.paste(next)
    // Two lines are wrong, and may be.
    #expect(done.code == 10 && done.output.contains("1 store: 1 imported, with rejects"), "\(done)")
    #expect(try folder.run("godwit", ["verify", imports.store]).code == 0)
    #expect(try run(["status"]).states == ["no migration is known"])
    try FileManager.default.removeItem(atPath: imports.store)
    try imports.interrupt(try imports.linked())
    #expect(try run(["clean", "--all"]).states == ["cleaned"])
    #expect(!FileManager.default.fileExists(atPath: imports.scratch))
  }
}
