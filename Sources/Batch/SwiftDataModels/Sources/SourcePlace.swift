import RunSupport

/// A line of a file, as errors name it.
package struct SourcePlace: Sendable, Hashable, CustomStringConvertible {
  /// The file.
  package let path: String
  /// The line, from 1.
  package let line: Int

  /// `path:line`.
  package var description: String { "\(path):\(line)" }

  /// An error at this place.
  func error(_ message: String, hint: String? = nil) -> BatchError {
    BatchError(
      .badModel, message, hint: hint ?? "Correct the source, or name the files without this one", path: description)
  }
}
