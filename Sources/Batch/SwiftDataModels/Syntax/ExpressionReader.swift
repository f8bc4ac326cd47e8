#if SwiftData
  import SwiftSyntax

  /// Reads expressions as far as models need them.
  struct ExpressionReader {
    private static let greatestDepth = 32

    func expression(_ node: ExprSyntax) -> SourceExpression { expression(node, depth: 0) }

    func arguments(_ list: LabeledExprListSyntax) -> [SourceArgument] { arguments(list, depth: 0) }

    private func arguments(_ list: LabeledExprListSyntax, depth: Int) -> [SourceArgument] {
      list.map { SourceArgument(label: $0.label?.text, value: expression($0.expression, depth: depth + 1)) }
    }

    private func expression(_ node: ExprSyntax, depth: Int) -> SourceExpression {
      guard depth < Self.greatestDepth else { return .other("…") }
      switch node.as(ExprSyntaxEnum.self) {
      case .stringLiteralExpr(let literal): return literal.representedLiteralValue.map { .text($0) } ?? .other("\"…\"")
      case .integerLiteralExpr(let literal): return integer(literal.literal.text) ?? written(node)
      case .floatLiteralExpr(let literal): return real(literal.literal.text) ?? written(node)
      case .booleanLiteralExpr(let literal): return .truth(literal.literal.text == "true")
      case .nilLiteralExpr: return .none
      case .declReferenceExpr(let name):
        return name.argumentNames == nil ? .name(TypeReader.plain(name.baseName)) : written(node)
      case .memberAccessExpr(let member): return self.member(member, depth: depth)
      case .functionCallExpr(let call): return self.call(call, depth: depth)
      case .keyPathExpr(let path): return keyPath(path) ?? written(node)
      case .arrayExpr(let array):
        return .array(array.elements.map { expression($0.expression, depth: depth + 1) })
      case .dictionaryExpr: return written(node)
      case .prefixOperatorExpr(let prefix): return negative(prefix, depth: depth) ?? written(node)
      case .sequenceExpr(let sequence): return self.sequence(Array(sequence.elements), depth: depth) ?? written(node)
      case .tupleExpr(let tuple):
        guard tuple.elements.count == 1, let only = tuple.elements.first, only.label == nil else {
          return written(node)
        }
        return expression(only.expression, depth: depth + 1)
      case .closureExpr: return .closure
      default: return written(node)
      }
    }

    private func member(_ node: MemberAccessExprSyntax, depth: Int) -> SourceExpression {
      let name = TypeReader.plain(node.declName.baseName)
      guard let base = node.base else { return .member(nil, name) }
      // `String?.self`, `[Int].self`
      return .member(expression(base, depth: depth + 1), name)
    }

    private func call(_ node: FunctionCallExprSyntax, depth: Int) -> SourceExpression {
      // `[String]()` calls an array literal, as the parser sees it.
      if let array = node.calledExpression.as(ArrayExprSyntax.self), array.elements.count == 1,
        case .some(let names) = array.elements.first.flatMap({ expression($0.expression, depth: depth + 1).names })
      {
        return .typed(.array(.named(names)))
      }
      var given = arguments(node.arguments, depth: depth)
      if node.trailingClosure != nil { given.append(SourceArgument(label: "{}", value: .closure)) }
      return .call(expression(node.calledExpression, depth: depth + 1), given)
    }

    private func keyPath(_ node: KeyPathExprSyntax) -> SourceExpression? {
      var names: [String] = []
      for component in node.components {
        guard case .property(let property) = component.component else { return nil }
        names.append(TypeReader.plain(property.declName.baseName))
      }
      guard let root = node.root else { return .keyPath(root: [], names: names) }
      guard case .named(let type) = TypeReader.name(root) else { return nil }
      // `\A.B.c`: which names are those of types the parser cannot know. The last one is a property's.
      let all = type + names
      return .keyPath(root: all.dropLast(), names: all.suffix(1))
    }

    private func negative(_ node: PrefixOperatorExprSyntax, depth: Int) -> SourceExpression? {
      guard node.operator.text == "-" else { return nil }
      switch expression(node.expression, depth: depth + 1) {
      case .integer(let number): return .integer(-number)
      case .real(let number): return .real(-number)
      default: return nil
      }
    }

    /// Sums, and `value as Type`.
    private func sequence(_ elements: [ExprSyntax], depth: Int) -> SourceExpression? {
      if elements.count == 3, elements[1].is(UnresolvedAsExprSyntax.self),
        let type = elements[2].as(TypeExprSyntax.self)
      {
        return .typed(TypeReader.name(type.type))
      }
      guard elements.count < 1000, var sum = elements.first.map({ expression($0, depth: depth + 1) }) else {
        return nil
      }
      for place in stride(from: 1, to: elements.count - 1, by: 2) {
        guard elements[place].as(BinaryOperatorExprSyntax.self)?.operator.text == "+" else { return nil }
        sum = .sum(sum, expression(elements[place + 1], depth: depth + 1))
      }
      return sum
    }

    private func integer(_ text: String) -> SourceExpression? {
      let digits = text.replacing("_", with: "")
      let radixes: [(String, Int)] = [("0x", 16), ("0b", 2), ("0o", 8)]
      for (prefix, radix) in radixes where digits.hasPrefix(prefix) {
        return Int64(digits.dropFirst(2), radix: radix).map { .integer($0) }
      }
      return Int64(digits).map { .integer($0) }
    }

    private func real(_ text: String) -> SourceExpression? {
      Double(text.replacing("_", with: "")).flatMap { $0.isFinite ? .real($0) : nil }
    }

    private func written(_ node: ExprSyntax) -> SourceExpression {
      .other(String(node.trimmedDescription.prefix(60)))
    }
  }
#endif
