import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import Migrations

@Suite("Functions and comparisons of expressions")
struct ExpressionFunctionTests {
  private func holds(
    _ comparison: CoreDataModel.Predicate.Comparison, _ left: Value, _ right: Value, _ options: Int64 = 0
  ) throws
    -> Bool
  {
    try Comparing.holds(comparison, left: .value(left), right: .value(right), options: options)
  }

  @Test("NULL equals NULL alone, and is neither less nor more than anything")
  func null() throws {
    #expect(
      try holds(.equal, .null, .null) && holds(.notEqual, .null, .integer(1)) && holds(.notEqual, .text(""), .null))
    for comparison in [
      CoreDataModel.Predicate.Comparison.less, .lessOrEqual, .greater, .greaterOrEqual, .like, .contains, .beginsWith,
    ] {
      #expect(try !holds(comparison, .null, .text("a")) && !holds(comparison, .text("a"), .null))
    }
    #expect(try Arithmetic.apply("add:to:", to: .null, .integer(1)) == .null)
    #expect(try TextFunction.apply("uppercase:", .null) == .null && TextFunction.cast(.null, to: "NSNumber") == .null)
  }

  @Test("Numbers compare by value, texts letter by letter, and without case or accents where that is asked for")
  func comparisons() throws {
    #expect(try holds(.equal, .integer(2), .real(2)) && holds(.less, .integer(2), .real(2.5)))
    #expect(try !holds(.equal, .text("A"), .text("a")) && holds(.equal, .text("É"), .text("e"), 3))
    #expect(try holds(.contains, .text("Überfahrt"), .text("uber"), 3) && !holds(.contains, .text("abc"), .text("")))
    #expect(try holds(.beginsWith, .text("abc"), .text("ab")) && holds(.endsWith, .text("abc"), .text("bc")))
    #expect(try holds(.isIn, .text("b"), .text("abc")) && holds(.matches, .text("a1"), .text("[a-z][0-9]")))
    #expect(try !holds(.matches, .text("a12"), .text("[a-z][0-9]")))
    #expect(throws: ExpressionDamage.self) { try holds(.less, .text("1"), .integer(2)) }
    #expect(throws: ExpressionDamage.self) { try holds(.matches, .text("1"), .text("(")) }
  }

  @Test("LIKE knows its signs and takes no long time over them")
  func like() throws {
    for (text, pattern, isLike) in [
      ("abc", "a*", true), ("abc", "a?c", true), ("abc", "*c*", true), ("abc", "b*", false), ("", "*", true),
      ("", "?", false),
      ("a*c", "a\\*c", true), ("abc", "a\\*c", false), ("abc", "*", true), ("aXbXc", "a*X?", true),
    ] {
      #expect(try holds(.like, .text(text), .text(pattern)) == isLike, "\(text) \(pattern)")
    }
    let (long, stars) = (String(repeating: "a", count: 2_000), String(repeating: "a*", count: 30) + "b")
    #expect(try !holds(.like, .text(long), .text(stars)))
  }

  @Test("Integers stay integers, and what does not fit is an error")
  func arithmetic() throws {
    #expect(try Arithmetic.apply("divide:by:", to: .integer(7), .integer(2)) == .integer(3))
    #expect(try Arithmetic.apply("divide:by:", to: .real(7), .integer(2)) == .real(3.5))
    #expect(try Arithmetic.apply("raise:toPower:", to: .integer(2), .integer(10)) == .real(1024))
    for (name, left, right) in [
      ("add:to:", Value.integer(.max), Value.integer(1)), ("divide:by:", .integer(1), .integer(0)),
      ("modulus:by:", .integer(1), .integer(0)), ("multiply:by:", .text("a"), .integer(1)),
      ("divide:by:", .real(1), .real(0)),
      ("divide:by:", .integer(.min), .integer(-1)),
    ] {
      #expect(throws: ExpressionDamage.self, "\(name)") { try Arithmetic.apply(name, to: left, right) }
    }
    #expect(throws: ExpressionDamage.self) { try Arithmetic.apply("abs:", .integer(.min)) }
    #expect(throws: ExpressionDamage.self) { try Arithmetic.apply("sqrt:", .integer(-1)) }
  }

  @Test("Aggregates take NULL as collection operators do")
  func aggregates() throws {
    let values: [Value] = [.integer(3), .null, .integer(1), .real(2)]
    #expect(try Aggregate.value("sum", values) == .real(6) && Aggregate.value("avg", values) == .real(1.5))
    #expect(try Aggregate.value("min", values) == .integer(1) && Aggregate.value("max", values) == .integer(3))
    #expect(try Aggregate.value("sum", []) == .integer(0) && Aggregate.value("max", []) == .null)
  }

  @Test("Casts give the value or an error, and an attribute takes no value of another kind")
  func casts() throws {
    #expect(try TextFunction.cast(.text(" 12 "), to: "NSNumber") == .integer(12))
    #expect(try TextFunction.cast(.real(2), to: "NSString") == .text("2"))
    for (value, type) in [(Value.text("x"), "NSNumber"), (.blob([1]), "NSString"), (.text("2020-01-01"), "NSDate")] {
      #expect(throws: ExpressionDamage.self) { try TextFunction.cast(value, to: type) }
    }
    #expect(
      AttributeType.integer16.fitting(.real(2.9)) == .integer(2)
        && AttributeType.integer16.fitting(.integer(70_000)) == nil)
    #expect(
      AttributeType.string.fitting(.integer(1)) == nil && AttributeType.boolean.fitting(.integer(5)) == .integer(1))
    #expect(AttributeType.date.fitting(.integer(5)) == .real(5) && AttributeType.uuid.fitting(.text("x")) == nil)
  }
}
