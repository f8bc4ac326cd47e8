#if SwiftData
  import SwiftSyntax

  /// Reads variables and constants.
  struct PropertyReader {
    let syntax: SyntaxReader
    let attributes: [SourceUse]
    private let values = ExpressionReader()

    init(syntax: SyntaxReader, attributes: [SourceUse]) { (self.syntax, self.attributes) = (syntax, attributes) }

    /// One for each name; a name that is a pattern is kept as written, so that it can be refused.
    func properties(_ node: VariableDeclSyntax, _ doubt: SourceDoubt?) -> [SourceProperty] {
      let words = Set(node.modifiers.map(\.name.text))
      var type: TypeName?
      let found = node.bindings.reversed().map { binding in
        // In `var a, b: Int` the type is that of both.
        if let annotation = binding.typeAnnotation { type = TypeReader.name(annotation.type) }
        if binding.initializer != nil, binding.typeAnnotation == nil { type = nil }
        let name = binding.pattern.as(IdentifierPatternSyntax.self).map { TypeReader.plain($0.identifier) }
        var property = SourceProperty(
          name: name ?? binding.pattern.trimmedDescription, line: syntax.line(node.bindingSpecifier), type: type)
        property.value = binding.initializer.map { values.expression($0.value) }
        property.isConstant = node.bindingSpecifier.text == "let"
        property.isStatic = !words.isDisjoint(with: ["static", "class"])
        property.isPrivate = !words.isDisjoint(with: ["private", "fileprivate"])
        property.isLazy = words.contains("lazy")
        (property.uses, property.doubt) = (attributes, doubt)
        if let block = binding.accessorBlock { read(block, into: &property) }
        return property
      }
      return found.reversed()
    }

    private func read(_ block: AccessorBlockSyntax, into property: inout SourceProperty) {
      switch block.accessors {
      case .getter(let items):
        property.isComputed = true
        property.value = value(of: items)
      case .accessors(let list):
        let observers: Set<String> = ["willSet", "didSet"]
        guard list.contains(where: { !observers.contains($0.accessorSpecifier.text) }) else { return }
        property.isComputed = true
        let getter = list.first { $0.accessorSpecifier.text == "get" }
        property.value = getter?.body.flatMap { value(of: $0.statements) }
      }
    }

    /// The value of a getter that consists of one expression.
    private func value(of items: CodeBlockItemListSyntax) -> SourceExpression? {
      guard items.count == 1, let only = items.first else { return nil }
      switch only.item {
      case .expr(let expression): return values.expression(expression)
      case .stmt(let statement):
        return statement.as(ReturnStmtSyntax.self)?.expression.map { values.expression($0) }
      case .decl: return nil
      }
    }
  }
#endif
