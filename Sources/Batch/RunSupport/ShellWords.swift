import Streams

/// Words of a command line.
public enum ShellWords {
  /// A word that a POSIX shell takes as it is, whatever is in it. Control characters are written `$'\x1B'`, so that no
  /// terminal obeys them.
  public static func quoted(_ word: String) -> String {
    if word.unicodeScalars.contains(where: isControl) { return "$'" + word.unicodeScalars.map(escaped).joined() + "'" }
    let plain = word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "%+,-./:=@_".utf8.contains(byte)
      }
    }
    return plain && !word.isEmpty ? word : "'" + word.replacing(["'": "'\\''"]) + "'"
  }

  /// A command line that a POSIX shell takes as these words.
  public static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "'", "\\": "\\" + String(scalar)
    case _ where isControl(scalar):
      String(scalar).utf8.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    default: String(scalar)
    }
  }
}
