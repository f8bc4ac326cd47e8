import Foundation
import Testing

@testable import Codecs
@testable import CoreDataModel

@Suite("Expressions and predicates of archives")
struct ArchivedExpressionTests {
  typealias Predicate = CoreDataModel.Predicate

  /// Each as it is written again.
  static let predicates = [
    "SELF >= 0", "length <= 5", "SELF MATCHES \"a\\\\.b\"", "name BEGINSWITH[cd] \"x\"", "a == nil AND b != \"q\"",
    "(a == 1 OR b == 2) AND c < 3.5", "NOT a == 1", "NOT (a == 1 AND b == 2)", "ANY books.title CONTAINS[c] \"t\"",
    "ALL a.b > $x", "a IN {1, 2, \"c\"}", "a BETWEEN {1, 2}", "TRUEPREDICATE", "FALSEPREDICATE OR a == 1",
    "SUBQUERY(books, $b, $b.price > 3) != nil", "when >= CAST(12.5, \"NSDate\")",
    "#first.#name == 1".replacing(".#", with: "."),
    "FUNCTION($manager, \"f:\", $source.name, 1) == now()", "名前.é ENDSWITH \"名\"", "a LIKE[n] \"x*\"", "a == -1",
    "a == 1e+20",
  ]

  static func archived(_ predicate: Predicate) throws -> Predicate {
    var builder = ArchiveBuilder()
    let root = builder.predicate(predicate)
    let object = try #require(try KeyedArchive(builder.bytes(root: root)).root)
    return try ExpressionArchiveReader.predicate(object)
  }

  @Test("A predicate's text, parts and archive say the same", arguments: predicates)
  func writtenAgain(text: String) throws {
    let predicate = try PredicateParser.predicate(text)
    #expect(predicate.description == text)
    #expect(try Self.archived(predicate) == predicate)
  }

  @Test("Other ways to write a predicate mean the same")
  func synonyms() throws {
    for (text, same) in [
      ("a = 1 && b <> 2 || !(c => 3)", "(a == 1 AND b != 2) OR (NOT c >= 3)"), ("SELF.a == null", "a == nil"),
      ("((a)) == YES and (b == no)", "a == 1 AND b == 0"), ("NONE a.b == 'x'", "NOT ANY a.b == \"x\""),
      ("some a =< 1", "ANY a <= 1"),
    ] {
      #expect(try PredicateParser.predicate(text).description == same)
    }
  }

  @Test(
    "Functions keep the form that version hashes are made of",
    arguments: ["now()", "count:(a.b)", "canonical:(name)", "a.b"])
  func functions(text: String) throws {
    let expression = try PredicateParser.expression(text)
    #expect(expression.description == text)
    var builder = ArchiveBuilder()
    let root = builder.expression(expression)
    let object = try #require(try KeyedArchive(builder.bytes(root: root)).root)
    #expect(try ExpressionArchiveReader.expression(object) == expression)
  }

  @Test("What is not understood is an error")
  func bad() {
    let open = String(repeating: "(", count: 5_000)
    for text in [
      "", "a", "a ==", "a == %@", "a + == 1", "a ==[z] 1", "(a == 1", "a == 1)", "NOT", "{1} IN", "$ == 1", "a == \"x",
      open,
      "SUBQUERY(a, b, c) == 1", "CAST(1, \"NSFoo\") == 1", "a == 1.2.3", "count:pets == 1",
    ] {
      #expect(throws: ExpressionDamage.self, "\(text.prefix(20))") { try PredicateParser.predicate(text) }
    }
  }

  @Test("Archived decimals keep all their digits")
  func decimals() throws {
    for text in [
      "0", "1", "-1", "0.1", "-0.00012", "65536", "123456789012345678901234567890.12345678", "100000000000000000000",
      "340282366920938463463374607431768211455",
    ] {
      var builder = ArchiveBuilder()
      let root = builder.decimal(text)
      let object = try #require(try KeyedArchive(builder.bytes(root: root)).root)
      #expect(ArchivedDecimal.text(object) == text)
      #expect(Decimal(string: text) == Decimal(string: ArchivedDecimal.text(object) ?? ""))
    }
    #expect(ArchivedDecimal.fields("340282366920938463463374607431768211456") == nil)
    for bad in ["", ".", "1e", "x", "1.2.3", "1e999", "--1"] { #expect(ArchivedDecimal.fields(bad) == nil) }
  }

  @Test("Expressions that hold themselves or multiply are refused")
  func bombs() throws {
    // Object 1 is NOT of itself; objects 1 to 40 are junctions of the next one, twenty times each.
    let ring: [String: PropertyListValue] = [
      "NSCompoundPredicateType": .integer(0), "NSSubpredicates": .array([.uid(1)]),
    ]
    let tree = (1...40).map { level -> PropertyListValue in
      .dictionary([
        "NSCompoundPredicateType": .integer(1), "NSSubpredicates": .array(Array(repeating: .uid(level + 1), count: 20)),
      ])
    }
    let leaf: [PropertyListValue] = [
      .dictionary(["$class": .uid(42)]), .dictionary(["$classname": .string("NSTruePredicate")]),
    ]
    for objects in [[.dictionary(ring)], tree + leaf] {
      let archive = try KeyedArchive(
        .dictionary(["$objects": .array([.string("$null")] + objects), "$top": .dictionary(["root": .uid(1)])]))
      let root = try #require(archive.root)
      let damage = #expect(throws: ExpressionDamage.self) { try ExpressionArchiveReader.predicate(root) }
      #expect(damage?.description.contains("holds itself or too many parts") == true)
    }
  }
}
