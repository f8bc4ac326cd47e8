#if SwiftData
  import SwiftSyntax

  /// Changes to a text that leave every line where it was.
  struct SourceEdits {
    private var changes: [(range: Range<Int>, text: [UInt8]?)] = []

    /// Puts blanks in the place of a node.
    mutating func blank(_ node: some SyntaxProtocol) { changes.append((Self.range(node), nil)) }

    /// Puts a text of one line in the place of a node.
    mutating func replace(_ node: some SyntaxProtocol, by text: String) {
      changes.append((Self.range(node), Array(text.utf8)))
    }

    /// Puts a text of one line behind a node.
    mutating func insert(_ text: String, after node: some SyntaxProtocol) {
      let end = node.endPositionBeforeTrailingTrivia.utf8Offset
      changes.append((end..<end, Array(text.utf8)))
    }

    private static func range(_ node: some SyntaxProtocol) -> Range<Int> {
      node.positionAfterSkippingLeadingTrivia.utf8Offset..<node.endPositionBeforeTrailingTrivia.utf8Offset
    }

    func applied(to bytes: [UInt8]) -> String {
      var (result, place) = ([UInt8](), 0)
      for change in changes.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
        guard change.range.lowerBound >= place else { continue }
        result += bytes[place..<change.range.lowerBound]
        let old = bytes[change.range]
        // Lines stay: what is taken off leaves blanks and its ends of lines.
        result += change.text ?? old.map { $0 == 0x0A || $0 == 0x0D ? $0 : 0x20 }
        if change.text != nil { result += old.filter { $0 == 0x0A } }
        place = change.range.upperBound
      }
      return String(decoding: result + bytes[place...], as: UTF8.self)
    }
  }

  /// Where the lines of a file begin.
  struct LineStarts {
    private let starts: [Int]

    init(_ bytes: [UInt8]) {
      starts = [0] + bytes.indices.filter { bytes[$0] == 0x0A }.map { $0 + 1 }
    }

    /// The line, from 1, in which a declaration begins, after its attributes.
    func line(_ node: some DeclSyntaxProtocol) -> Int {
      let keyword = node.as(ClassDeclSyntax.self)?.classKeyword ?? node.firstToken(viewMode: .sourceAccurate)
      let offset = (keyword?.positionAfterSkippingLeadingTrivia ?? node.position).utf8Offset
      return starts.partitioningIndex { $0 > offset }
    }
  }

  extension [Int] {
    /// The position of the first element for which it holds; they are sorted by it.
    fileprivate func partitioningIndex(_ holds: (Int) -> Bool) -> Int {
      var (low, high) = (0, count)
      while low < high {
        let middle = (low + high) / 2
        if holds(self[middle]) { high = middle } else { low = middle + 1 }
      }
      return low
    }
  }

  extension AttributeListSyntax {
    /// Whether an attribute of that name stands here.
    func has(_ name: String) -> Bool { attribute(name) != nil }

    /// What stands in the brackets of an attribute; nil for nothing.
    func argument(of name: String) -> String? {
      let text = attribute(name)?.arguments?.trimmedDescription.filter { !$0.isWhitespace }
      return text?.isEmpty == false ? text : nil
    }

    private func attribute(_ name: String) -> AttributeSyntax? {
      compactMap { $0.as(AttributeSyntax.self) }.first { $0.attributeName.trimmedDescription == name }
    }
  }
#endif
