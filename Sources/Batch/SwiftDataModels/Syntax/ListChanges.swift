#if SwiftData
  import SwiftSyntax

  /// Finds the statements that change a variable, token by token: lists of types are read where they are made.
  struct ListChanges {
    private static let methods: Set<String> = [
      "append", "insert", "remove", "removeAll", "removeFirst", "removeLast", "removeSubrange", "replaceSubrange",
      "popLast",
    ]
    private static let declarations: Set<String> = ["let", "var", ":", "typealias", "associatedtype", "case"]

    let lines: LineTable

    /// Whether it is worth while to look: other files name no types as values.
    static func mayBe(in bytes: [UInt8]) -> Bool {
      bytes.withUnsafeBytes { SchemaCalls.contains(".self", in: $0) }
    }

    func find(in tree: Syntax) -> [SourceChange] {
      let tokens = Array(tree.tokens(viewMode: .sourceAccurate))
      return tokens.indices.compactMap { place in
        guard case .identifier = tokens[place].tokenKind, let end = change(tokens, after: place) else { return nil }
        return SourceChange(
          name: TypeReader.plain(tokens[place]), line: lines.line(at: tokens[place]),
          namesTypes: namesTypes(tokens, from: end))
      }
    }

    /// The place after what begins a change of the name at a place.
    private func change(_ tokens: [TokenSyntax], after place: Int) -> Int? {
      let text = { (offset: Int) in tokens.indices.contains(place + offset) ? tokens[place + offset].text : "" }
      if text(1) != ".", isPassed(tokens, at: place) { return place + 1 }
      if text(1) == "+=" || text(1) == "=" && !Self.declarations.contains(text(-1)) { return place + 2 }
      return text(1) == "." && Self.methods.contains(text(2)) && text(3) == "(" ? place + 3 : nil
    }

    /// `&types`, `&V.types`.
    private func isPassed(_ tokens: [TokenSyntax], at place: Int) -> Bool {
      var first = place
      while first > 1, tokens[first - 1].text == "." { first -= 2 }
      return first > 0 && tokens[first - 1].text == "&"
    }

    /// Whether `X.self` stands in the brackets that begin there, or else on the line.
    private func namesTypes(_ tokens: [TokenSyntax], from start: Int) -> Bool {
      var depth = 0
      for place in start..<min(tokens.count, start + 2000) {
        let text = tokens[place].text
        if text == "self", place > 0, tokens[place - 1].text == "." { return true }
        if text == "(" || text == "[" { depth += 1 }
        if text == ")" || text == "]" { depth -= 1 }
        if depth <= 0, place > start, tokens[place].leadingTrivia.contains(where: \.isNewline) || depth < 0 {
          return false
        }
      }
      return false
    }
  }
#endif
