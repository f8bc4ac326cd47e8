import Streams

@testable import CoreDataModel

/// Makes random expressions and predicates that text in predicate format can say.
struct RandomExpression {
  var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed) }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &random)]
  }

  mutating func expression(depth: Int = 4) -> Expression {
    guard depth > 0 else { return leaf() }
    switch Int.random(in: 0..<12, using: &random) {
    case 0...2: return leaf()
    case 3...5:
      let name = pick(["add:to:", "from:subtract:", "multiply:by:", "divide:by:", "raise:toPower:", "modulus:by:"])
      return .function(
        operand: nil, name: name, arguments: [expression(depth: depth - 1), expression(depth: depth - 1)])
    case 6:
      return .function(
        operand: nil, name: pick(["uppercase:", "sum:", "sqrt:"]), arguments: [expression(depth: depth - 1)])
    case 7:
      return .function(
        operand: .variable("entityPolicy"), name: "f:with:", arguments: [expression(depth: depth - 1), leaf()])
    case 8: return .aggregate((0..<Int.random(in: 0..<4, using: &random)).map { _ in expression(depth: depth - 1) })
    case 9: return .conditional(predicate(depth: depth - 1), expression(depth: depth - 1), leaf())
    case 10: return rare(depth: depth - 1)
    default: return .path(expression(depth: depth - 1), pick([["@count"], ["a", "@max", "b"], ["name"]]))
    }
  }

  private mutating func rare(depth: Int) -> Expression {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: .set(pick(Expression.SetOperation.allCases), expression(depth: depth), expression(depth: depth))
    case 1:
      .fetch(request: expression(depth: depth), context: .variable("manager"), isCountOnly: Bool.random(using: &random))
    case 2: .subquery(collection: expression(depth: depth), variable: "x", predicate: predicate(depth: depth))
    default:
      .function(
        operand: nil, name: "castObject:toType:", arguments: [.variable("source"), .constant(.text("NSString"))])
    }
  }

  private mutating func leaf() -> Expression {
    switch Int.random(in: 0..<9, using: &random) {
    case 0: .constant(.integer(pick([0, 1, -1, .max, .min, Int64.random(in: -9999...9999, using: &random)])))
    case 1: .constant(.real(pick([0.5, -2.25, 1e30, 1e-7, -0.125])))
    case 2: .constant(.text(pick(["", "a\"b", "c\\d", "it's", "line\nbreak\t", "名前", "%@ $x NOT (", "\u{0}é"])))
    case 3: .constant(.null)
    case 4: .variable(pick(["source", "destination", "manager"]))
    case 5:
      .keyPath(operand: .variable("source"), path: pick([["a"], ["a", "b"], ["items", "@sum", "price"], ["@count"]]))
    case 6:
      .keyPath(operand: .evaluatedObject, path: pick([["name"], ["not"], ["any", "all"], ["union"], ["名", "前"]]))
    case 7: .date(pick([0, 12.5, 700_000_000]))
    default: .evaluatedObject
    }
  }

  mutating func predicate(depth: Int = 4) -> Predicate {
    guard depth > 0, Int.random(in: 0..<3, using: &random) > 0 else { return comparison(depth: depth) }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return .compound(.not, [predicate(depth: depth - 1)])
    case 1: return .truth(Bool.random(using: &random))
    default:
      let parts = (0..<Int.random(in: 2..<4, using: &random)).map { _ in predicate(depth: depth - 1) }
      return .compound(pick([.and, .or]), parts)
    }
  }

  private mutating func comparison(depth: Int) -> Predicate {
    let operation = Predicate.Operation(
      comparison: pick(Predicate.Comparison.allCases), modifier: pick(Predicate.Modifier.allCases),
      options: pick([0, 0, 1, 2, 3]))
    return .compare(expression(depth: depth - 1), operation, expression(depth: depth - 1))
  }
}
