import Streams

/// The command that migrates the old store once more, to a path of its own: how objects that were set aside are replayed after a fix.
enum ReplayCommand {
  /// One line for a POSIX shell. `arguments` are options of `migrate`, `store` is what the old store is called now.
  static func line(_ arguments: [String], store: String, destination: String) -> String {
    ([ProgramName.current, "migrate", store] + arguments + ["--output", destination + ".replayed"]).map(quoted).joined(
      separator: " ")
  }

  /// A word that a shell takes as it is, whatever is in it.
  private static func quoted(_ word: String) -> String {
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
