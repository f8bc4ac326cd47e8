#if SwiftData
  import SwiftSyntax

  /// Finds the calls that name the classes of a schema, wherever they are.
  struct SchemaCalls {
    let reader: SyntaxReader

    /// Whether it is worth while to look: most files have no such call.
    static func mayBe(in bytes: [UInt8]) -> Bool {
      bytes.withUnsafeBytes { bytes in
        ["Schema(", "odelContainer("].contains { contains($0, in: bytes) }
      }
    }

    static func contains(_ word: StaticString, in bytes: UnsafeRawBufferPointer) -> Bool {
      let count = word.utf8CodeUnitCount
      guard bytes.count >= count else { return false }
      let pattern = UnsafeRawBufferPointer(start: word.utf8Start, count: count)
      var place = 0
      while place <= bytes.count - count {
        guard let found = bytes[place...(bytes.count - count)].firstIndex(of: pattern[0]) else { return false }
        if bytes[found..<(found + count)].elementsEqual(pattern) { return true }
        place = found + 1
      }
      return false
    }

    /// Without recursion: expressions may be nested as deep as the file is long.
    func find(in tree: Syntax) -> [SourceUse] {
      var found: [SourceUse] = []
      var stack: [(node: Syntax, doubt: SourceDoubt?)] = [(tree, nil)]
      while let (node, doubt) = stack.popLast() {
        if let node = node.as(IfConfigDeclSyntax.self) {
          stack += reader.conditions.parts(of: node).map { (Syntax($0.0), doubt ?? $0.1) }
          continue
        }
        if let call = node.as(FunctionCallExprSyntax.self), let name = name(of: call) {
          found.append(
            SourceUse(
              name: name, line: reader.line(call), arguments: ExpressionReader().arguments(call.arguments), doubt: doubt
            ))
        }
        stack += node.children(viewMode: .sourceAccurate).map { ($0, doubt) }
      }
      return found.sorted { $0.line < $1.line }
    }

    private func name(of call: FunctionCallExprSyntax) -> String? {
      if let function = call.calledExpression.as(DeclReferenceExprSyntax.self) {
        let name = function.baseName.text
        return name == "Schema" || name == "ModelContainer" || name == "modelContainer" ? name : nil
      }
      let member = call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
      return member == "modelContainer" ? member : nil
    }
  }
#endif
