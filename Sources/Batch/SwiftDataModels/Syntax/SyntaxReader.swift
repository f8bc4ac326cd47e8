#if SwiftData
  import RunSupport
  import SwiftParser
  import SwiftSyntax

  /// Reads one file of Swift by the parser of the compiler.
  struct SyntaxReader {
    /// Braces, brackets and `#if` in each other; the parser reads no deeper.
    static let greatestNesting = 200

    let conditions: ConditionReader
    let lines: LineTable

    /// What the file says. Throws the line of the first fault if it is no Swift.
    static func contents(of bytes: [UInt8], path: String, flags: Set<String>) throws -> SourceContents {
      let lines = LineTable(bytes)
      let tree = bytes.withUnsafeBufferPointer { Parser.parse(source: $0, maximumNestingLevel: greatestNesting) }
      if tree.hasError { throw fault(in: Syntax(tree), path, lines) }
      let reader = SyntaxReader(conditions: ConditionReader(flags: flags, lines: lines), lines: lines)
      var members = SourceMembers()
      for item in tree.statements { reader.add(item.item, nil, to: &members) }
      var contents = SourceContents(declarations: members.nested, globals: members.properties)
      if SchemaCalls.mayBe(in: bytes) { contents.schemas = SchemaCalls(reader: reader).find(in: Syntax(tree)) }
      if ListChanges.mayBe(in: bytes) { contents.changes = ListChanges(lines: lines).find(in: Syntax(tree)) }
      return contents
    }

    /// The first token that the parser missed, or did not expect.
    private static func fault(in tree: Syntax, _ path: String, _ lines: LineTable) -> BatchError {
      var node = tree
      while let child = node.children(viewMode: .all).first(where: \.hasError) { node = child }
      let place = SourcePlace(path: path, line: lines.line(at: node))
      let missing = node.as(TokenSyntax.self).map { "\($0.text.isEmpty ? "something" : $0.text) is missing" }
      return place.error(
        "this is no Swift that can be read: \(missing ?? "\(node.trimmedDescription.prefix(40)) is not expected here")",
        hint: "Correct the source, or name the files without it")
    }

    func line(_ node: some SyntaxProtocol) -> Int { lines.line(at: node) }

    private func add(_ item: CodeBlockItemSyntax.Item, _ doubt: SourceDoubt?, to members: inout SourceMembers) {
      guard case .decl(let declaration) = item else { return }
      DeclarationReader(syntax: self).add(declaration, doubt, to: &members)
    }

    /// The elements of an `#if` that are or may be compiled.
    func add(_ node: IfConfigDeclSyntax, _ doubt: SourceDoubt?, to members: inout SourceMembers) {
      for (elements, found) in conditions.parts(of: node) {
        switch elements {
        case .statements(let items): for item in items { add(item.item, doubt ?? found, to: &members) }
        case .decls(let items):
          for item in items { DeclarationReader(syntax: self).add(item.decl, doubt ?? found, to: &members) }
        default: break
        }
      }
    }
  }
#endif
