import RunSupport

/// Lines of the files of an import, as numbers that sort like them.
struct ImportLines {
  private static let bits = 40

  let paths: [String]

  /// The number of a line, which counts from 1, of the file at a position.
  static func number(_ line: Int, ofFile file: Int) -> Int { file << bits | line }

  private func place(_ number: Int) -> (path: String?, line: Int) {
    let file = number >> Self.bits
    return (paths.indices.contains(file) ? paths[file] : nil, number & (1 << Self.bits - 1))
  }

  /// `line 5`, or `line 5 of B.jsonl` where another line is of another file.
  func text(_ number: Int, beside other: Int) -> String {
    let (path, line) = place(number)
    return path == place(other).path ? "line \(line)" : "line \(line) of \(path ?? "")"
  }

  /// The error of what is wrong with a line.
  func refusal(_ what: String, at number: Int, entity: String? = nil) -> BatchError {
    let (path, line) = place(number)
    return BatchError(
      .refused, "line \(line): \(what)", hint: "Correct the file", effect: .nothingWritten, path: path, entity: entity)
  }

  /// The error of what is wrong with a line, which may not be known.
  func refusal(_ what: String, at number: Int?, hint: String) -> BatchError {
    let found = number.map(place)
    let path = found?.path ?? (paths.count == 1 ? paths.first : nil)
    return BatchError(
      .refused, found.map { "line \($0.line): \(what)" } ?? what, hint: hint, effect: .nothingWritten, path: path)
  }

  /// The error of what is wrong with two lines.
  func refusal(_ what: String, at first: Int, and second: Int, entity: String? = nil) -> BatchError {
    let (one, other) = (place(first), place(second))
    guard one.path != other.path else {
      return BatchError(
        .refused, "lines \(one.line) and \(other.line): \(what)", hint: "Correct the file", effect: .nothingWritten,
        path: one.path, entity: entity)
    }
    return refusal("\(what), as in \(text(first, beside: second))", at: second, entity: entity)
  }
}
