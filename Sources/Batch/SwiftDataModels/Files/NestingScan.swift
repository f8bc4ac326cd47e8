import RunSupport

/// Finds what would lead the parser deeper than its stack, in one pass over the bytes: it calls itself for every bracket
/// in a bracket, for every `else if` of a chain, and for every `try` before a `try`.
///
/// The parser itself is bounded for most brackets, but not for those of types, for `#if` and for chains.
struct NestingScan {
  /// Brackets, `#if`, or values in strings in each other.
  private static let greatestDepth = 200
  private static let greatestStringDepth = 16
  /// Square brackets: for each of them the parser tries twice what is inside.
  private static let greatestSquareDepth = 10
  /// Words that each begin an expression or a type, one after the other.
  private static let greatestRun = 64
  private static let greatestChain = 1000
  private static let prefixes: Set<String> = [
    "try", "await", "copy", "consume", "borrow", "unsafe", "repeat", "each", "let", "var", "any", "some", "inout",
    "throw", "return", "then", "yield", "discard", "is", "as", "isolated", "sending", "nonisolated",
  ]

  private static let statements: Set<String> = [
    "func", "var", "let", "case", "init", "if", "guard", "return", "for", "while", "switch", "struct", "class", "enum",
  ]

  private let text: SourceText
  private var tokens: SourceTokens
  private var depth = 0
  private var squares = 0
  private var conditions = 0
  /// `else` after `else` at each depth of brackets.
  private var chains = [0]
  private var run = 0
  private var arrows = 0
  private var angles = 0

  static func check(_ text: SourceText) throws {
    var scan = NestingScan(text)
    while let token = scan.tokens.next() { try scan.take(token) }
    if scan.tokens.greatestStringDepth > greatestStringDepth { throw scan.tooDeep("strings inside strings") }
  }

  private init(_ text: SourceText) { (self.text, tokens) = (text, SourceTokens(text.bytes)) }

  private mutating func take(_ token: SourceTokens.Token) throws {
    guard tokens.greatestStringDepth <= Self.greatestStringDepth else { throw tooDeep("strings inside strings") }
    switch token {
    case .open(let isSquare): try open(isSquare: isSquare)
    case .close(let isBrace, let isSquare):
      depth = max(0, depth - 1)
      squares = isSquare ? max(0, squares - 1) : squares
      run = 0
      if isBrace, !tokens.isFollowedByElse() { chains[depth] = 0 }
    case .word(let word): try take(word: word)
    case .arrow:
      arrows += 1
      guard arrows <= Self.greatestDepth else { throw tooDeep("arrows") }
      run = 0
    case .less:
      angles += 1
      guard angles <= Self.greatestDepth else { throw tooDeep("generic arguments") }
    case .greater: angles = max(0, angles - 1)
    case .separator: (arrows, run) = (0, 0)
    case .other: (run, angles) = (0, 0)
    case .conditionBegins:
      conditions += 1
      guard conditions <= Self.greatestDepth else { throw tooDeep("#if") }
    case .conditionEnds: conditions = max(0, conditions - 1)
    }
  }

  private mutating func open(isSquare: Bool) throws {
    depth += 1
    squares += isSquare ? 1 : 0
    guard squares <= Self.greatestSquareDepth else { throw tooDeep("square brackets") }
    guard depth <= Self.greatestDepth else { throw tooDeep("brackets") }
    if chains.count <= depth { chains.append(0) }
    (chains[depth], run) = (0, 0)
  }

  private mutating func take(word: String) throws {
    if word == "else" {
      chains[depth] += 1
      guard chains[depth] <= Self.greatestChain else { throw tooDeep("else after else") }
    }
    // None of these is inside generic arguments.
    if Self.statements.contains(word) { angles = 0 }
    if ["func", "var", "let", "case", "init", "subscript", "typealias"].contains(word) { arrows = 0 }
    run = Self.prefixes.contains(word) ? run + 1 : 0
    guard run <= Self.greatestRun else { throw tooDeep("the word \(word)") }
  }

  private func tooDeep(_ what: String) -> BatchError {
    SourcePlace(path: text.path, line: tokens.line).error(
      "\(what) in each other go deeper than any source of models", hint: "Name the files without it")
  }
}
