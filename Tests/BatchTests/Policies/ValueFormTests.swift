import Foundation
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations

@Suite("What values of rules become, byte by byte and at their limits")
struct ValueFormTests {
  private static func store(
    _ old: [(String, AttributeType)], _ new: [(String, AttributeType)], _ columns: String, _ values: String
  ) throws -> RuleStore {
    try RuleStore(
      [StoreModels.entity("Note", old)], [StoreModels.entity("Note", new)],
      [("Note", "Z_PK, \(columns)", "1, \(values)")])
  }

  @Test(
    "A text is split where its bytes have the separator, as predicates find it: at a line feed behind a carriage return"
  )
  func split() throws {
    let store = try Self.store(
      [("text", .string)], [("title", .string), ("body", .string), ("last", .string)], "ZTEXT",
      "'Title' || char(13, 10) || 'Body' || char(10) || 'End'")
    let parts = [("title", 1), ("body", 2), ("last", -1)].map { name, part in
      "      \(name): { split: $source.text, at: \"\\n\", part: \(part) }\n"
    }
    let result = try store.migrated("  - from: Note\n    attributes:\n\(parts.joined())")
    #expect(
      try MigrationFolder.rows(result, "SELECT hex(ZTITLE), ZBODY, ZLAST FROM ZNOTE") == [
        #"string("5469746C650D")|string("Body")|string("End")"#
      ])
  }

  @Test("Days from the year 1 to the year 9999 have a text, and those before and after none")
  func days() throws {
    let pattern = try #require(DatePattern("yyyy-MM-dd"))
    for (seconds, text) in [
      (-63_113_904_000.0, "0001-01-01"), (252_423_907_200, "9999-12-31"), (252_423_993_599, "9999-12-31"),
      (0, "2001-01-01"),
    ] {
      #expect(pattern.string(seconds) == text && pattern.seconds(text).map { $0 <= seconds } == true)
    }
    #expect(pattern.string(-63_113_904_001) == nil && pattern.string(252_423_993_600) == nil)
    #expect(pattern.string(.infinity) == nil && pattern.string(.nan) == nil && pattern.string(-1e300) == nil)
  }

  @Test("A Double that a Float cannot hold ends the migration, as an integer does that is out of range")
  func tooLarge() throws {
    for value in ["1e300", "-1e39"] {
      let store = try Self.store([("d", .double)], [("d", .float)], "ZD", value)
      let before = try MigrationFolder.bytes(store.store)
      #expect(throws: (any Error).self) { try store.inferred() }
      #expect(try MigrationFolder.bytes(store.store) == before)
    }
    let fitting = try Self.store([("d", .double)], [("d", .float)], "ZD", "3e38")
    #expect(try MigrationFolder.rows(fitting.inferred(), "SELECT ZD > 2e38 FROM ZNOTE") == ["int64(1)"])
  }

  private static let types: [(type: AttributeType, value: String)] = [
    (.integer16, "7"), (.integer64, "700000"), (.double, "2.5"), (.boolean, "1"), (.date, "864.5"), (.string, "'7'"),
    (.uuid, "x'6F9619FF8B86D011B42D00C04FC964FF'"), (.uri, "'https://a.b/c'"),
    (.binaryData, "x'6F9619FF8B86D011B42D00C04FC964FF'"),
  ]

  @Test("The form that is advised for a type that changes is one that a migration takes, or none is")
  func advised() throws {
    for (old, value) in Self.types {
      for (new, _) in Self.types where old != new {
        // What a text has to be for these, the value is not.
        if old == .string, [.uuid, .uri, .date, .boolean].contains(new) { continue }
        if old == .uri, new != .string { continue }
        let store = try Self.store([("x", old)], [("x", new)], "ZX", value)
        let failure = try store.failure("  - from: Note\n    attributes: { x: $source.x }")
        guard failure != "nothing", let advice = failure.firstMatch(of: /In a mapping file: x: (\{.*\})/)?.1 else {
          continue
        }
        let pasted = try store.failure("  - from: Note\n    attributes: { x: \(advice) }")
        #expect(pasted == "nothing", "\(old) to \(new): \(failure) then \(pasted)")
      }
    }
  }

  @Test("FUNCTION with valueForKeyPath: is the key path itself, and a name without $source is told apart")
  func keyPaths() throws {
    let store = try Self.store(
      [("i", .integer64)], [("a", .integer64), ("b", .integer64)], "ZI", "5")
    func note(_ a: String, _ b: String) -> String {
      "  - from: Note\n    attributes:\n      a: '\(a)'\n      b: '\(b)'\n"
    }
    let result = try store.migrated(
      note("FUNCTION($source, \"valueForKeyPath:\", \"i\")", "FUNCTION($source, \"valueForKey:\", \"i\") + 1"))
    #expect(try MigrationFolder.rows(result, "SELECT ZA, ZB FROM ZNOTE") == ["int64(5)|int64(6)"])
    let failure = try store.failure(note("TERNARY(i > 1, 1, 2)", "1"))
    #expect(failure.contains("Write $source.NAME for a property"), "\(failure)")
  }
}
