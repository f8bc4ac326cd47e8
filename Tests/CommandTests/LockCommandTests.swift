import Foundation
import Testing

@testable import BatchCommand
@testable import SwiftDataModels

@Suite("Locks of SwiftData's schemas", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct LockCommandTests {
  private let folder: CommandFolder
  private let sources: SchemaSources

  init() throws {
    folder = try CommandFolder(readsSwift: true)
    sources = try SchemaSources(folder.file("App"), [SchemaSources.first, SchemaSources.second])
  }

  private func run(_ words: String...) throws -> CommandProcess.Outcome {
    try folder.run("godwit", [words[0], sources.path] + words.dropFirst())
  }

  private static let optional = SchemaSources.first.replacing("rating: Int", with: "rating: Int?")

  @Test("lock writes every version beside the sources, and check ends with 0 and says what the steps drop")
  func locked() throws {
    let done = try run("lock")
    #expect(done.code == 0 && done.output == "\(sources.lock): locked: 1.0.0, 2.0.0\n", "\(done)")
    let text = try String(contentsOfFile: sources.lock, encoding: .utf8)
    #expect(text.contains("          rating: { type: integer64 }\n"))
    let hash = try run("models")
    for line in text.split(separator: "\n") where line.contains("checksum:") {
      let checksum = try #require(line.split(separator: "\"").last)
      #expect(hash.output.contains(checksum))
    }
    let checked = try run("check")
    #expect(checked.code == 0 && checked.output.hasPrefix("\(sources.lock): 2 locked versions, none changed\n"))
    #expect(checked.output.contains("step 1.0.0 to 2.0.0: lightweight, drops Book.subtitle\n"), "\(checked)")
    // Nothing to add: the file stays as it is.
    let before = try folder.tree()
    #expect(try run("lock").output == "\(sources.lock): as before: 1.0.0, 2.0.0\n")
    #expect(try folder.tree() == before)
  }

  @Test("A locked version that changed ends with 4; file, line, entity, property, the edit and what to do are named")
  func changed() throws {
    #expect(try run("lock").code == 0)
    try sources.write([Self.optional, SchemaSources.second])
    let found = try run("check")
    #expect(found.code == ExitCodes.lockedVersionChanged && ExitCodes.lockedVersionChanged == 4)
    #expect(
      found.output.contains("\(sources.file):6: error: version 1.0.0: Book.rating became optional\n"), "\(found)")
    #expect(
      found.output.contains(
        "Put 1.0.0 back as it was. Make the change in a new VersionedSchema, SchemaV3, and add both to the SchemaMigrationPlan: "
          + "SchemaV3.self to its schemas, and to its stages .lightweight(fromVersion: SchemaV2.self, toVersion: SchemaV3.self)"
      ))
    // As the advice says.
    try sources.write([SchemaSources.first, SchemaSources.second, Self.optional])
    let note = try run("check")
    #expect(note.code == 0 && note.output.contains("note: version 3.0.0 is not locked yet"), "\(note)")
    #expect(note.output.contains("warning: 2.0.0 to 3.0.0: lightweight, drops Book.pages"), "\(note)")
    #expect(note.output.contains("Lock it before you ship it: `godwit lock \(sources.path)`"))
    let done = try run("lock")
    #expect(done.code == 0 && done.output.contains("locked: 3.0.0; as before: 1.0.0, 2.0.0"), "\(done)")
    #expect(try run("check").output.contains("3 locked versions, none changed"))
  }

  @Test(
    "lock changes no locked version: it ends with 4 and writes nothing; --update, as advised, locks it as it is now")
  func updated() throws {
    #expect(try run("lock").code == 0)
    try sources.write([Self.optional, SchemaSources.second, SchemaSources.first])
    let before = try folder.tree()
    let refused = try run("lock")
    #expect(refused.code == 4 && refused.output.isEmpty, "\(refused)")
    #expect(refused.error.contains("Book.rating became optional") && refused.error.contains("nothing was written"))
    #expect(refused.error.contains("`godwit lock \(sources.path) --update 1.0.0`"))
    #expect(try folder.tree() == before)
    let done = try run("lock", "--update", "1.0.0")
    #expect(done.code == 0 && done.output.contains("locked: 3.0.0; locked as it is now: 1.0.0; as before: 2.0.0"))
    #expect(try run("check").code == 0)
    for (name, message) in [("1.0.0", "is as it was locked"), ("4.0.0", "is not locked")] {
      let refused = try run("lock", "--update", name)
      #expect(refused.code == 20 && refused.error.contains("the version \(name) \(message)"), "\(refused)")
    }
  }

  @Test("A locked version that is missing ends with 4; lock keeps it, and --update forgets it")
  func missing() throws {
    #expect(try run("lock").code == 0)
    try sources.write([SchemaSources.first])
    let found = try run("check")
    #expect(found.code == 4 && found.output.contains("version 2.0.0 is locked, and the sources do not have it"))
    #expect(found.output.contains("`godwit lock \(sources.path) --update 2.0.0`"))
    #expect(try run("lock").output.contains("as before: 1.0.0, 2.0.0"))
    #expect(try run("check").code == 4)
    #expect(try run("lock", "--update", "2.0.0").output.contains("forgotten: 2.0.0; as before: 1.0.0"))
    #expect(try run("check").code == 0)
  }

  @Test("An edit that no lightweight stage makes asks for a custom one, and a step that needs one is a warning")
  func custom() throws {
    #expect(try run("lock").code == 0)
    let renamed = SchemaSources.second.replacing("rating: Int", with: "rating: String")
    try sources.write([SchemaSources.first, renamed])
    let found = try run("check")
    #expect(found.code == 4 && found.output.contains("Book.rating has the type string instead of integer64"))
    #expect(found.output.contains(".custom(fromVersion: SchemaV2.self, toVersion: SchemaV3.self"), "\(found)")
    try sources.write([SchemaSources.first, SchemaSources.second, renamed])
    let step = try run("check")
    #expect(step.code == 0 && step.output.contains("warning: 2.0.0 to 3.0.0: needs a mapping model"), "\(step)")
  }

  @Test(
    "Sources without a VersionedSchema are told to become one; each edit has its own line, and advice is given once")
  func unversioned() throws {
    func write(_ text: String) throws { try text.write(toFile: sources.file, atomically: true, encoding: .utf8) }
    try write("@Model class Item {\n  var name: String\n  var n: Int\n}\n")
    #expect(try run("lock").output.contains("locked: 1.0.0"))
    try write(
      "@Model class Item {\n  var name: String\n  var n: Int?\n  var at: Date?\n}\n@Model class Tag { var t: Int }\n")
    let found = try run("check")
    let edits = ["3: error: version 1.0.0: Item.n became optional", "4: error: version 1.0.0: Item.at was added"]
    for edit in edits + ["6: error: version 1.0.0: Tag was added"] {
      #expect(found.output.contains("\(sources.file):\(edit)"), "\(found)")
    }
    let advice =
      "Make it a VersionedSchema, and the change in a second one, with a SchemaMigrationPlan that has both and "
      + ".lightweight(fromVersion: SchemaV1.self, toVersion: SchemaV2.self)"
    #expect(found.code == 4 && found.output.components(separatedBy: advice).count == 2, "\(found)")
  }

  @Test("Without a lock check ends with 64 and names the command; a damaged one is an error with its line")
  func badLock() throws {
    let none = try run("check")
    #expect(none.code == 64 && none.error.contains("there is no lock. To lock the versions as they are: `godwit lock"))
    #expect(try run("lock", "--lock", folder.file("other.lock")).code == 0)
    let text = try String(contentsOfFile: folder.file("other.lock"), encoding: .utf8)
    try text.replacing("integer64", with: "integer32")
      .write(toFile: folder.file("other.lock"), atomically: true, encoding: .utf8)
    for command in ["check", "lock"] {
      let found = try run(command, "--lock", folder.file("other.lock"))
      #expect(found.code == 20 && found.error.contains("other.lock: line "), "\(found)")
      #expect(found.error.contains("what stands here of Book in 1.0.0 does not give its hash"))
    }
  }

  @Test("In the folder of the sources the lock is in it; a lock is of one model")
  func places() throws {
    let done = try folder.run("godwit", [], launcher: ["/bin/sh", "-c", "cd '\(sources.path)' && exec \"$0\" lock ."])
    #expect(done.code == 0 && FileManager.default.fileExists(atPath: sources.path + "/schema.lock"), "\(done)")
    let models = folder.file("Models")
    try FileManager.default.createDirectory(atPath: models, withIntermediateDirectories: true)
    for name in ["A", "B"] {
      try FileManager.default.copyItem(atPath: ExampleFolder.models, toPath: models + "/\(name).xcdatamodeld")
    }
    let refused = try folder.run("godwit", ["lock", models])
    #expect(refused.code == 20 && refused.error.contains("a lock is of one model, and there are 2"), "\(refused)")
  }
}
