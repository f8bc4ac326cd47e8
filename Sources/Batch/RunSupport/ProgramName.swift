/// What the program is called in advice: a program with policies of its own has the same commands under another name.
public enum ProgramName {
  /// The last part of the path that it was started by.
  public static let current = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "godwit"

  /// See ``command(_:)``.
  package static func command(_ words: String...) -> String { command(words) }

  /// A command of the program, whole and between backticks: pasted into a POSIX shell it does what the message says.
  public static func command(_ words: [String]) -> String {
    "`" + ShellWords.line([current] + words) + "`"
  }
}
