import Foundation
import Testing

@testable import BatchCommand
@testable import RunSupport

@Suite("What commands write, and where they do not") struct OutputTests {
  private let folder: CommandFolder
  private let store: String
  private static let models = [
    "--models", ExampleFolder.models, "--mappings", ExampleFolder.root + "/Examples/Mappings/Library",
  ]

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 100)
  }

  /// Runs `godwit` by a shell script, in which it is `"$@"`.
  private func shell(_ script: String, _ arguments: [String]) throws -> CommandProcess.Outcome {
    try folder.run("godwit", arguments, launcher: ["/bin/bash", "-c", script, "sh"])
  }

  @Test("An output that is a store, leads to one, or belongs to one is refused, and nothing is written (fault 14)")
  func stores() throws {
    let (other, output) = (try folder.sample("Other.sqlite", rows: 50), folder.file("New.sqlite"))
    let manager = FileManager.default
    let links = [folder.file("soft.svg"), folder.file("hard.html"), folder.file("log.svg")]
    try manager.createSymbolicLink(atPath: links[0], withDestinationPath: other)
    try manager.linkItem(atPath: other, toPath: links[1])
    try Data([0x37, 0x7f, 0x06, 0x82] + [UInt8](repeating: 0, count: 40)).write(to: URL(fileURLWithPath: links[2]))
    let migrate = ["migrate", store, "--output", output] + Self.models
    for path in [other, store, output, store + "-wal", output + "-journal", other + "-shm"] + links {
      for option in ["--log-file", "--metrics"] {
        try expectRefusal(
          20, [path, option, "store", "nothing was written"], migrate + [option, path], in: folder, program: "godwit")
      }
    }
    for (words, path) in [
      (["plan", store, "--check", "--graph", links[0]] + Self.models, links[0]),
      (["plan", store, "--check", "--graph", links[2]] + Self.models, links[2]),
      (["export", store, "--output", store + "-wal"], store + "-wal"),
      (["export", other, "--output", store + "-shm"], store + "-shm"),
      (["migrate", store, "--output", other + "-wal"] + Self.models, other + "-wal"),
      (
        ["sample", ExampleFolder.models, "--version", "Library 1", "--rows", "1", "--output", store + "-journal"],
        store + "-journal"
      ),
      (["resume", store, "--log-file", other], other),
    ] {
      try expectRefusal(20, [path, "store", "nothing was written"], words, in: folder, program: "godwit")
    }
    #expect(throws: BatchError.self) { try ReportFile.write("page", to: links[1]) }
    try expectRefusal(
      20, [links[1], "nothing was written"], ["resume", store, "--metrics", links[1]], in: folder, program: "godwit")
    // Files that are no stores are written as before.
    try Data("old line\n".utf8).write(to: URL(fileURLWithPath: folder.file("run.log")))
    #expect(try folder.run("godwit", migrate + ["--log-file", folder.file("run.log")]).code == 0)
    #expect(try String(contentsOfFile: folder.file("run.log"), encoding: .utf8).hasPrefix("old line\n"))
  }

  @Test(
    "Standard output that cannot be written is an error of every command, which ends with 1 (fault 20)",
    arguments: [
      ["inspect"], ["inspect", "--json"], ["export"], ["metadata"], ["verify"], ["status"], ["--help"], ["--version"],
      ["help", "plan"],
    ])
  func full(words: [String]) throws {
    let isStoreCommand = !words[0].hasPrefix("-") && words[0] != "help"
    let outcome = try shell(#""$@" >/dev/full"#, [words[0]] + (isStoreCommand ? [store] : []) + words.dropFirst())
    #expect(outcome.code == 1 && outcome.error.contains("standard output cannot be written: No space"), "\(outcome)")
  }

  @Test(
    "A migration whose summary cannot be written says that it is done; without a standard output it is done, too (fault 20)"
  )
  func summary() throws {
    let output = folder.file("New.sqlite")
    let outcome = try shell(#""$@" >/dev/full"#, ["migrate", store, "--json", "--output", output] + Self.models)
    #expect(
      outcome.code == 1 && outcome.error.contains("the store is migrated; the summary could not be written"),
      "\(outcome)")
    #expect(try folder.run("godwit", ["verify", output]).code == 0)
    let closed = try shell(#""$@" >&-"#, ["migrate", store, "--output", folder.file("Second.sqlite")] + Self.models)
    #expect(closed.code == 0, "\(closed)")
    #expect(try folder.run("godwit", ["verify", folder.file("Second.sqlite")]).code == 0)
  }

  @Test(
    "Who reads no further ends a command quietly, as in any pipe (fault 20)",
    arguments: ["inspect", "export", "metadata"])
  func pipe(command: String) throws {
    let outcome = try shell(#"{ sleep 2; "$@"; echo "ended $?" >&2; } | true; exit 0"#, [command, store])
    #expect(outcome.error == "ended 141\n", "\(outcome)")
  }

  @Test("A file over the limit is an error with a message, and no signal (fault 20)")
  func fileLimit() throws {
    let export = try shell(#"ulimit -f 1; "$@""#, ["export", store, "--quiet", "--output", folder.file("all.jsonl")])
    #expect(export.code == 1 && export.error.contains("ulimit -f"), "\(export)")
    let migrate = try shell(
      #"ulimit -f 20; "$@""#, ["migrate", store, "--quiet", "--output", folder.file("New.sqlite")] + Self.models)
    #expect(migrate.code == 1 && migrate.error.contains("ulimit -f"), "\(migrate)")
  }

  @Test("Too few open files are named as such, before anything is done (fault 20)")
  func openFiles() throws {
    let outcome = try shell(
      #"ulimit -n 12; "$@""#, ["migrate", store, "--output", folder.file("New.sqlite")] + Self.models)
    #expect(
      outcome.code == 20 && outcome.error.contains("12 files") && outcome.error.contains("ulimit -n"), "\(outcome)")
    let below = BatchError(
      .badModel, "the folder cannot be read", path: "M.xcdatamodeld",
      cause: CocoaError(.fileReadUnknown, userInfo: [NSUnderlyingErrorKey: POSIXError(.EMFILE)]))
    let told = BatchError(wrapping: below)
    #expect(
      "\(told)".contains("M.xcdatamodeld: cannot open: Too many open files") && "\(told)".contains("ulimit -n"),
      "\(told)")
    #expect(Advice.hint(for: told) == nil)
  }

  @Test(
    "Control characters of paths and metadata are shown and not obeyed, in text, errors, JSON and the log (fault 20)")
  func control() throws {
    let path = folder.file("n\u{1B}[31m\u{9B}\u{202E}\u{2028}\u{7F}.sqlite")
    try FileManager.default.copyItem(atPath: store, toPath: path)
    _ = try folder.run("godwit", ["metadata", path, "set", "key\u{1B}]0;", "a\u{1B}[2J\rb"])
    let log = folder.newPath("run.log")
    var outcomes: [CommandProcess.Outcome] = []
    for words in [
      ["inspect", path], ["inspect", path, "--json"], ["verify", path], ["metadata", path],
      ["metadata", path, "--json"],
      ["metadata", path, "get", "key\u{1B}]0;"], ["status", path], ["plan", path] + Self.models,
      ["identify", path, "--models", ExampleFolder.models],
      ["inspect", path + "x"], [path], ["resume", path], ["migrate", path, "--log-file", log] + Self.models,
      ["rollback", path],
    ] {
      outcomes.append(try folder.run("godwit", words))
    }
    let logged = try String(contentsOfFile: log, encoding: .utf8)
    for text in outcomes.flatMap({ [$0.output, $0.error] }) + [logged] {
      let raw = text.unicodeScalars.filter { [0x1B, 0x0D, 0x7F, 0x9B, 0x2028, 0x202E].contains($0.value) }
      #expect(raw.isEmpty, "\(text)")
    }
    #expect(
      outcomes[0].output.hasPrefix(folder.file("n\\u{1B}[31m\\u{9B}\\u{202E}\\u{2028}\\u{7F}.sqlite")), "\(outcomes[0])"
    )
    let json = try JSONSerialization.jsonObject(with: Data(outcomes[1].output.utf8)) as? [String: Any]
    #expect(json?["path"] as? String == path)
    // Data is as it is.
    #expect(VisibleText.of("ä\n\t👨‍👩‍👧 é") == "ä\n\t👨‍👩‍👧 é")
  }

  @Test(
    "A name that is no UTF-8 ends no command by a crash (fault 20)",
    arguments: ["verify", "inspect", "export", "metadata", "status"])
  func strangeBytes(command: String) throws {
    let asked = try folder.run(
      "godwit", [command, store],
      launcher: ["/bin/bash", "-c", #"p="$3$(printf '\377')"; cp "$3" "$p"; "$1" "$2" "$p""#, "sh"])
    #expect(asked.code < 128 && (asked.code == 64 || command == "status"), "\(asked)")
  }
}
