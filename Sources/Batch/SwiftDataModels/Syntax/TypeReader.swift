#if SwiftData
  import SwiftSyntax

  /// Reads types as they are written.
  enum TypeReader {
    private static let greatestDepth = 32

    static func name(_ node: TypeSyntax) -> TypeName { name(node, depth: 0) }

    private static func name(_ node: TypeSyntax, depth: Int) -> TypeName {
      guard depth < greatestDepth else { return .other("…") }
      switch node.as(TypeSyntaxEnum.self) {
      case .identifierType(let type): return identifier(type, depth: depth) ?? written(node)
      case .memberType: return member(node) ?? written(node)
      case .optionalType(let type): return .optional(name(type.wrappedType, depth: depth + 1))
      case .implicitlyUnwrappedOptionalType(let type): return .optional(name(type.wrappedType, depth: depth + 1))
      case .arrayType(let type): return .array(name(type.element, depth: depth + 1))
      case .dictionaryType(let type):
        return .dictionary(name(type.key, depth: depth + 1), name(type.value, depth: depth + 1))
      case .tupleType(let type):
        guard type.elements.count == 1, let only = type.elements.first, only.firstName == nil else {
          return written(node)
        }
        return name(only.type, depth: depth + 1)
      default: return written(node)
      }
    }

    private static func identifier(_ type: IdentifierTypeSyntax, depth: Int) -> TypeName? {
      guard let clause = type.genericArgumentClause else { return .named([plain(type.name)]) }
      let arguments = clause.arguments.map { argument in
        argument.argument.as(TypeSyntax.self).map { name($0, depth: depth + 1) } ?? .other("")
      }
      switch (type.name.text, arguments.count) {
      case ("Optional", 1): return .optional(arguments[0])
      case ("Array", 1): return .array(arguments[0])
      case ("Dictionary", 2): return .dictionary(arguments[0], arguments[1])
      default: return nil
      }
    }

    /// `A.B.C`; the tree of a long one is deep.
    private static func member(_ node: TypeSyntax) -> TypeName? {
      var (names, rest) = ([String](), node)
      while let member = rest.as(MemberTypeSyntax.self) {
        guard member.genericArgumentClause == nil, names.count < greatestDepth else { return nil }
        names.append(plain(member.name))
        rest = member.baseType
      }
      guard let first = rest.as(IdentifierTypeSyntax.self), first.genericArgumentClause == nil else { return nil }
      return .named([plain(first.name)] + names.reversed())
    }

    private static func written(_ node: TypeSyntax) -> TypeName {
      // A space stays between words, as in `any Shape`.
      let words = node.trimmedDescription.split(whereSeparator: \.isWhitespace)
      let text = words.dropFirst().reduce(words.first.map(String.init) ?? "") { text, word in
        text + (isWord(text.last) && isWord(word.first) ? " " : "") + word
      }
      return .other(String(text.prefix(80)))
    }

    private static func isWord(_ character: Character?) -> Bool {
      character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
    }

    /// A name without the backquotes around it.
    static func plain(_ token: TokenSyntax) -> String {
      let text = token.text
      return text.count > 2 && text.first == "`" && text.last == "`" ? String(text.dropFirst().dropLast()) : text
    }
  }
#endif
