import Foundation
import Testing

@testable import RunSupport

/// What the command makes of words that are misspelt, or stand where the parser would take them for others.
@Suite("Words of a command line")
struct NearNameTests {
  private let folder: CommandFolder
  private let store: String

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 40)
  }

  private func expectUsage(_ part: String, _ arguments: [String]) throws {
    let outcome = try folder.run("godwit", arguments)
    #expect(outcome.code == 64 && outcome.error.contains(part), "\(arguments): \(outcome)")
  }

  @Test("A command that is misspelt gets the nearest one, also below another command")
  func commands() throws {
    try expectUsage("There is no command migrat, did you mean migrate?", ["migrat", store])
    try expectUsage("There is no command chek, did you mean check?", ["mapping", "chek", "x.yaml"])
    try expectUsage("There is no command elephant\n", ["elephant"])
    let help = try folder.run("godwit", ["help", "migrate"])
    #expect(help.code == 0 && help.output.contains("Migrates a store"))
  }

  @Test("A path at which there is nothing gets the nearest name beside it")
  func paths() throws {
    let name = "did you mean Library.sqlite?"
    try expectUsage(name, ["migrate", folder.file("Librry.sqlite")] + CommandFolder.models)
    try expectUsage(name, ["inspect", folder.file("Library.sqlit")])
    try expectUsage(
      "did you mean Library.xcdatamodeld?",
      ["plan", store, "--models", ExampleFolder.models.replacing("Library.xc", with: "Libary.xc")])
    try expectUsage(
      "did you mean Mappings?",
      ["plan", store, "--models", ExampleFolder.models, "--mappings", ExampleFolder.mappings + "s"])
  }

  @Test("Equal endings and a few equal letters make no two names alike; two letters that are swapped do")
  func farNames() throws {
    let near = { (name: String, names: [String]) in NearName.find(name, in: names) }
    for (name, other) in [("Foo", "Book"), ("nope", "home"), ("K", "C"), ("V9", "V1"), ("none", "hook")] {
      #expect(near(name, [other]) == nil, "\(name)")
    }
    for (name, other) in [("titel", "title"), ("Bok", "Book"), ("Libary", "Library"), ("book", "Book")] {
      #expect(near(name, ["Zzz", other]) == other, "\(name)")
    }
    for name in ["M1.sqlite", "C2.sqlite", "hook.txt"] {
      try "x".write(toFile: folder.file(name), atomically: false, encoding: .utf8)
    }
    for name in ["nope.sqlite", "none.sqlite", "K.sqlite", "none.txt"] {
      let outcome = try folder.run("godwit", ["inspect", folder.file(name)])
      #expect(outcome.code == 64 && !outcome.error.contains("did you mean"), "\(outcome)")
    }
    try expectUsage("did you mean hook.txt?", ["inspect", folder.file("hok.txt")])
  }

  @Test("A path at which there is nothing, and nothing is known of, is 64 in every command that takes one")
  func missingPaths() throws {
    let none = folder.file("none")
    for words in [
      ["rollback", none], ["ctl", "pause", none], ["ctl", "stop", none], ["clean", none], ["inspect", none],
      ["clean", none + "/none.sqlite"], ["migrate", none + "/none.sqlite", "--models", ExampleFolder.models],
    ] {
      try expectUsage("there is no such", words)
    }
    #expect(try folder.run("godwit", ["clean", folder.path]).code == 0)
    #expect(try folder.run("godwit", ["clean", store]).code == 0)
    // A folder where a store was to be.
    for words in [["export"], ["export", "--raw"], ["inspect"], ["verify"]] {
      try expectUsage("this is a folder, not a store", words + [folder.path])
    }
  }

  @Test("What is no store is told as such by commands on runs, too: 64 for a folder or a device, 30 for another file")
  func noStores() throws {
    let text = folder.file("text.txt")
    try "no store".write(toFile: text, atomically: true, encoding: .utf8)
    let before = try folder.tree()
    let models = ["--models", ExampleFolder.models]
    for words in [
      ["resume"], ["rollback"], ["ctl", "pause"], ["ctl", "resume"], ["ctl", "stop"], ["ctl", "throttle", "none"],
      ["status"], ["status", "--check"], ["report"], ["plan"] + models, ["migrate"] + models,
    ] {
      try expectUsage("this is a folder, not a store", words + ["--", folder.path])
      try expectUsage("this is no regular file, not a store", words + ["--", "/dev/null"])
      guard !["plan", "migrate", "status"].contains(words[0]) else { continue }
      try expectUsage("there is no such store", words + ["--", folder.file("none/none.sqlite")])
      let outcome = try folder.run("godwit", words + ["--", text])
      #expect(outcome.code == 30 && outcome.error.contains("this is no SQLite database"), "\(outcome)")
    }
    #expect(try folder.tree() == before)
  }

  @Test("Commands that only read do not say that nothing was written; those that write do")
  func onlyReading() throws {
    let none = folder.file("none")
    for words in [["inspect", none], ["verify", none], ["ctl", "pause", store]] {
      let outcome = try folder.run("godwit", words)
      #expect(outcome.code != 0 && !outcome.error.lowercased().contains("nothing was written"), "\(outcome)")
    }
    let migrated = try folder.run("godwit", ["migrate", none] + CommandFolder.models)
    #expect(migrated.code == 64 && migrated.error.lowercased().contains("nothing was written"), "\(migrated)")
    let document = try folder.run("godwit", ["inspect", none, "--json"])
    #expect(document.output.contains("\"nothing-written\""), "\(document)")
  }

  @Test("An entity that is misspelt gets the nearest one")
  func entities() throws {
    let models = ["--models", ExampleFolder.models]
    let exported = try folder.run("godwit", ["export", store, "book"] + models)
    #expect(exported.code == 20 && exported.error.contains("has no entity book, did you mean Book? Its entities"))
    let traced = try folder.run("book-migration", ["trace", store, "Bok", "1"] + CommandFolder.models)
    #expect(traced.code == 20 && traced.error.contains("has no entity Bok, did you mean Book? Its entities"))
  }

  @Test("Options may stand before the store, also those with several values, which stay theirs")
  func optionsFirst() throws {
    let models = ExampleFolder.models
    let versions = ["Library 1", "Library 2", "Library 3"].map { "\(models)/\($0).xcdatamodel" }
    for words in [
      CommandFolder.models + [store], ["--mappings", ExampleFolder.mappings, "--models", models, store, "--check"],
      ["--mappings", ExampleFolder.mappings, "--models"] + versions + [store, "--to", "Library 3"],
    ] {
      let plan = try folder.run("book-migration", ["plan"] + words)
      #expect(plan.code == 0 && plan.output.contains("version Library 1 to Library 3"), "\(words): \(plan)")
    }
    let exported = try folder.run("godwit", ["export", "--models", models, store, "Book"])
    #expect(exported.code == 0 && exported.output.contains("\"Book\""), "\(exported.error)")
    let dropped = try folder.run(
      "godwit", ["migrate", "--models", models, "--to", "Library 2", "--drop", "Book.authorName", store])
    #expect(dropped.code == 0, "\(dropped.error)")
    try expectUsage("Name a store", ["migrate"] + CommandFolder.models)
    // A store that is not there is one all the same.
    let missing = folder.file("Library 1.sqlite")
    try expectUsage("there is no such file", ["plan"] + CommandFolder.models + [missing])
  }
}
