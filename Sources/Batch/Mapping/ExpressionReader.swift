import Streams

/// Reads an NSExpression from its keyed archive (D.3).
struct ExpressionReader {
  private static let greatestDepth = 64
  private static let mostParts = 10_000

  private var parts = 0

  /// Throws ``BatchError`` with the code `badMapping` for expressions that no mapping model is known to use.
  static func read(_ bytes: [UInt8]) throws -> Expression {
    guard let root = try KeyedArchive(bytes).root else {
      throw BatchError(.badMapping, "the archive holds no expression")
    }
    var reader = ExpressionReader()
    return try reader.expression(root, depth: 0)
  }

  /// An archive can refer to one object from many places: depth and number of parts are limited, not the bytes alone.
  private mutating func expression(_ object: KeyedObject, depth: Int) throws -> Expression {
    parts += 1
    guard depth < Self.greatestDepth, parts <= Self.mostParts else {
      throw BatchError(.badMapping, "the expression holds itself or too many parts")
    }
    switch object["NSExpressionType"]?.integer {
    case 0: return .constant(try constant(object))
    case 1: return .variable(Expression.evaluatedObject)
    case 2:
      guard let name = object["NSVariable"]?.string else { throw unreadable(object, "a variable without name") }
      return .variable(name)
    case 3, 4: return try function(object, depth: depth)
    case 10: return path(.variable(Expression.evaluatedObject), try keyPath(object))
    default: throw unreadable(object, "a kind of expression that mapping models do not use")
    }
  }

  private mutating func function(_ object: KeyedObject, depth: Int) throws -> Expression {
    guard let name = object["NSSelectorName"]?.string, let operand = object["NSOperand"] else {
      throw unreadable(object, "a function without name or operand")
    }
    let arguments = object["NSArguments"]?.array ?? []
    if name == "valueForKeyPath:" || name == "valueForKey:", arguments.count == 1 {
      return path(try expression(operand, depth: depth + 1), try keyPath(arguments[0]))
    }
    let values = try arguments.map { try expression($0, depth: depth + 1) }
    // Functions by name, such as now(), are methods of a class; everything else is sent to an object.
    let isByName = operand["NSConstantValueClassName"] != nil
    return .function(
      operand: isByName ? nil : try expression(operand, depth: depth + 1), name: name, arguments: values)
  }

  private func keyPath(_ object: KeyedObject) throws -> [String] {
    guard let text = (object["NSKeyPath"] ?? object["NSConstantValue"])?.string, !text.isEmpty else {
      throw unreadable(object, "a key path that is no text")
    }
    return text.split(separator: ".").map(String.init)
  }

  /// One key path, also where the archive nests them.
  private func path(_ operand: Expression, _ path: [String]) -> Expression {
    guard case .keyPath(let inner, let start) = operand else { return .keyPath(operand: operand, path: path) }
    return .keyPath(operand: inner, path: start + path)
  }

  private func constant(_ object: KeyedObject) throws -> Value {
    guard let value = object["NSConstantValue"] else { return .null }
    if let text = value.string { return .text(text) }
    if let number = value.integer { return .integer(number) }
    if let number = value.real ?? value.date { return .real(number) }
    if let bytes = value.data ?? value["NS.uuidbytes"]?.data { return .blob(bytes) }
    if let address = value["NS.relative"]?.string { return .text(address) }
    throw unreadable(value, "a constant that no attribute can hold")
  }

  private func unreadable(_ object: KeyedObject, _ what: String) -> BatchError {
    BatchError(.badMapping, "the expression has \(what) (class \(object.className ?? "unknown"))")
  }
}
