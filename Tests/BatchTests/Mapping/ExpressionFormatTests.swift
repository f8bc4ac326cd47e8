import Streams
import Testing

@testable import Codecs
@testable import CoreDataModel
@testable import MappingModels
@testable import RunSupport

@Suite("Expressions and predicates in NSPredicate's format")
struct ExpressionFormatTests {
  typealias Expression = CoreDataModel.Expression
  typealias Predicate = CoreDataModel.Predicate

  @Test("What is written parses to the same value", arguments: 0..<8 as Range<UInt64>)
  func roundTrip(seed: UInt64) throws {
    var random = RandomExpression(seed: seed)
    for _ in 0..<250 {
      let expression = random.expression()
      #expect(try Expression(format: expression.description) == expression, "seed \(seed)")
      let predicate = random.predicate()
      #expect(try Predicate(format: predicate.description) == predicate, "seed \(seed)")
    }
  }

  @Test("Archives hold what text says", arguments: 0..<4 as Range<UInt64>)
  func archives(seed: UInt64) throws {
    var random = RandomExpression(seed: 100 + seed)
    for _ in 0..<50 {
      let expression = random.expression(depth: 3)
      var builder = ArchiveBuilder()
      let root = builder.expression(expression)
      #expect(try Expression(archive: builder.bytes(root: root)) == expression, "seed \(100 + seed)")
    }
  }

  @Test("Operators bind as in arithmetic, and to the left")
  func precedence() throws {
    for (text, same) in [
      ("1+2*3", "1 + (2 * 3)"), ("(1 + 2) * 3", "(1 + 2) * 3"), ("a - b - c", "(a - b) - c"),
      ("a - (b - c)", "a - (b - c)"),
      ("2 * a ** 2", "2 * (a ** 2)"), ("-3", "-3"), ("a-1", "a - 1"), ("-a", "0 - a"), ("add:to:(a, 1)", "a + 1"),
      ("uppercase(name)", "uppercase:(name)"), ("castObject:toType:(a, 'NSNumber')", "CAST(a, \"NSNumber\")"),
    ] {
      #expect(try Expression(format: text) == Expression(format: same), "\(text)")
    }
    #expect(try Expression(format: "(1 + 2) * 3").description == "(1 + 2) * 3")
    #expect(try Expression(format: "a - (b - c) - d").description == "a - (b - c) - d")
  }

  @Test("Literals, escapes, collection operators and all words are understood")
  func literals() throws {
    #expect(try Expression(format: #"'it\'s\n\t\\'"#) == .constant(.text("it's\n\t\\")))
    #expect(try Expression(format: "-9223372036854775808") == .constant(.integer(.min)))
    #expect(
      try Expression(format: "$destination.models.@max.index")
        == .keyPath(operand: .variable("destination"), path: ["models", "@max", "index"]))
    #expect(
      try Expression(format: "ternary(a == nil OR NOT b, 1, 2)".replacing("NOT b", with: "NOT b == true"))
        == .conditional(
          .compound(
            .or,
            [
              .compare(.keyPath(operand: .evaluatedObject, path: ["a"]), .init(comparison: .equal), .constant(.null)),
              .compound(
                .not,
                [
                  .compare(
                    .keyPath(operand: .evaluatedObject, path: ["b"]), .init(comparison: .equal), .constant(.integer(1)))
                ]),
            ]), .constant(.integer(1)), .constant(.integer(2))))
    #expect(
      try Expression(format: "FETCH($a, $b, NO)")
        == .fetch(request: .variable("a"), context: .variable("b"), isCountOnly: false))
  }

  @Test("What is not supported is refused by name")
  func refusals() throws {
    for (text, name) in [
      ("random()", "random"), ("foo(1)", "foo"), ("%@", "%@"), ("%K + 1", "%K"), ("CAST(a, 'Foo')", "Foo"),
      ("uppercase:(a, b)", "uppercase:"), ("stddev:(a)", "stddev:"),
    ] {
      let error = #expect(throws: BatchError.self, "\(text)") { try Expression(format: text) }
      #expect(error?.code == .badMapping && error?.message.contains(name) == true, "\(text)")
    }
    #expect(throws: BatchError.self) { try Predicate(format: "a == random()") }
  }

  @Test("Hostile text is refused in bounded time")
  func hostile() {
    for text in [
      String(repeating: "(", count: 20_000),
      String(repeating: "(", count: 60) + "1" + String(repeating: ")", count: 60) + "!",
      String(repeating: "1+", count: 10_000) + "1", String(repeating: "-", count: 10_000) + "1",
      "{" + String(repeating: "1,", count: 20_000), String(repeating: "NOT ", count: 5_000) + "a == 1",
      String(repeating: "x", count: 2_000_000), String(repeating: "TERNARY(", count: 10_000), "", "$", "$a..b", ".a",
      "a.", "a:b",
    ] {
      #expect(throws: BatchError.self, "\(text.prefix(12))") { try Expression(format: text) }
      #expect(throws: BatchError.self, "\(text.prefix(12))") { try Predicate(format: text) }
    }
  }
}
