import RunSupport

/// Reads what `--swift-types` says of a type: `Money=Decimal`, `[Tag]=Data`, `Point={x: Double, y: Double?}`.
struct TypeDescription {
  private static let greatestDepth = 8
  private var rest: Substring
  private let text: String

  /// The shape is nil for `NAME=protocol`.
  static func parse(_ text: String) throws -> (name: String, shape: AttributeShape?) {
    var parser = TypeDescription(rest: Substring(text), text: text)
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex else { throw parser.problem }
    let name = text[..<equals].filter { !$0.isWhitespace }
    guard !name.hasSuffix("?") else {
      throw BatchError(
        .badModel, "the type \(text.debugDescription) is optional, which its properties say by themselves",
        hint: "Name it without ?, as --swift-types '\(name.prefix { $0 != "?" })\(text[equals...])'")
    }
    parser.rest = text[text.index(after: equals)...]
    if parser.rest.filter({ !$0.isWhitespace }) == "protocol" { return (name, nil) }
    let shape = try parser.shape(depth: 0)
    parser.skipSpaces()
    guard parser.rest.isEmpty else { throw parser.problem }
    return (name, shape)
  }

  private var problem: BatchError {
    BatchError(
      .badModel, "the type \(text.debugDescription) cannot be read",
      hint: "Write --swift-types 'NAME=String', 'NAME={a: Double, b: Int?}' for a structure, or 'NAME=protocol'")
  }

  private mutating func skipSpaces() { rest = rest.drop { $0.isWhitespace } }

  private mutating func take(_ character: Character) -> Bool {
    skipSpaces()
    guard rest.first == character else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func word() throws -> String {
    skipSpaces()
    let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
    guard !word.isEmpty else { throw problem }
    rest = rest.dropFirst(word.count)
    return String(word)
  }

  private mutating func shape(depth: Int) throws -> AttributeShape {
    guard depth < Self.greatestDepth else { throw problem }
    guard take("{") else {
      let name = try word()
      guard let shape = KnownTypes.shape(name.split(separator: ".").map(String.init)) else { throw problem }
      return shape
    }
    var elements: [AttributeShape.Element] = []
    repeat {
      let name = try word()
      guard take(":") else { throw problem }
      let shape = try shape(depth: depth + 1)
      elements.append(.init(name: name, shape: shape, isOptional: take("?")))
    } while take(",")
    guard take("}"), Set(elements.map(\.name)).count == elements.count else { throw problem }
    return .composite(elements)
  }
}
