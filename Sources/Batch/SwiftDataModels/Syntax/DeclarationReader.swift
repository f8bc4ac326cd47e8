#if SwiftData
  import SwiftSyntax

  /// Reads declarations of types and their members.
  struct DeclarationReader {
    let syntax: SyntaxReader
    private let values = ExpressionReader()

    init(syntax: SyntaxReader) { self.syntax = syntax }

    func add(_ node: DeclSyntax, _ doubt: SourceDoubt?, to members: inout SourceMembers) {
      switch node.as(DeclSyntaxEnum.self) {
      case .classDecl(let node): members.nested.append(type(node, .class, names: [node.name.text], doubt: doubt))
      case .structDecl(let node): members.nested.append(type(node, .struct, names: [node.name.text], doubt: doubt))
      case .enumDecl(let node): members.nested.append(type(node, .enum, names: [node.name.text], doubt: doubt))
      case .actorDecl(let node): members.nested.append(type(node, .actor, names: [node.name.text], doubt: doubt))
      case .protocolDecl(let node): members.nested.append(type(node, .protocol, names: [node.name.text], doubt: doubt))
      case .extensionDecl(let node):
        if case .named(let names) = TypeReader.name(node.extendedType) {
          members.nested.append(type(node, .extension, names: names, doubt: doubt))
        }
      case .typeAliasDecl(let node): members.nested.append(alias(node, doubt))
      case .variableDecl(let node):
        members.properties += PropertyReader(syntax: syntax, attributes: uses(node.attributes)).properties(node, doubt)
      case .enumCaseDecl(let node): members.cases += cases(node, doubt)
      case .macroExpansionDecl(let node): members.macros.append(macro(node, doubt))
      case .ifConfigDecl(let node): syntax.add(node, doubt, to: &members)
      case .initializerDecl(let node):
        if node.signature.parameterClause.parameters.first?.firstName.text == "from" {
          members.coding = syntax.line(node)
        }
      case .functionDecl(let node):
        let label = node.signature.parameterClause.parameters.first?.firstName.text
        if node.name.text == "encode", label == "to" { members.coding = syntax.line(node) }
      default: break
      }
    }

    private func type(
      _ node: some DeclGroupSyntax, _ kind: SourceDeclaration.Kind, names: [String], doubt: SourceDoubt?
    ) -> SourceDeclaration {
      var found = SourceDeclaration(kind: kind, names: names, line: syntax.line(node))
      found.inherited = node.inheritanceClause?.inheritedTypes.map { TypeReader.name($0.type) } ?? []
      found.isGeneric = node.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
      found.uses = uses(node.attributes)
      found.doubt = doubt
      var members = SourceMembers()
      for item in node.memberBlock.members { add(item.decl, nil, to: &members) }
      (found.nested, found.properties, found.cases) = (members.nested, members.properties, members.cases)
      (found.macros, found.coding) = (members.macros, members.coding)
      return found
    }

    private func alias(_ node: TypeAliasDeclSyntax, _ doubt: SourceDoubt?) -> SourceDeclaration {
      var found = SourceDeclaration(kind: .typealias, names: [node.name.text], line: syntax.line(node))
      found.aliased = TypeReader.name(node.initializer.value)
      found.isGeneric = node.genericParameterClause != nil
      found.doubt = doubt
      return found
    }

    private func cases(_ node: EnumCaseDeclSyntax, _ doubt: SourceDoubt?) -> [SourceCase] {
      node.elements.map {
        SourceCase(
          name: TypeReader.plain($0.name), line: syntax.line($0), hasValues: $0.parameterClause != nil,
          hasRawValue: $0.rawValue != nil, doubt: doubt)
      }
    }

    private func macro(_ node: MacroExpansionDeclSyntax, _ doubt: SourceDoubt?) -> SourceUse {
      SourceUse(
        name: "#" + node.macroName.text, line: syntax.line(node), arguments: values.arguments(node.arguments),
        doubt: doubt)
    }

    /// Attributes by their names without the module's.
    private func uses(_ list: AttributeListSyntax, _ doubt: SourceDoubt? = nil) -> [SourceUse] {
      list.flatMap { element -> [SourceUse] in
        guard case .attribute(let node) = element else { return uses(in: element, doubt) }
        var use = SourceUse(name: name(of: node), line: syntax.line(node), doubt: doubt)
        switch node.arguments {
        case .argumentList(let list): use.arguments = values.arguments(list)
        default: break
        }
        return [use]
      }
    }

    /// Those inside an `#if`.
    private func uses(in element: AttributeListSyntax.Element, _ doubt: SourceDoubt?) -> [SourceUse] {
      guard case .ifConfigDecl(let node) = element else { return [] }
      return syntax.conditions.parts(of: node).flatMap { elements, found -> [SourceUse] in
        guard case .attributes(let list) = elements else { return [] }
        return uses(list, doubt ?? found)
      }
    }

    private func name(of node: AttributeSyntax) -> String {
      guard case .named(let names) = TypeReader.name(node.attributeName) else {
        return node.attributeName.trimmedDescription
      }
      return names.last ?? ""
    }
  }
#endif
