#if SwiftData
  import SwiftParser
  import SwiftSyntax

  /// Reads a file of policies by the parser of the compiler, and rewrites it for a compiler that knows no Objective-C.
  final class PolicyReader: SyntaxVisitor {
    private let lines: LineStarts
    private var edits = SourceEdits()
    private var file: PolicyFile
    /// The types around what is visited.
    private var scopes: [String] = []
    private var conditions = 0

    /// What is no Swift is left to the compiler, which says so better.
    static func read(_ bytes: [UInt8], path: String) -> PolicyFile {
      let tree = bytes.withUnsafeBufferPointer { Parser.parse(source: $0, maximumNestingLevel: 200) }
      let reader = PolicyReader(bytes, path)
      reader.walk(tree)
      reader.file.rewritten = reader.edits.applied(to: bytes)
      return reader.file
    }

    private init(_ bytes: [UInt8], _ path: String) {
      lines = LineStarts(bytes)
      file = PolicyFile(path: path, bytes: bytes, rewritten: "")
      super.init(viewMode: .sourceAccurate)
    }

    // MARK: What is taken off

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
      let name = node.attributeName.trimmedDescription
      if ["objc", "objcMembers", "NSManaged", "nonobjc", "IBAction", "IBOutlet"].contains(name) { edits.blank(node) }
      return .skipChildren
    }

    override func visit(_ node: DeclModifierSyntax) -> SyntaxVisitorContinueKind {
      if node.name.text == "dynamic" { edits.blank(node) }
      return .skipChildren
    }

    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
      guard node.macroName.text == "keyPath", let argument = node.arguments.first else { return .visitChildren }
      let parts = argument.expression.trimmedDescription.split(separator: ".")
      let keys = parts.drop { $0.first?.isUppercase == true }
      edits.replace(node, by: "\"\(keys.joined(separator: "."))\"")
      file.words.names.formUnion(keys.map(String.init))
      return .skipChildren
    }

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
      guard node.attributes.has("NSManaged") else { return .visitChildren }
      for binding in node.bindings {
        guard binding.accessorBlock == nil, let type = binding.typeAnnotation else { continue }
        let key = binding.pattern.trimmedDescription
        edits.insert(" { get { managed(\"\(key)\") } set { setManaged(newValue, \"\(key)\") } }", after: type)
      }
      return .visitChildren
    }

    // Foundation has a class of that name that cannot be used.
    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
      qualify(node.baseName)
      return .visitChildren
    }

    override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
      qualify(node.name)
      return .visitChildren
    }

    private func qualify(_ name: TokenSyntax) {
      guard name.text == "NSExpression", name.previousToken(viewMode: .sourceAccurate)?.tokenKind != .period else {
        return
      }
      edits.replace(name, by: "CoreData.NSExpression")
    }

    // MARK: What is declared

    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
      conditions += 1
      return .visitChildren
    }

    override func visitPost(_ node: IfConfigDeclSyntax) { conditions -= 1 }

    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
      guard conditions == 0, let module = node.path.first?.name.text else { return .visitChildren }
      file.imports.append(PolicyFile.Import(module: module, line: lines.line(node)))
      return .visitChildren
    }

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
      scopes.append(node.name.text)
      let parent = node.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription ?? ""
      let exposed = node.attributes.argument(of: "objc") ?? node.name.text
      file.classes.append(
        PolicyClass(
          name: scopes.joined(separator: "."), exposedName: exposed,
          parent: parent.split(separator: ".").last.map(String.init) ?? "", line: lines.line(node),
          exposesMembers: node.attributes.has("objcMembers")))
      return .visitChildren
    }

    private func enter(_ scope: String) -> SyntaxVisitorContinueKind {
      scopes.append(scope)
      return .visitChildren
    }

    override func visitPost(_ node: ClassDeclSyntax) { scopes.removeLast() }

    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
      enter(node.extendedType.trimmedDescription)
    }

    override func visitPost(_ node: ExtensionDeclSyntax) { scopes.removeLast() }

    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { enter(node.name.text) }

    override func visitPost(_ node: StructDeclSyntax) { scopes.removeLast() }

    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { enter(node.name.text) }

    override func visitPost(_ node: EnumDeclSyntax) { scopes.removeLast() }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
      let owner = scopes.joined(separator: ".")
      let index = file.classes.lastIndex { $0.name == owner }
      let parameters = node.signature.parameterClause.parameters
      let labels = parameters.map { $0.firstName.text == "_" ? nil : $0.firstName.text }
      if node.name.text == "createRelationships", labels.first == "forDestination", let index {
        file.classes[index].overridesRelationships = true
      }
      let isExposed = node.attributes.has("objc") || index.map { file.classes[$0].exposesMembers } == true
      let words = Set(node.modifiers.map(\.name.text))
      guard isExposed, words.isDisjoint(with: ["static", "class", "override", "private", "fileprivate"]) else {
        return .visitChildren
      }
      let selector = node.attributes.argument(of: "objc") ?? SelectorName.of(node.name.text, labels: labels)
      let result = node.signature.returnClause?.type.trimmedDescription ?? "Void"
      file.methods[owner, default: []].append(
        PolicyClass.Method(
          selector: selector, name: node.name.text, labels: labels, givesValue: !["Void", "()"].contains(result)))
      return .visitChildren
    }

    // MARK: What is fetched

    override func visit(_ node: LabeledExprSyntax) -> SyntaxVisitorContinueKind {
      let text = node.expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue
      switch node.label?.text {
      case "entityName": if let text { file.words.entities.insert(text) } else { file.words.hasOtherEntities = true }
      case "format":
        guard let text else { break }
        for match in text.matches(of: /(\w+)\s*==?/) { file.words.attributes.insert(String(match.1)) }
        if text.contains("%K") { file.words.hasOtherAttributes = true }
      default: break
      }
      return .visitChildren
    }

    override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind {
      if let text = node.representedLiteralValue, text.wholeMatch(of: /\w+/) != nil { file.words.names.insert(text) }
      return .visitChildren
    }
  }
#endif
