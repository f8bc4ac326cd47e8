extension [String] {
  /// Each once, in the order of their first.
  package var uniqued: [String] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}

extension String {
  /// The text without a name and a colon before it: where a message names the file already.
  package func withoutName(_ name: String) -> String {
    hasPrefix(name + ": ") ? String(dropFirst(name.count + 2)) : self
  }
}
