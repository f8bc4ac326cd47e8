import ArgumentParser
import Foundation
import Testing

@testable import BatchCommand

@Suite("Help of all commands")
struct HelpTests {
  /// An argument of a command as the parser describes it.
  private struct Argument: Decodable {
    struct Name: Decodable { var name: String }
    var kind: String
    var shouldDisplay: Bool
    var preferredName: Name?
    var valueName: String?
    var defaultValue: String?
    var abstract: String?

    var name: String? { preferredName.map { "--" + $0.name } }
    /// What is the same wherever the option is.
    var meaning: [String] { [valueName ?? "", defaultValue ?? "", abstract ?? ""] }
  }

  private struct Command: Decodable {
    var commandName: String
    var arguments: [Argument]?
    var subcommands: [Command]?

    /// Itself and its subcommands, with their names as they are typed.
    func all(_ path: [String] = []) -> [(name: String, arguments: [Argument])] {
      [(path.joined(separator: " "), (arguments ?? []).filter(\.shouldDisplay))]
        + (subcommands ?? []).filter { $0.commandName != "help" }.flatMap { $0.all(path + [$0.commandName]) }
    }
  }

  private struct Tool: Decodable { var command: Command }

  private static func commands() throws -> [(name: String, arguments: [Argument])] {
    try JSONDecoder().decode(Tool.self, from: Data(GodwitCommand._dumpHelp().utf8)).command.all()
  }

  /// What stands between < and > after an option, or for an argument.
  private static let placeholders: Set<String> = [
    "attribute", "builder", "command", "condition", "count", "destination", "duration", "engine", "entity", "format",
    "image",
    "interval", "key",
    "level",
    "mapping", "mode", "model", "number", "part", "path", "queue", "rate", "schema", "seconds", "size", "source",
    "store",
    "style",
    "task", "time", "type", "url", "value", "verb", "version", "versions", "volume",
  ]

  /// Options that have another default or wording than in the other commands, and why.
  private static let exceptions = [
    "import --checkpoint-every": "each brings what is sorted by then to the disk",
    "resume --memory": "without it a run keeps what it has",
    "fleet run --memory": "without it a run that is resumed keeps what it has",
    "status --check": "it says how a migration stands",
    "resume --history": "without it a run keeps what it has",
    "resume --to-postgres": "it gives a password to a load that has its server",
    "fleet plan --index-builder": "a plan holds what was said, and each migration has its own defaults",
    "fleet plan --verify": "a plan holds what was said, and each migration has its own defaults",
    "fleet plan --checkpoint-every": "a plan holds what was said, and each migration has its own defaults",
    "verify --verify": "the store has its name already, and none would verify nothing",
    "migrate --json": "progress becomes JSON, too",
    "resume --json": "progress becomes JSON, too",
    "sample --output": "a store that is no result of a migration",
    "sample --limit": "of objects that are asked for; others come along",
    "sample --where": "for one form of the command",
    "export --output": "a text",
    "export --history": "a flag: what is written",
    "diff --limit": "of changes, not of objects",
    "export --dates": "text has other formats than tables",
    "import --output": "a store that is no result of a migration",
    "import --validate": "there are no mapped steps, and real stores lack bounds more often than values",
    "import --max-rejects": "of lines, and a share of all lines",
    "init --output": "a text, with a name of its own",
    "policies build --output": "a program",
    "init --force": "it replaces a file, and rolls nothing back",
    "fleet submit --output": "a folder for the scheduler's files",
    "fleet submit --dry-run": "files are written",
    "fleet submit --limit": "of tasks, not of objects",
    "fleet plan --manifest": "it may be a folder",
    "metadata --force": "of entries, not of a store",
    "check --format": "of findings, not of objects",
    "hash --version": "without it all versions",
  ]

  @Test("No description by Swift, no unit of bytes alone, and placeholders that say what to type: in every command")
  func plain() throws {
    for command in Self.texts(GodwitCommand.self) {
      #expect(
        command.text.firstMatch(of: /Optional\(|Batch\.|[A-Z][A-Za-z]+\(|default: -?[0-9]{5}|default: [0-9]+\.0\)/)
          == nil,
        "\(command)")
      for found in command.text.matches(of: /<([^<>]*)>/) where !["subcommand", "options"].contains(found.1) {
        #expect(Self.placeholders.contains(String(found.1)), "\(command.name) has the placeholder <\(found.1)>")
      }
    }
    let migrate = try #require(Self.texts(GodwitCommand.self).first { $0.name == "migrate" }).text
    #expect(
      migrate.contains("--memory <size>") && migrate.contains("Default: 64M.") && migrate.contains("(default: 1s)"))
    let run = try #require(Self.texts(GodwitCommand.self).first { $0.name == "run" }).text
    #expect(run.contains("--patience <seconds>") && run.contains("(default: 30)"))
  }

  @Test("An option has the same placeholder, default and wording in all commands that have it")
  func same() throws {
    var known: [String: [String]] = [:]
    let named = try Self.commands().flatMap { command in
      command.arguments.compactMap { argument in
        argument.name.map { (command: command.name, option: $0, argument: argument) }
      }
    }
    let ordinary = named.filter { Self.exceptions["\($0.command) \($0.option)"] == nil }
    for (command, option, argument) in ordinary {
      let first = known[option] ?? argument.meaning
      known[option] = first
      #expect(argument.meaning == first, "\(command) \(option)")
    }
    let exceptional = named.filter { Self.exceptions["\($0.command) \($0.option)"] != nil }
    #expect(exceptional.count == Self.exceptions.count)
    for (command, option, argument) in exceptional {
      let other = try #require(known[option], "only \(command) has \(option)")
      let isFlag = argument.meaning[0] == String(option.dropFirst(2))
      #expect(argument.meaning != other && (isFlag || argument.meaning[0] == other[0]), "\(command) \(option)")
    }
  }

  @Test("An error of usage that a command finds when it runs has the usage of that command")
  func lateUsage() throws {
    let folder = try CommandFolder()
    let store = try folder.sample(rows: 20)
    for (words, reason) in [
      (["trace", store, "Book", "1"], "Missing expected argument '--models"),
      (["verify", store, "--against", store], "--against needs --models"),
      (["export", store, "--history", "--output", folder.path + "/"], "--history is written to one file"),
    ] {
      let outcome = try folder.run("godwit", words)
      #expect(outcome.code == 64 && outcome.error.hasPrefix("Error: \(reason)"), "\(outcome)")
      let command = "godwit \(words[0])"
      let end = "\nUsage: \(command) [<options>] "
      #expect(outcome.error.contains(end) && outcome.error.contains("\n  See '\(command) --help' for"), "\(outcome)")
    }
  }

  @Test("Sizes and times are shown as they are typed, and read as the same again")
  func defaults() throws {
    for (bytes, text) in [(64 << 20, "64M"), (3 << 30, "3G"), (1 << 10, "1k"), (1000, "1000")] as [(UInt64, String)] {
      #expect(ByteCount(bytes: bytes).defaultValueDescription == text)
      #expect(ByteCount(argument: text)?.bytes == bytes)
    }
    for text in ["1s", "2.5s", "64M"] { #expect(CheckpointInterval(argument: text)?.defaultValueDescription == text) }
  }

  private static func texts(_ command: any ParsableCommand.Type) -> [(name: String, text: String)] {
    func text<C: ParsableCommand>(_ type: C.Type) -> String { GodwitCommand.helpMessage(for: type, columns: 400) }
    return [(command.configuration.commandName ?? "", text(command))] + command.configuration.subcommands.flatMap(texts)
  }
}
