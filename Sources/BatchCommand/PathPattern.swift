import Batch
import Foundation
import Glibc

/// A path as a shell understands it, for patterns that came in quotation marks.
enum PathPattern {
  /// The paths that a pattern stands for, sorted; a path itself, whether something is there or not.
  ///
  /// Throws ``BatchError`` (`noSuchFile`) for a pattern that nothing fits.
  static func paths(_ pattern: String) throws -> [String] {
    guard pattern.contains(where: "*?[".contains), !FileManager.default.fileExists(atPath: pattern) else {
      return [pattern]
    }
    var found = glob_t()
    defer { globfree(&found) }
    guard glob(pattern, 0, nil, &found) == 0, let names = found.gl_pathv else {
      throw BatchError(.noSuchFile, "no file fits this pattern", hint: "Check the path", path: pattern)
    }
    return (0..<Int(found.gl_pathc)).compactMap { names[$0].map { String(cString: $0) } }
  }
}
