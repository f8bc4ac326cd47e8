extension String {
  /// The text with another text for each of some scalars, as quoting needs it.
  ///
  /// Characters will not do: a quote with a combining mark behind it, and a line feed behind a carriage return, are parts
  /// of other characters, and would stay as they are.
  package func replacing(_ scalars: KeyValuePairs<Unicode.Scalar, String>) -> String {
    func replaced(_ scalar: Unicode.Scalar) -> String? { scalars.first { $0.key == scalar }?.value }
    guard unicodeScalars.contains(where: { replaced($0) != nil }) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      if let other = replaced(scalar) { text += other } else { text.unicodeScalars.append(scalar) }
    }
  }

  /// The text between two quotes, with its own doubled: a name or a text literal of SQL, a field of CSV.
  package func quoted(by quote: Unicode.Scalar) -> String {
    let mark = String(quote)
    return mark + replacing([quote: mark + mark]) + mark
  }

  /// The text as a literal of Swift.
  package var swiftLiteral: String {
    "\"" + replacing(["\\": "\\\\", "\"": "\\\"", "\n": "\\n", "\r": "\\r"]) + "\""
  }
}
