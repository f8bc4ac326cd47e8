import ArgumentParser
import Foundation

/// A command with its arguments and subcommands, as the argument parser describes it.
struct CommandShape: Decodable {
  struct Argument: Decodable, Equatable {
    enum Kind: String, Decodable { case positional, option, flag }

    struct Name: Decodable, Equatable {
      var kind: String
      var name: String

      /// With its dashes.
      var word: String { (kind == "long" ? "--" : "-") + name }
    }

    /// What a value can be.
    enum Values: Decodable, Equatable {
      case list(values: [String])
      case file(extensions: [String])
      case directory
      case shellCommand(command: String)
      case custom
      case customAsync
      case customDeprecated
    }

    var kind: Kind
    var names: [Name]?
    var preferredName: Name?
    var parsingStrategy: String
    var isRepeating: Bool
    var shouldDisplay: Bool
    var completionKind: Values?
    var abstract: String?

    /// Whether one name takes all words up to the next option.
    var takesSeveral: Bool { parsingStrategy == "upToNextOption" }
  }

  private struct Tool: Decodable { var command: CommandShape }

  var commandName: String
  var shouldDisplay: Bool
  var abstract: String?
  var arguments: [Argument]?
  var subcommands: [CommandShape]?

  /// The whole program.
  static func root() throws -> CommandShape {
    try JSONDecoder().decode(Tool.self, from: Data(GodwitCommand._dumpHelp().utf8)).command
  }

  var shownSubcommands: [CommandShape] { (subcommands ?? []).filter(\.shouldDisplay) }
  var positionals: [Argument] { shown.filter { $0.kind == .positional } }
  var options: [Argument] { shown.filter { $0.kind != .positional } }

  /// The command that a line begins with.
  func inner(_ line: [String]) -> CommandShape {
    guard let next = line.first.flatMap({ name in subcommands?.first { $0.commandName == name } }) else { return self }
    return next.inner(Array(line.dropFirst()))
  }

  /// All words that are options.
  var optionWords: Set<String> { Set(options.flatMap { $0.names ?? [] }.map(\.word)) }

  func option(named word: String) -> Argument? { options.first { $0.names?.contains { $0.word == word } == true } }

  private var shown: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }
}
