import ArgumentParser
import Foundation
import Testing

@testable import BatchCommand

@Suite("Completion of command lines")
struct CompletionTests {
  /// A folder with a store and models, in which a version has a name that a shell must not run.
  private static func folder() throws -> CommandFolder {
    let folder = try CommandFolder()
    _ = try folder.sample("My Store.sqlite", rows: 50)
    for (from, to) in [(ExampleFolder.models, "Library.xcdatamodeld"), (ExampleFolder.mappings, "Mappings")] {
      try FileManager.default.copyItem(atPath: from, toPath: folder.file(to))
    }
    let model = folder.file("Library.xcdatamodeld/")
    try FileManager.default.copyItem(
      atPath: model + "Library 3.xcdatamodel", toPath: model + "$(touch ran).xcdatamodel")
    try FileManager.default.copyItem(atPath: model + "Library 3.xcdatamodel", toPath: model + "Two\nlines.xcdatamodel")
    return folder
  }

  private static func asked(_ folder: CommandFolder, _ line: String, _ shell: String = "fish") throws -> [String] {
    let line = line.replacing("@", with: folder.path + "/")
    let outcome = try folder.run("godwit", [CompletionAnswer.request, shell, line])
    #expect(outcome.code == 0 && outcome.error.isEmpty, "\(line): \(outcome.error)")
    return outcome.output.split(separator: "\n").map { String($0).replacing(folder.path + "/", with: "@") }
  }

  /// Lines as they are typed, and the arguments that the program then gets.
  private static func typed(_ shell: String) -> [(line: String, arguments: [String])] {
    let migrate = "godwit migrate a --models Library.xcdatamodeld"
    let models = ["migrate", "a", "--models", "Library.xcdatamodeld"]
    return [
      ("godwit mig\t", ["migrate"]), ("godwit fleet sub\t", ["fleet", "submit"]),
      ("godwit inspect My\t", ["inspect", "My Store.sqlite"]),
      ("godwit inspect My\\ St\t", ["inspect", "My Store.sqlite"]),
      ("godwit inspect \"My\t", ["inspect", "My Store.sqlite"]),
      (migrate + " --to Library\\ 2\t", models + ["--to", "Library 2"]),
      (migrate + " --to=Library\\ 2\t", models + ["--to=Library 2"]),
      // bash would expand it.
      (migrate + " --to \\$\t", models + ["--to", shell == "bash" ? "$" : "$(touch ran)"]),
      (migrate + " --drop Book Us\t", models + ["--drop", "Book", "User"]),
      (migrate + " --drop Book.ti\t", models + ["--drop", "Book.title"]),
      (migrate + " B --mapp\t", models + ["B", "--mappings"]),
      (migrate + " --mappings Mappings --only UserT\t", models + ["--mappings", "Mappings", "--only", "UserToUser"]),
      ("godwit diff Library.xcdatamodeld:Library\\ 2\t", ["diff", "Library.xcdatamodeld:Library 2"]),
      ("godwit export My\\ Store.sqlite Us\t", ["export", "My Store.sqlite", "User"]),
      ("godwit plan a --verify fu\t", ["plan", "a", "--verify", "full"]),
      ("godwit plan a --to Lib\t", ["plan", "a", "--to", "Lib"]),
      ("godwit plan a --models /none --to Lib\t", ["plan", "a", "--models", "/none", "--to", "Lib"]),
    ]
  }

  @Test(
    "In a real shell, TAB completes commands, options, versions, entities, properties, models and stores, and runs nothing",
    arguments: ["bash", "zsh", "fish"])
  func shells(shell: String) throws {
    let folder = try Self.folder()
    guard let terminal = try ShellTerminal.start(shell, in: folder) else {
      return print("skipped: there is no \(shell), or no setsid")
    }
    defer { terminal.close() }
    for (line, wanted) in Self.typed(shell) { #expect(try terminal.type(line) == wanted, "\(line)") }
    // A model is a folder, and bash and zsh show it as one.
    let model = try terminal.type("godwit models Libr\t").last
    #expect(model == "Library.xcdatamodeld" || model == "Library.xcdatamodeld/")
    #expect(!FileManager.default.fileExists(atPath: folder.file("ran")))
    #expect(
      !terminal.screen.localizedCaseInsensitiveContains("error") && !terminal.screen.contains("godwit:"),
      "\(terminal.screen)")
  }

  @Test("The parser's own entry for custom completions answers, too")
  func parserEntry() throws {
    let words = ["godwit", "migrate", "a", "--models", ExampleFolder.models, "--to", ""]
    let folder = try CommandFolder()
    let outcome = try folder.run("godwit", ["---completion", "migrate", "--", "--to", "6", "0"] + words)
    #expect(outcome.code == 0 && outcome.error.isEmpty && outcome.output == "Library 1\nLibrary 2\nLibrary 3\n")
  }

  @Test("Values follow from what the line names; a line that names nothing, or what cannot be read, has none")
  func values() throws {
    let folder = try Self.folder()
    for (line, wanted) in [
      ("godwit sample @Library.xcdatamodeld --version ", ["$(touch ran)", "Library 1", "Library 2", "Library 3"]),
      (
        "godwit plan a --models @Library.xcdatamodeld --versions 'Library 1,",
        ["$(touch ran)", "Library 2", "Library 3"].map { "Library 1,\($0)" }
      ),
      ("godwit trace '@My Store.sqlite' ", ["Book", "User"]), ("godwit plan a --to ", []),
      ("godwit plan a --drop ", []),
      ("godwit plan a --app @ --bundle ", ["Library"]),
      ("godwit export a --app @ ", ["Author", "Book", "File", "User"]),
      ("godwit plan a --models @ --skip ", []), ("godwit plan a --models /none --to ", []),
      ("godwit trace /etc/passwd ", []),
      ("godwit migrate a --deadline ", []), ("godwit plan a --none=", []), ("godwit nothing ", []),
      ("godwit plan a --path ", ["direct", "stepwise"]), ("godwit verify a --verify ", ["fast", "full", "sqlite"]),
      ("godwit mapping check @Map", ["@Mappings/"]),
      ("godwit plan a --models @", ["@Library.xcdatamodeld", "@Mappings/", "@My Store.sqlite"]),
      ("godwit fleet run --plan @Lib", ["@Library.xcdatamodeld/"]),
      ("godwit fleet run --state @", ["@Library.xcdatamodeld/", "@Mappings/"]),
    ] { #expect(try Self.asked(folder, line) == wanted, "\(line)") }
  }

  @Test("Options that are given are not offered again, and none is where a value must be")
  func options() throws {
    let root = try CommandShape.root()
    func names(_ line: String) -> [String]? {
      guard case .words(let words) = LineCompletion(ShellLine(line), of: root).offer else { return nil }
      return words.map(\.text)
    }
    #expect(try #require(names("godwit plan a ")).contains("--models"))
    #expect(names("godwit plan a --json --models x --js")?.contains("--json") == false)
    #expect(names("godwit plan a --models x y -")?.contains("--to") == true)
    #expect(names("godwit plan a --memory ") == [] && names("godwit plan a -- b -") == [])
    #expect(
      names("godwit plan ") == nil && names("godwit plan a --models ") == nil
        && names("godwit plan a --models x ") == nil)
    #expect(try #require(names("godwit fleet ")) == ["plan", "run", "submit", "status"])
    #expect(try #require(names("godwit migrate a --explain Book --ex")).contains("--explain"))
  }

  @Test("Each shell gets names in its own form, with meanings where it shows them")
  func forms() throws {
    let folder = try Self.folder()
    #expect(try Self.asked(folder, "godwit fleet su", "bash") == ["submit"])
    #expect(try Self.asked(folder, "godwit fleet su", "zsh").first == "words")
    #expect(try Self.asked(folder, "godwit fleet su").contains { $0.hasPrefix("submit\tWrites") })
    #expect(try Self.asked(folder, "godwit fleet su", "zsh").contains { $0.hasPrefix("submit:Writes") })
    #expect(
      try Self.asked(folder, "godwit plan ", "zsh") == ["files"] && Self.asked(folder, "godwit plan a", "tcsh") == [])
    #expect(try Self.asked(folder, "godwit diff @Library.xcdatamodeld:Library\\ 2", "bash") == ["Library 2"])
    #expect(
      try Self.asked(folder, "godwit diff '@Library.xcdatamodeld:Library 2", "bash") == [
        "@Library.xcdatamodeld:Library 2"
      ])
    #expect(
      try Self.asked(folder, "godwit diff @Library.xcdatamodeld:", "zsh").contains("@Library.xcdatamodeld\\:Library 2"))
  }
}
