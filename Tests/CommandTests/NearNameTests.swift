import Foundation
import Testing

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
