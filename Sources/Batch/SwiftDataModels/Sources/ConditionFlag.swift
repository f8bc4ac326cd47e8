import RunSupport

/// What `-D` gives: a name, or a call as it is written; `!` before it says that it is false.
struct ConditionFlag {
  private static let calls: Set<String> = [
    "arch", "canImport", "compiler", "defined", "hasAttribute", "hasFeature", "os", "swift", "targetEnvironment",
  ]

  /// Without spaces.
  let text: String

  init(_ text: String) { self.text = text.filter { !$0.isWhitespace } }

  /// Throws ``BatchError`` (`badModel`) for what no condition asks for, or what contradicts itself.
  static func texts(_ given: [String]) throws -> Set<String> {
    let flags = given.map(ConditionFlag.init)
    let texts = Set(flags.map(\.text))
    for flag in flags {
      if let problem = flag.problem { throw problem }
      guard texts.contains("!" + flag.text) else { continue }
      throw BatchError(
        .badModel, "-D says of \(flag.text) that it is true and that it is false", hint: "Leave one of them out")
    }
    return texts
  }

  /// What is wrong with it; nil if nothing is.
  var problem: BatchError? {
    let bare = text.hasPrefix("!") ? text.dropFirst() : text[...]
    if Self.isName(bare) || Self.isCall(bare) { return nil }
    return BatchError(.badModel, "-D '\(text)' is neither a name nor a single call as os(iOS)", hint: hint)
  }

  private var hint: String {
    if let equals = text.firstIndex(of: "="), Self.isName(text[..<equals]) {
      return "A name has no value in Swift: write -D \(text[..<equals])"
    }
    let parts = text.split { "&|".contains($0) }.map(String.init)
    guard parts.count > 1, parts.allSatisfy({ ConditionFlag($0).problem == nil }) else {
      return "Write it as in the condition, as -D DEBUG, -D 'os(iOS)', or -D '!os(iOS)' for what is false"
    }
    let words = parts.map { Self.isName($0[...]) ? "-D \($0)" : "-D '\($0)'" }
    return "Give each part that is true by itself: \(words.joined(separator: " "))"
  }

  private static func isName(_ text: Substring) -> Bool {
    text.first.map { !$0.isNumber } ?? false && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
  }

  private static func isCall(_ text: Substring) -> Bool {
    guard let open = text.firstIndex(of: "("), text.last == ")" else { return false }
    let (name, inner) = (text[..<open], text[text.index(after: open)...].dropLast())
    return (calls.contains(String(name)) || name.hasPrefix("_")) && isName(name) && !inner.isEmpty
      && !inner.contains { "()&|!".contains($0) }
  }
}
