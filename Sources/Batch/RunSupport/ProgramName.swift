/// What the program is called in advice: a program with policies of its own has the same commands under another name.
public enum ProgramName {
  /// The last part of the path that it was started by.
  public static let current = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "godwit"

  /// See ``command(_:)``.
  package static func command(_ words: String...) -> AdvisedCommand { command(words) }

  /// A command of the program.
  public static func command(_ words: [String]) -> AdvisedCommand { command(words, of: current) }

  /// A command of a program that has the same commands.
  package static func command(_ words: [String], of program: String) -> AdvisedCommand {
    AdvisedCommand(line: ShellWords.line([program] + words.map(path)))
  }

  /// Options of the program begin with two dashes: with one, of more than a letter, begins a path.
  private static func path(_ word: String) -> String {
    word.hasPrefix("-") && !word.hasPrefix("--") && word.utf8.count > 2 ? "./" + word : word
  }
}

/// A whole command that advice names: pasted into a POSIX shell it does what the message says.
public struct AdvisedCommand: Sendable, Equatable, CustomStringConvertible {
  /// The line to paste.
  public let line: String

  package init(line: String) { self.line = line }

  /// The line between backticks, as messages have it.
  public var description: String { "`\(line)`" }
}
