import Streams

/// The command that migrates the old store once more, to a path of its own: how objects that were set aside are replayed after a fix.
enum ReplayCommand {
  /// Options that say what is migrated to what. Others are nobody's to give who can write to a run's files: some of them run commands.
  private static let options: Set<String> = [
    "--models", "--mappings", "--to", "--versions", "--stages", "--by-identifier", "--identity", "--no-fuse", "--only", "--skip",
    "--history", "--allow-cloudkit",
  ]

  /// One line for a POSIX shell. `arguments` are options of `migrate`, `store` is what the old store is called now. Nil where another
  /// option is among them.
  static func line(_ arguments: [String], store: String, destination: String) -> String? {
    line(arguments, store: store, ["--output", destination + ".replayed"])
  }

  /// The same with options of the program's own at the end.
  static func line(_ arguments: [String], store: String, _ own: [String]) -> String? {
    guard store.hasPrefix("/"), arguments.allSatisfy({ !$0.hasPrefix("-") || options.contains($0) }) else { return nil }
    return ([ProgramName.current, "migrate", store] + arguments + own).map(ShellWords.quoted).joined(separator: " ")
  }
}

/// Words of a command line.
public enum ShellWords {
  /// A word that a shell takes as it is, whatever is in it.
  public static func quoted(_ word: String) -> String {
    let plain = word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "%+,-./:=@_".utf8.contains(byte)
      }
    }
    return plain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
  }
}
