#if SwiftData
  import SwiftSyntax

  /// Finds what `-D` has to give so that an undecided condition is true, or false.
  struct ConditionAdvice {
    private static let greatestDepth = 64

    let conditions: ConditionReader

    /// The fewest that are easy to find; none if a part of it cannot be given.
    func flags(for condition: ExprSyntax, toBe wanted: Bool) -> [String] {
      (needs(condition, wanted, depth: 0) ?? []).reduce(into: []) { list, flag in
        if !list.contains(flag) { list.append(flag) }
      }
    }

    private func needs(_ condition: ExprSyntax, _ wanted: Bool, depth: Int) -> [String]? {
      guard depth < Self.greatestDepth else { return nil }
      if let truth = conditions.truth(of: condition, depth: depth) { return truth == wanted ? [] : nil }
      if let call = condition.as(FunctionCallExprSyntax.self) {
        let text = ConditionFlag.text(call)
        return ConditionFlag(text).problem == nil ? [wanted ? text : "!" + text] : nil
      }
      if let prefix = condition.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "!" {
        return needs(prefix.expression, !wanted, depth: depth + 1)
      }
      if let tuple = condition.as(TupleExprSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first {
        return needs(only.expression, wanted, depth: depth + 1)
      }
      guard let sequence = condition.as(SequenceExprSyntax.self) else { return nil }
      return needs(Array(sequence.elements), wanted, depth: depth + 1)
    }

    /// `a && b || c`: one alternative makes it true, and one part of each makes it false.
    private func needs(_ elements: [ExprSyntax], _ wanted: Bool, depth: Int) -> [String]? {
      let groups = elements.split { $0.as(BinaryOperatorExprSyntax.self)?.operator.text == "||" }
      let parts = groups.map { group in
        group.filter { !$0.is(BinaryOperatorExprSyntax.self) }.map { needs($0, wanted, depth: depth) }
      }
      if wanted { return parts.lazy.compactMap(all).first }
      return all(parts.map { $0.lazy.compactMap(\.self).first })
    }

    private func all(_ parts: [[String]?]) -> [String]? {
      parts.contains { $0 == nil } ? nil : parts.flatMap { $0 ?? [] }
    }
  }

  extension ConditionFlag {
    /// A call as `-D` gives it.
    static func text(_ call: FunctionCallExprSyntax) -> String {
      call.trimmedDescription.filter { !$0.isWhitespace }
    }
  }
#endif
