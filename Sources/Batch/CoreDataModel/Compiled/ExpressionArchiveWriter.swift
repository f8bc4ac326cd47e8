import Codecs
import Streams

/// Writes NSExpression and NSPredicate into keyed archives, as ``ExpressionArchiveReader`` reads them.
extension ArchiveBuilder {
  package mutating func expression(_ expression: Expression) -> PropertyListValue {
    switch expression {
    case .constant(let value): return constant(constantValue(value))
    case .decimal(let digits): return constant(decimal(digits))
    case .date(let seconds): return constant(date(seconds))
    case .evaluatedObject: return part("NSSelfExpression", type: 1, [:])
    case .variable(let name): return part("NSVariableExpression", type: 2, ["NSVariable": text(name)])
    case .keyPath(let operand, let path):
      let specifier = part("NSKeyPathSpecifierExpression", type: 10, ["NSKeyPath": text(path.joined(separator: "."))])
      return function(
        ["NSKeyPathExpression"], operand: self.expression(operand),
        name: path.count > 1 ? "valueForKeyPath:" : "valueForKey:",
        arguments: array([specifier], isMutable: true))
    case .function(let operand, let name, let arguments):
      let target =
        operand.map { self.expression($0) }
        ?? part(
          "NSConstantValueExpression", type: 0, ["NSConstantValueClassName": text("_NSPredicateUtilities")])
      return function([], operand: target, name: name, arguments: array(arguments.map { self.expression($0) }))
    case .aggregate(let members):
      return part("NSAggregateExpression", type: 14, ["NSCollection": array(members.map { self.expression($0) })])
    case .subquery(let collection, let variable, let predicate):
      return part(
        "NSSubqueryExpression", type: 13,
        [
          "NSCollection": self.expression(collection), "NSVariable": text(variable),
          "NSPredicate": self.predicate(predicate),
        ])
    case .conditional, .set, .fetch: return rare(expression)
    }
  }

  /// Kinds that no archive of an application is known to have; their keys follow the names of the classes' parts.
  private mutating func rare(_ expression: Expression) -> PropertyListValue {
    switch expression {
    case .conditional(let predicate, let yes, let no):
      return part(
        "NSTernaryExpression", type: 20,
        [
          "NSPredicate": self.predicate(predicate), "NSTrueExpression": self.expression(yes),
          "NSFalseExpression": self.expression(no),
        ])
    case .set(let operation, let left, let right):
      return part(
        "NSSetExpression", type: operation.rawValue,
        ["NSLeftExpression": self.expression(left), "NSRightExpression": self.expression(right)])
    case .fetch(let request, let context, let isCountOnly):
      return part(
        "NSFetchRequestExpression", type: 50,
        [
          "NSFRExpression": self.expression(request), "NSMOCExpression": self.expression(context),
          "NSCountOnlyFlag": .boolean(isCountOnly),
        ])
    default: return self.expression(expression)
    }
  }

  private mutating func function(
    _ names: [String], operand: PropertyListValue, name: String, arguments: PropertyListValue
  ) -> PropertyListValue {
    object(
      names + ["NSFunctionExpression", "NSExpression", "NSObject"],
      [
        "NSExpressionType": .integer(4), "NSOperand": operand, "NSSelectorName": text(name), "NSArguments": arguments,
      ])
  }

  private mutating func constant(_ value: PropertyListValue) -> PropertyListValue {
    part("NSConstantValueExpression", type: 0, ["NSConstantValue": value])
  }

  private mutating func part(
    _ name: String, type: Int64, _ fields: [String: PropertyListValue]
  ) -> PropertyListValue {
    var fields = fields
    fields["NSExpressionType"] = .integer(type)
    return object([name, "NSExpression", "NSObject"], fields)
  }

  private mutating func constantValue(_ value: Value) -> PropertyListValue {
    switch value {
    case .null: return Self.null
    case .integer(let number): return scalar(.integer(number))
    case .real(let number): return scalar(.real(number))
    case .text(let text): return self.text(text)
    case .blob(let bytes): return scalar(.data(bytes))
    }
  }

  mutating func decimal(_ digits: String) -> PropertyListValue {
    guard let fields = ArchivedDecimal.fields(digits) else { return Self.null }
    return object(["NSDecimalNumber", "NSNumber", "NSValue", "NSObject"], fields)
  }

  mutating func date(_ seconds: Double) -> PropertyListValue {
    object(["NSDate", "NSObject"], ["NS.time": .real(seconds)])
  }

  mutating func predicate(_ predicate: Predicate) -> PropertyListValue {
    let parents = ["NSPredicate", "NSObject"]
    switch predicate {
    case .truth(let value): return object([value ? "NSTruePredicate" : "NSFalsePredicate"] + parents, [:])
    case .compound(let junction, let parts):
      let parts = array(parts.map { self.predicate($0) })
      return object(
        ["NSCompoundPredicate"] + parents,
        ["NSCompoundPredicateType": .integer(junction.rawValue), "NSSubpredicates": parts])
    case .compare(let left, let operation, let right):
      return object(
        ["NSComparisonPredicate"] + parents,
        [
          "NSLeftExpression": expression(left), "NSPredicateOperator": self.operation(operation),
          "NSRightExpression": expression(right),
        ])
    }
  }

  private mutating func operation(_ operation: Predicate.Operation) -> PropertyListValue {
    var fields: [String: PropertyListValue] = [
      "NSModifier": .integer(operation.modifier.rawValue), "NSOperatorType": .integer(operation.comparison.rawValue),
    ]
    var names = ["NSPredicateOperator", "NSObject"]
    switch operation.comparison {
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      names.insert("NSComparisonPredicateOperator", at: 0)
      fields["NSVariant"] = .integer(operation.comparison.rawValue)
      fields["NSOptions"] = .integer(operation.options)
    case .equal, .notEqual:
      names.insert("NSEqualityPredicateOperator", at: 0)
      fields["NSNegate"] = .boolean(operation.comparison == .notEqual)
      fields["NSOptions"] = .integer(operation.options)
    case .between: names.insert("NSBetweenPredicateOperator", at: 0)
    case .isIn, .contains: names.insert("NSInPredicateOperator", at: 0)
    case .matches: names.insert(contentsOf: ["NSMatchingPredicateOperator", "NSStringPredicateOperator"], at: 0)
    case .like:
      names.insert(
        contentsOf: ["NSLikePredicateOperator", "NSMatchingPredicateOperator", "NSStringPredicateOperator"], at: 0)
    case .beginsWith, .endsWith:
      names.insert(contentsOf: ["NSSubstringPredicateOperator", "NSStringPredicateOperator"], at: 0)
      fields["NSPosition"] = .integer(operation.comparison == .endsWith ? 1 : 0)
    }
    if fields["NSOptions"] == nil { fields["NSFlags"] = .integer(operation.options) }
    return object(names, fields)
  }
}
