#if SwiftData
  import SwiftSyntax

  /// Decides `#if`: by the names and the calls that `-D` gives, and by what is true of all SwiftData.
  struct ConditionReader {
    let flags: Set<String>
    let lines: LineTable

    /// The parts of an `#if` that are compiled, and those that may be.
    func parts(of node: IfConfigDeclSyntax) -> [(IfConfigClauseSyntax.Elements, SourceDoubt?)] {
      var parts: [(IfConfigClauseSyntax.Elements, SourceDoubt?)] = []
      var doubt: SourceDoubt?
      for clause in node.clauses {
        let truth = clause.condition.map { self.truth(of: $0, depth: 0) } ?? true
        if truth == false { continue }
        if truth == nil, doubt == nil {
          doubt = clause.condition.map { self.doubt($0, line: lines.line(at: clause)) }
        }
        if let elements = clause.elements { parts.append((elements, doubt)) }
        if truth == true { break }
      }
      return parts
    }

    private func doubt(_ condition: ExprSyntax, line: Int) -> SourceDoubt {
      let advice = ConditionAdvice(conditions: self)
      return SourceDoubt(
        condition: condition.trimmedDescription, line: line, whenTrue: advice.flags(for: condition, toBe: true),
        whenFalse: advice.flags(for: condition, toBe: false))
    }

    /// Nil if nobody says.
    func truth(of condition: ExprSyntax, depth: Int = 0) -> Bool? {
      guard depth < 64 else { return nil }
      if let name = condition.as(DeclReferenceExprSyntax.self) { return flags.contains(name.baseName.text) }
      if let literal = condition.as(BooleanLiteralExprSyntax.self) { return literal.literal.text == "true" }
      if let prefix = condition.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "!" {
        return truth(of: prefix.expression, depth: depth + 1).map { !$0 }
      }
      if let tuple = condition.as(TupleExprSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first {
        return truth(of: only.expression, depth: depth + 1)
      }
      if let call = condition.as(FunctionCallExprSyntax.self) { return truth(of: call) }
      guard let sequence = condition.as(SequenceExprSyntax.self) else { return nil }
      return truth(of: Array(sequence.elements), depth: depth + 1)
    }

    /// `a && b || c`, in which `&&` binds closer.
    private func truth(of elements: [ExprSyntax], depth: Int) -> Bool? {
      var alternatives: [Bool?] = []
      var all: Bool? = true
      for (place, element) in elements.enumerated() {
        if place % 2 == 0 {
          let next = truth(of: element, depth: depth)
          all = all == false || next == false ? false : (all == nil || next == nil ? nil : true)
        } else if element.as(BinaryOperatorExprSyntax.self)?.operator.text == "||" {
          alternatives.append(all)
          all = true
        } else if element.as(BinaryOperatorExprSyntax.self)?.operator.text != "&&" {
          return nil
        }
      }
      alternatives.append(all)
      if alternatives.contains(true) { return true }
      return alternatives.contains(nil) ? nil : false
    }

    /// `os(iOS)`, `canImport(UIKit)`, `swift(>=6)` and others.
    private func truth(of call: FunctionCallExprSyntax) -> Bool? {
      let text = ConditionFlag.text(call)
      if flags.contains("!" + text) { return false }
      if flags.contains(text) || ["canImport(SwiftData)", "canImport(Foundation)"].contains(text) { return true }
      // A program is compiled for one system: another one than that of -D is not it.
      let name = call.calledExpression.trimmedDescription
      guard name == "os" || name == "targetEnvironment" else { return nil }
      return flags.contains { $0.hasPrefix("\(name)(") } ? false : nil
    }
  }
#endif
