/// The program that runs, for what errors advise: a program of one's own has its own name.
public enum ProgramName {
  /// The last part of the path that it was started by.
  public static let current = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "godwit"
}
