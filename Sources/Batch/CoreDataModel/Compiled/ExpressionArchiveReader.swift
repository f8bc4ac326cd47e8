import Codecs
import Streams

/// Reads NSExpression and NSPredicate from keyed archives. Throws ``ExpressionDamage``, and ``BatchError`` when the budget
/// is spent.
///
/// Source of the shapes: value expressions of mapping models (D.3) and validation predicates of model caches; kinds
/// that occur in neither follow NSPredicate's public constants.
package struct ExpressionArchiveReader {
  private static let greatestDepth = 64
  private static let mostParts = 10_000
  private static let mostBytes = 1 << 20
  /// What a part costs of the budget that all expressions of an archive share.
  private static let cost = 40

  private let budget: ArchiveBudget
  private var parts = 0
  private var bytes = 0

  package static func expression(
    _ object: KeyedObject, budget: ArchiveBudget = ArchiveBudget()
  ) throws -> Expression {
    var reader = ExpressionArchiveReader(budget: budget)
    return try reader.expression(object, depth: 0)
  }

  static func predicate(_ object: KeyedObject, budget: ArchiveBudget = ArchiveBudget()) throws -> Predicate {
    var reader = ExpressionArchiveReader(budget: budget)
    return try reader.predicate(object, depth: 0)
  }

  /// An archive can refer to one object from many places: depth and number of parts are limited, not the bytes alone.
  private mutating func enter(_ depth: Int) throws {
    parts += 1
    try budget.spend(Self.cost)
    guard depth < Self.greatestDepth, parts <= Self.mostParts else {
      throw ExpressionDamage("holds itself or too many parts")
    }
  }

  private mutating func note(_ text: String) throws -> String {
    bytes += text.utf8.count
    try budget.spend(text.utf8.count)
    guard bytes <= Self.mostBytes else { throw ExpressionDamage("holds more than \(Self.mostBytes) bytes of text") }
    return text
  }

  private mutating func expression(_ object: KeyedObject, depth: Int) throws -> Expression {
    try enter(depth)
    switch object["NSExpressionType"]?.integer {
    case 0: return try constant(object)
    case 1: return .evaluatedObject
    case 2:
      guard let name = object["NSVariable"]?.string else { throw unreadable(object, "a variable without name") }
      return .variable(try note(name))
    case 3, 4: return try function(object, depth: depth)
    case .some(let type) where Expression.SetOperation(rawValue: type) != nil:
      guard let operation = Expression.SetOperation(rawValue: type), let left = object["NSLeftExpression"],
        let right = object["NSRightExpression"]
      else { throw unreadable(object, "a set expression without operands") }
      return .set(operation, try expression(left, depth: depth + 1), try expression(right, depth: depth + 1))
    case 10: return .keyPath(operand: .evaluatedObject, path: try keyPath(object))
    case 13: return try subquery(object, depth: depth)
    case 14:
      return .aggregate(try list(object["NSCollection"], depth: depth).map { try expression($0, depth: depth + 1) })
    case 20: return try conditional(object, depth: depth)
    case 50: return try fetch(object, depth: depth)
    default: throw unreadable(object, "a kind of expression that is not known")
    }
  }

  private mutating func function(_ object: KeyedObject, depth: Int) throws -> Expression {
    guard let name = object["NSSelectorName"]?.string, let operand = object["NSOperand"] else {
      throw unreadable(object, "a function without name or operand")
    }
    let arguments = try list(object["NSArguments"], depth: depth)
    if name == "valueForKeyPath:" || name == "valueForKey:", arguments.count == 1 {
      return .path(try expression(operand, depth: depth + 1), try keyPath(arguments[0]))
    }
    let values = try arguments.map { try expression($0, depth: depth + 1) }
    // Functions by name, such as now(), are methods of a class; everything else is sent to an object.
    let isByName = operand["NSConstantValueClassName"] != nil
    return .function(
      operand: isByName ? nil : try expression(operand, depth: depth + 1), name: try note(name), arguments: values)
  }

  private mutating func subquery(_ object: KeyedObject, depth: Int) throws -> Expression {
    guard let collection = object["NSCollection"], let predicate = object["NSPredicate"],
      let variable = object["NSVariable"]?.string ?? object["NSVariable"]?["NSVariable"]?.string
    else { throw unreadable(object, "a subquery without collection, variable or predicate") }
    return .subquery(
      collection: try expression(collection, depth: depth + 1), variable: try note(variable),
      predicate: try self.predicate(predicate, depth: depth + 1))
  }

  private mutating func conditional(_ object: KeyedObject, depth: Int) throws -> Expression {
    guard let predicate = object["NSPredicate"], let yes = object["NSTrueExpression"],
      let no = object["NSFalseExpression"]
    else {
      throw unreadable(object, "a conditional expression without predicate or values")
    }
    return .conditional(
      try self.predicate(predicate, depth: depth + 1), try expression(yes, depth: depth + 1),
      try expression(no, depth: depth + 1))
  }

  private mutating func fetch(_ object: KeyedObject, depth: Int) throws -> Expression {
    guard let request = object["NSFRExpression"], let context = object["NSMOCExpression"] else {
      throw unreadable(object, "a fetch without request or context")
    }
    return .fetch(
      request: try expression(request, depth: depth + 1), context: try expression(context, depth: depth + 1),
      isCountOnly: object["NSCountOnlyFlag"]?.integer == 1)
  }

  private func list(_ object: KeyedObject?, depth: Int) throws -> [KeyedObject] {
    guard let object else { return [] }
    guard object.memberCount <= Self.mostParts else { throw ExpressionDamage("holds itself or too many parts") }
    return object.array ?? []
  }

  private mutating func keyPath(_ object: KeyedObject) throws -> [String] {
    guard let text = (object["NSKeyPath"] ?? object["NSConstantValue"])?.string, !text.isEmpty else {
      throw unreadable(object, "a key path that is no text")
    }
    return try note(text).split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  private mutating func constant(_ object: KeyedObject) throws -> Expression {
    guard let value = object["NSConstantValue"] else { return .constant(.null) }
    // A predicate made in code may hold an array as it is.
    guard value.array != nil else { return try scalar(value) }
    var members: [Expression] = []
    for member in try list(value, depth: 0) {
      parts += 1
      members.append(try scalar(member))
    }
    return .aggregate(members)
  }

  private mutating func scalar(_ value: KeyedObject) throws -> Expression {
    if let text = value.string ?? value["NS.relative"]?.string { return .constant(.text(try note(text))) }
    if let number = value.integer { return .constant(.integer(number)) }
    if let number = value.real { return .constant(.real(number)) }
    if let seconds = value.date { return .date(seconds) }
    if let digits = ArchivedDecimal.text(value) { return .decimal(digits) }
    if let bytes = value.data ?? value["NS.uuidbytes"]?.data { return .constant(.blob(bytes)) }
    throw unreadable(value, "a constant that no attribute can hold")
  }

  private mutating func predicate(_ object: KeyedObject, depth: Int) throws -> Predicate {
    try enter(depth)
    switch object.className {
    case "NSTruePredicate": return .truth(true)
    case "NSFalsePredicate": return .truth(false)
    default: break
    }
    if let junction = object["NSCompoundPredicateType"]?.integer.flatMap(Predicate.Junction.init) {
      let parts = try list(object["NSSubpredicates"], depth: depth).map { try predicate($0, depth: depth + 1) }
      guard parts.count == 1 || junction != .not, !parts.isEmpty else {
        throw unreadable(object, "a junction of nothing")
      }
      return .compound(junction, parts)
    }
    guard let left = object["NSLeftExpression"], let right = object["NSRightExpression"],
      let operation = object["NSPredicateOperator"]
    else { throw unreadable(object, "a kind of predicate that is not known") }
    return .compare(
      try expression(left, depth: depth + 1), try self.operation(operation), try expression(right, depth: depth + 1))
  }

  private func operation(_ object: KeyedObject) throws -> Predicate.Operation {
    guard let comparison = object["NSOperatorType"]?.integer.flatMap(Predicate.Comparison.init),
      let modifier = Predicate.Modifier(rawValue: object["NSModifier"]?.integer ?? 0)
    else { throw unreadable(object, "an operator that is not known") }
    return Predicate.Operation(
      comparison: comparison, modifier: modifier,
      options: (object["NSOptions"] ?? object["NSFlags"])?.integer ?? 0)
  }

  private func unreadable(_ object: KeyedObject, _ what: String) -> ExpressionDamage {
    ExpressionDamage("has \(what) (class \(object.className ?? "unknown"))")
  }
}
