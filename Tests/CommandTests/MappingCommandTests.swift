import Foundation
import Testing

@testable import MappingModels
@testable import MigrationJobs

@Suite("godwit mapping")
struct MappingCommandTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder() }

  private func write(_ text: String, _ name: String) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file(name)))
    return folder.file(name)
  }

  @Test("What init prints passes check, and plain godwit migrates with it")
  func initiated() throws {
    let versions = ["Library 1", "Library 2"].map { "\(ExampleFolder.models):\($0)" }
    let made = try folder.run("godwit", ["mapping", "init"] + versions)
    #expect(made.code == 0 && made.output.contains("- to: Author"))
    let mapping = try write(made.output, "Mine.yaml")
    let checked = try folder.run("godwit", ["mapping", "check", mapping, "--models", ExampleFolder.models])
    #expect(checked.code == 0 && checked.output == "Mine: 3 entity mappings, Library 1 to Library 2\n")
    let store = try folder.sample(rows: 500)
    let arguments = ["--models", ExampleFolder.models, "--mappings", mapping, "--to", "Library 2"]
    let outcome = try folder.run("godwit", ["migrate", store] + arguments)
    #expect(outcome.code == 0 && outcome.output.contains("version Library 2") && outcome.error.isEmpty)
  }

  @Test("A mapping model of Xcode is translated, and the translation passes check")
  func converted() throws {
    let name = "Library1_to_Library2"
    let path = "\(ExampleFolder.mappings)/\(name).xcmappingmodel"
    let made = try folder.run("godwit", ["mapping", "convert", path])
    let mapping = try write(made.output, name + ".yaml")
    let source = MappingModelReader.versions(in: path).source
    #expect(
      try MappingModelReader.read(path: mapping)
        == MappingModelReader.read(path: path).map { $0.tidied(source: source) })
    #expect(try folder.run("godwit", ["mapping", "check", mapping, "--models", ExampleFolder.models]).code == 0)
  }

  @Test("A translation says $same only of what has a source, and which rules may stand for a policy; they do")
  func policyRules() throws {
    let path = "\(ExampleFolder.mappings)/Library1_to_Library2.xcmappingmodel"
    let made = try folder.run("godwit", ["mapping", "convert", path, "--models", ExampleFolder.models])
    #expect(made.output.contains("  - to: Author\n  #") && !made.output.contains("authors: $same"))
    let rule = "objects: [{ findOrCreate: Author, by: { name: $source.authorName }, link: authors }]"
    #expect(made.output.contains("  # LibraryBookPolicy is code.") && made.output.contains("  #   \(rule)\n"))
    let text = made.output.replacing("    policy: LibraryBookPolicy\n", with: "    \(rule)\n")
    let mapping = try write(text, "Rules.yaml")
    let store = try folder.sample(rows: 300)
    let models = ["--models", ExampleFolder.models, "--to", "Library 2"]
    let done = try folder.run("godwit", ["migrate", store, "--mappings", mapping, "--progress", "none"] + models)
    #expect(done.code == 0 && done.output.contains("Author: "), "\(done)")
  }

  @Test("A draft names everything that the step drops")
  func dropped() throws {
    let versions = ["Library 1", "Library 2"].map { "\(ExampleFolder.models):\($0)" }
    let made = try folder.run("godwit", ["mapping", "init"] + versions)
    #expect(made.output.contains("  # Dropped, because Library 2 has no place for it: Book.authorName.\n  - Book\n"))
    let stores = try ["Library 1", "Library 2"].map { version in
      let path = folder.file(version + ".sqlite")
      let made = try folder.run(
        "godwit", ["sample", ExampleFolder.models, "--version", version, "--rows", "20", "--output", path])
      #expect(made.code == 0)
      return path
    }
    let drafted = try folder.run("godwit", ["mapping", "init"] + stores)
    #expect(drafted.output.hasPrefix("# From Library 1.sqlite's own model to Library 2.sqlite's own model."))
    let mapping = try write(drafted.output, "Stores.yaml")
    #expect(try folder.run("godwit", ["mapping", "check", mapping, "--models"] + stores).code == 0)
  }

  @Test("A value that only the author knows is undecided: check lists it, a migration is refused until it is there")
  func undecided() throws {
    let head = "from: Library 1\nto: Library 2\nothers: true\nentities:\n"
    func text(_ value: String) -> String { head + "  - from: Book\n    attributes: { title: \(value) }\n" }
    let store = try folder.sample(rows: 20)
    let mapping = try write(text("{ undecided: which of the two titles }"), "Open.yaml")
    let models = ["--models", ExampleFolder.models]
    let checked = try folder.run("godwit", ["mapping", "check", mapping] + models)
    let told = "  1 property to decide before a store can be migrated:\n    Book.title: which of the two titles\n"
    #expect(checked.code == 0 && checked.output.hasSuffix(told), "\(checked)")
    let arguments = [store, "--mappings", mapping, "--to", "Library 2"] + models
    for verb in ["plan", "migrate"] {
      let refused = try folder.run("godwit", [verb] + arguments)
      #expect(refused.code == 20, "\(refused)")
      #expect(refused.error.contains("BookToBook.title is still to be decided: which of the two titles"), "\(refused)")
    }
    _ = try write(text("$source.title"), "Open.yaml")
    #expect(try folder.run("godwit", ["migrate"] + arguments).code == 0)
  }

  @Test("A version that is nearly one is asked about, and a text of several words gets the form of a constant")
  func nearly() throws {
    for (text, said) in [
      ("from: Library1\nto: Library 2\nentities: [User, Book]\n", "Library1 is not known (did you mean Library 1?)"),
      (
        "from: Library 1\nto: Library 2\nentities:\n  - from: Book\n    attributes: { title: Unknown title }\n",
        "line 5: the expression goes on after its end, near character 1. For the text itself write { value: Unknown title }"
      ),
    ] {
      let file = try write(text, "Nearly.yaml")
      let checked = try folder.run("godwit", ["mapping", "check", file, "--models", ExampleFolder.models])
      #expect(checked.code == 20 && checked.error.contains(said), "\(checked)")
    }
  }

  @Test("A file with several faults of keys and structure gets all of them at once")
  func faults() throws {
    let text = """
      from: Library 1
      too: Library 2
      others: maybe
      entities:
        - User
        - from: Book
          atributes: {}
          attributes:
            title: { text: $source.title }
            isbn: { value: 1, format: x }
          objects:
            - { create: Author, lnk: authors, as: author }
            - { create: File, relationships: { book: $author, user: nobody } }
      """
    let file = try write(text, "Faults.yaml")
    for words in [["mapping", "check", file], ["plan", try folder.sample(rows: 10), "--mappings", file]] {
      let checked = try folder.run("godwit", words + ["--models", ExampleFolder.models])
      #expect(checked.code == 20 && checked.error.contains(": 7 faults:\n"), "\(checked)")
      for fault in [
        "line 2: the file has no key too, did you mean to?", "line 3: others has to be true or false",
        "line 7: an entity mapping has no key atributes, did you mean attributes?",
        "BookToBook: line 9: text needs format", "BookToBook: line 10: format does not go with value",
        "BookToBook: line 12: an object has no key lnk, did you mean link?",
        "BookToBook: line 13: nobody is the name of nothing",
      ] { #expect(checked.error.contains(fault), "\(fault): \(checked.error)") }
    }
  }

  @Test("A single fault is one error with entity and line; a file is named once, and is no mapping model to convert")
  func singleFault() throws {
    let text = """
      from: Library 1
      to: Library 2
      others: true
      entities:
        - User
        - from: Book
          attributes:
            title: $same
            isbn: null
          objects:
            - { create: Author, link: authors, as: author }
            - { create: File, relationships: { book: $author, user: nobody } }
      """
    let one = try write(text, "One.yaml")
    let single = try folder.run("godwit", ["mapping", "check", one, "--models", ExampleFolder.models])
    #expect(
      single.code == 20 && single.error.contains("One.yaml: BookToBook: line 12: nobody is the name"), "\(single)")
    let named = try write("from: Library 1\nto: Library 2\nothers: true\nentities: [Draft]\n", "Named.yaml")
    let checked = try folder.run("godwit", ["mapping", "check", named, "--models", ExampleFolder.models])
    #expect(checked.code == 20 && checked.error.hasPrefix("godwit: \(named): DraftToDraft: "), "\(checked)")
    #expect(checked.error.hasSuffix("Correct the mapping file\n"))
    let converted = try folder.run("godwit", ["mapping", "convert", named])
    let advice = "this is a mapping file already. Check it with `godwit mapping check \(named)`"
    #expect(converted.code == 20 && converted.output.isEmpty && converted.error.contains(advice), "\(converted)")
  }

  @Test("Versions with the same version hashes have no step, so there is no draft")
  func same() throws {
    let models = folder.file("Same.xcdatamodeld")
    try FileManager.default.copyItem(atPath: ExampleFolder.models, toPath: models)
    try FileManager.default.copyItem(
      atPath: models + "/Library 1.xcdatamodel", toPath: models + "/Library 1b.xcdatamodel")
    let made = try folder.run("godwit", ["mapping", "init", "Library 1", "Library 1b", "--models", models])
    #expect(made.code == 20 && made.output.isEmpty)
    #expect(made.error.contains("Library 1 and Library 1b have the same version hashes: there is no step to map"))
    #expect(made.error.contains("`godwit diff 'Library 1' 'Library 1b' --models \(models)`"), "\(made.error)")
    let compared = try folder.run("godwit", ["diff", "Library 1", "Library 1b", "--models", models])
    #expect(compared.code == 0, "\(compared)")
  }

  @Test("check takes several files and patterns")
  func patterns() throws {
    let written = ExampleFolder.root + "/Examples/Mappings/Library"
    let models = ["--models", ExampleFolder.models]
    for paths in [
      ["\(written)/Library1_to_Library2.yaml", "\(written)/Library2_to_Library3.yaml"], ["\(written)/*.yaml"],
    ] {
      let checked = try folder.run("godwit", ["mapping", "check"] + paths + models)
      #expect(checked.code == 0 && checked.output.split(separator: "\n").count == 2, "\(checked)")
    }
    let none = try folder.run("godwit", ["mapping", "check", "\(written)/*.yml"] + models)
    #expect(none.code == 64 && none.error.contains("no file fits this pattern"))
  }

  @Test("A file that does not fit is refused with its line, or with the name that the versions do not have")
  func refused() throws {
    let broken = try write("from: Library 1\nto: Library 2\nentitys: []\n", "Broken.yaml")
    let unread = try folder.run("godwit", ["mapping", "check", broken])
    #expect(
      unread.code == 20
        && unread.error.contains("Broken.yaml: line 3: the file has no key entitys, did you mean entities?"))
    let text =
      "from: Library 1\nto: Library 2\nothers: true\nentities: [{ from: Book, attributes: { titel: $source.title } }]\n"
    let unfit = try folder.run(
      "godwit", ["mapping", "check", try write(text, "Unfit.yaml"), "--models", ExampleFolder.models])
    #expect(unfit.code == 20 && unfit.error.contains("BookToBook: Book has no attribute titel, did you mean title?"))
  }

  @Test("A migration by mapping files that is killed goes on without them, to the same bytes")
  func killed() throws {
    let (whole, store) = (try folder.sample("Whole.sqlite", rows: 4000), try folder.sample(rows: 4000))
    let mappings = folder.newPath("mappings")
    try FileManager.default.copyItem(atPath: ExampleFolder.root + "/Examples/Mappings/Library", toPath: mappings)
    let arguments = ["--models", ExampleFolder.models, "--mappings", mappings, "--checkpoint-every", "20kB"]
    #expect(try folder.run("godwit", ["migrate", whole] + arguments).code == 0)
    let job = try JobDirectory(destination: store)
    let process = try CommandProcess("godwit", ["migrate", store] + CommandFolder.slowly + arguments, in: folder)
    while process.isRunning, CommandFolder.checkpoints(job.path).count < 2 { usleep(2000) }
    process.send(SIGKILL)
    #expect(try process.wait().code == 128 + SIGKILL)
    try FileManager.default.removeItem(atPath: mappings)
    #expect(try folder.run("godwit", ["resume", store]).code == 0)
    #expect(try CommandFolder.bytes(store) == CommandFolder.bytes(whole))
  }
}
