/// Reads an NSExpression from its keyed archive, as mapping models hold it (D.3).
enum ExpressionReader {
  /// Throws ``BatchError`` with the code `badMapping` for expressions that no mapping model is known to use.
  static func read(_ bytes: [UInt8]) throws -> Expression {
    guard let root = try KeyedArchive(bytes).root else {
      throw BatchError(.badMapping, "the archive holds no expression")
    }
    do { return try expression(ExpressionArchiveReader.expression(root)) } catch let damage as ExpressionDamage {
      throw BatchError(.badMapping, "the expression \(damage)")
    }
  }

  private static func expression(_ archived: ArchivedExpression) throws -> Expression {
    switch archived {
    case .constant(let value): return .constant(value)
    case .decimal(let digits): return .constant(Double(digits).map { .real($0) } ?? .null)
    case .date(let seconds): return .constant(.real(seconds))
    case .evaluatedObject: return .variable(Expression.evaluatedObject)
    case .variable(let name): return .variable(name)
    case .keyPath(let operand, let path):
      return .keyPath(operand: try expression(operand), path: path.split(separator: ".").map(String.init))
    case .function(let operand, let name, let arguments):
      return .function(operand: try operand.map(expression), name: name, arguments: try arguments.map(expression))
    case .aggregate, .subquery: throw ExpressionDamage("has a part that mapping models do not use")
    }
  }
}
