import CoreDataModel
import Streams

extension ExpressionCompiler {
  /// Understands an argument of a policy's function.
  mutating func argument(_ expression: Expression) throws -> PolicyArgument {
    if let word = PolicyWord(expression) { return .word(word) }
    return .expression(try compile(expression).expression)
  }
}

extension PolicyArgument {
  /// What it gives to a function that takes objects and types.
  func typed(_ scope: ExpressionScope) throws -> FunctionArgument {
    switch self {
    case .expression(let expression): try expression.argument(scope)
    case .word(let word): .word(word)
    }
  }

  /// What it gives to a function that takes values: of an object its key.
  func value(_ function: String, _ scope: ExpressionScope) throws -> Value {
    guard case .expression(let expression) = self else {
      throw ExpressionDamage("gives the manager, a context or the mapping to \(function), which has them anyhow")
    }
    switch try expression.evaluate(scope) {
    case .value(let value): return value
    case .source(let object): return .integer(object.key)
    case .destination(let object): return .integer(object.key)
    case .list: throw ExpressionDamage("gives a collection to \(function), which takes values and objects")
    }
  }
}
