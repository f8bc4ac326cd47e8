import Foundation
import Testing

@Suite("Options in godwit.yaml")
struct ProjectFileTests {
  private let folder: CommandFolder
  private let app: ApplicationFolder

  init() throws {
    folder = try CommandFolder()
    app = try ApplicationFolder(in: folder, hasSwiftData: false)
  }

  private var file: String { folder.file("godwit.yaml") }

  private func write(_ text: String) throws { try text.write(toFile: file, atomically: true, encoding: .utf8) }

  private static let models = "models: App/App/Library.xcdatamodeld\nmappings: App/App/Mappings\n"

  /// In the folder of the stores, as a person works there.
  private func run(_ name: String, _ arguments: [String], in place: String? = nil) throws -> CommandProcess.Outcome {
    try folder.run(name, arguments, launcher: ["/usr/bin/env", "-C", place ?? folder.path])
  }

  private static let draft = """
    # Options of godwit, for commands on stores beside this file and for those that are run in its folder:
    #   godwit plan STORE, godwit migrate STORE
    # The command line counts before this file. All keys: docs/manual/application.md

    # The model: 3 versions, Library 1 to Library 3, current Library 3.
    models:
      - App/App/Library.xcdatamodeld

    # The order of the versions, as it is without this key.
    # versions:
    #   - Library 1
    #   - Library 2
    #   - Library 3
    # The version to migrate to, if it is not the current one.
    # to: Library 3

    # Mapping models, and the steps that they make.
    mappings:
      - App/App/Mappings/Library1_to_Library2.xcmappingmodel  # Library 1 to Library 2
      - App/App/Mappings/Library2_to_Library3.xcmappingmodel  # Library 2 to Library 3
      - App/App/Mappings/Library2_to_Library3_User.cdm  # Library 2 to Library 3

    # Sources of the policies that mapping models name. A program that registers them runs them, as in
    # docs/manual/policies.md; rules of a mapping file may replace them: godwit mapping convert
    policies:
      - App/App/Policies/BookPolicies.swift
      # LibraryBookPolicy: App/Policies/BookPolicies.swift:4, in this program

    # Defaults of options: the name without dashes, and the value.
    # memory: 256M
    # verify: full
    # These count only in a file that --config names: drop, accept-loss, keep-backups, on-failure and others.

    """

  @Test("What init writes migrates a store by the command and the store alone")
  func initiated() throws {
    _ = try folder.sample(rows: 200)
    let made = try run("book-migration", ["init", "--app", "App"])
    #expect(made.code == 0 && made.output == "wrote \(file)\nnext: book-migration plan STORE\n")
    #expect(
      try String(contentsOfFile: file, encoding: .utf8) == Self.draft)
    let planned = try run("book-migration", ["plan", "Library.sqlite"])
    #expect(planned.code == 0 && planned.error == "note: \(file) gives --models, --mappings\n")
    let refused = try run("godwit", ["migrate", "Library.sqlite"])
    #expect(
      refused.code == 20
        && refused.error.contains("the application has it in \(app.path)/App/Policies/BookPolicies.swift:4"))
    #expect(try run("book-migration", ["migrate", "Library.sqlite", "--progress", "none"]).code == 0)
    #expect(try run("godwit", ["verify", "Library.sqlite"]).code == 0)
    #expect(try run("godwit", ["inspect", "Library.sqlite"]).output.contains("version      Library 3"))
  }

  @Test("init replaces a file only if it is told so")
  func present() throws {
    try write("# mine\n")
    let refused = try run("godwit", ["init", "--app", "App"])
    #expect(
      refused.code == 20
        && refused.error.contains("the file is there already. To replace it: `godwit init --app App --force`"))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "# mine\n")
    #expect(try run("godwit", ["init", "--app", "App", "--force"]).code == 0)
    #expect(try String(contentsOfFile: file, encoding: .utf8).contains("models:"))
    let store = try folder.sample(rows: 20)
    let over = try run("godwit", ["init", "--app", "App", "--force", "--output", store])
    #expect(over.code == 20 && over.error.contains("--output would write over a store"))
  }

  @Test("What init writes for an archive names the archive")
  func archive() throws {
    try ZipFile(ApplicationFolder.compiled()).write(to: folder.file("App.ipa"))
    #expect(try run("godwit", ["init", "--app", "App.ipa"]).code == 0)
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text.contains("\napp: App.ipa\n") && text.contains("\nbundle: Library\n") && !text.contains("\nmodels:"))
    _ = try folder.sample(rows: 50)
    #expect(try run("book-migration", ["migrate", "Library.sqlite", "--progress", "none"]).code == 0)
  }

  @Test("The command line counts before the file; another model makes void what the file says of its own")
  func commandLine() throws {
    try write(Self.models + "to: Library 2\nmemory: 100M\nby-identifier: false\n")
    let store = try folder.sample(rows: 50)
    func plan(_ arguments: [String]) throws -> CommandProcess.Outcome {
      let found = try run("book-migration", ["plan", store, "--no-rehearsal"] + arguments)
      #expect(found.code == 0, "\(found)")
      return found
    }
    #expect(try plan([]).error.hasSuffix("gives --models, --mappings, --to, --memory\n"))
    #expect(try plan([]).output == plan(["--to", "Library 2"]).output)
    #expect(try plan([]).output != plan(["--to", "Library 3"]).output)
    let other = try plan(CommandFolder.models)
    #expect(other.error.hasSuffix("gives --memory\n") && other.output.contains("Library 2 to Library 3, mapped"))
    #expect(try plan(["--ignore-config"] + CommandFolder.models).error == "")
  }

  @Test("A file in another place than store and folder counts if it is named")
  func named() throws {
    try write(Self.models)
    let store = folder.newPath("Far.sqlite")
    try FileManager.default.moveItem(atPath: try folder.sample(rows: 50), toPath: store)
    let away = (store as NSString).deletingLastPathComponent
    #expect(try run("book-migration", ["plan", store], in: away).code == 64)
    #expect(try run("book-migration", ["plan", store]).code == 0)
    #expect(try run("book-migration", ["plan", store, "--config", file], in: away).code == 0)
    let missing = try run("book-migration", ["plan", store, "--config", file + "x"], in: away)
    #expect(missing.code == 64 && missing.error.contains("did you mean godwit.yaml?"))
  }

  @Test("Two files that may contradict each other are one error with whole commands")
  func two() throws {
    try write(Self.models)
    let store = try folder.sample(rows: 20)
    let other = folder.newPath("other")
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    try "memory: 64M\n".write(toFile: other + "/godwit.yaml", atomically: true, encoding: .utf8)
    let refused = try run("book-migration", ["plan", store], in: other)
    #expect(refused.code == 20 && refused.error.contains("there are two files godwit.yaml"))
    #expect(refused.error.contains("`book-migration plan \(store) --config \(file)`"))
    #expect(try run("book-migration", ["plan", store, "--config", file], in: other).code == 0)
  }

  @Test(
    "What is no key or no value is one error with its line",
    arguments: [
      ("modles: App\n", "line 1: the file has no key modles, did you mean models? Allowed are app, bundle, models"),
      (
        "memory: much\n",
        "line 1: memory: The value 'much' is invalid for '--memory <size>': a size is written as 256M or 1G. Correct the file"
      ),
      (
        "\nverify: fastest\n",
        "line 2: verify: The value 'fastest' is invalid for '--verify <mode>'. Please provide one of 'fast', 'full', "
          + "'sqlite' or 'none' ('none' only in a file that --config names). Correct the file;"
      ),
      ("reject-values: true\nmax-rejects: 5\n", "line 1: reject-values counts only in a file that you name"),
      ("memory: 64M\nworkers: many\n", "line 2: workers: The value 'many' is invalid for '--workers <count>'. Correct"),
      (
        "models: App\n\nbundle: Library\n",
        "line 3: bundle: it names a model of an application, and the file has no key app"
      ),
      ("no-fuse: maybe\n", "line 1: no-fuse has to be true or false"),
      ("memory: [1, 2]\n", "line 1: memory has to be a text"),
      ("- a\n", "line 1: the file has to be keys and values"),
      ("a: [\n", "line 2, column 1"),
      ("app: App\nmodels: App/App/Library.xcdatamodeld\n", "--models and --app exclude each other"),
    ])
  func wrong(text: String, message: String) throws {
    let store = try folder.sample(rows: 20)
    try write(text)
    let refused = try run("godwit", ["plan", store])
    #expect(
      refused.code == 20 && refused.error.hasPrefix("godwit: \(file): ") && refused.error.contains(message),
      "\(refused)")
  }

  @Test(
    "A file that is found starts no program, writes nowhere else and gives nothing up",
    arguments: [
      "on-success: touch EVIL", "on-failure: touch EVIL", "on-stop: touch EVIL", "metrics: EVIL", "log-file: EVIL",
      "accept-loss: true", "drop: [Book]", "history: empty", "keep-backups: 1", "max-rejects: 100%", "verify: none",
      "validate: none", "notify: true", "allow-cloudkit: true", "reject-values: true",
    ])
  func untrusted(line: String) throws {
    try write(Self.models + line + "\n")
    let store = try folder.sample(rows: 20)
    let refused = try run("book-migration", ["migrate", store])
    let key = line.prefix { $0 != ":" }
    #expect(refused.code == 20 && refused.error.contains("\(file): line 3: \(key)"), "\(refused)")
    #expect(
      refused.error.contains(
        "counts only in a file that you name. Look at it, and name it: `book-migration migrate \(store) --config \(file)`"
      ))
    #expect(!FileManager.default.fileExists(atPath: folder.file("EVIL")))
  }

  @Test("A file that is found reads no sources in a commit, which git would do, and loads into no server")
  func programs() throws {
    let store = try folder.sample(rows: 20)
    try write("models: App@HEAD\n")
    #expect(try run("godwit", ["plan", store]).error.contains("line 1: models counts only in a file that you name"))
    let text = try String(
      contentsOfFile: ExampleFolder.root + "/Examples/Mappings/Library/Library1_to_Library2.yaml", encoding: .utf8)
    try ("destination: { postgres: postgres://somebody@example.invalid/db }\n" + text)
      .write(toFile: folder.file("Server.yaml"), atomically: true, encoding: .utf8)
    try write("models: App/App/Library.xcdatamodeld\nmappings: Server.yaml\n")
    let refused = try run("godwit", ["migrate", store])
    #expect(refused.code == 20 && refused.error.contains("line 2: a mapping file that loads into a server counts only"))
  }

  @Test("A file that is named may do all of it")
  func trusted() throws {
    try write(Self.models + "on-success: touch DONE\nkeep-backups: 1\nlog-file: run.log\n")
    let store = try folder.sample(rows: 20)
    let done = try run("book-migration", ["migrate", store, "--config", "godwit.yaml", "--progress", "none"])
    #expect(done.code == 0, "\(done)")
    for name in ["DONE", "run.log"] { #expect(FileManager.default.fileExists(atPath: folder.file(name))) }
  }

  @Test("A pipe in the place of the file does not stop a command")
  func pipe() throws {
    let store = try folder.sample(rows: 20)
    #expect(mkfifo(file, 0o600) == 0)
    let refused = try run("godwit", ["plan", store])
    #expect(refused.code == 20 && refused.error.contains("this is no file"))
  }
}
