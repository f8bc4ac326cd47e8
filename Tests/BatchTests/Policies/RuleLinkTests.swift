import Testing

@testable import CoreDataModel
@testable import MigrationJobs

@Suite("Links of rules with forEach")
struct RuleLinkTests {
  private let rules: RuleStore

  init() throws {
    let lines = StoreModels.link("lines", "Line", "order", many: true)
    let line = StoreModels.entity("Line", [("sku", .string)], [StoreModels.link("order", "Order", "lines")])
    rules = try RuleStore(
      [StoreModels.entity("Order", [("name", .string)], [lines]), line],
      [
        StoreModels.entity("Order", [("name", .string)], [lines, StoreModels.link("best", "Part", nil)]), line,
        StoreModels.entity("Part", [("sku", .string)]),
      ],
      [
        ("Order", "Z_PK, ZNAME", "1, 'a'"), ("Line", "Z_PK, ZSKU, ZORDER", "1, 'x', 1"),
        ("Line", "Z_PK, ZSKU, ZORDER", "2, 'y', 1"),
      ])
  }

  private func file(_ condition: String) -> String {
    """
      - Line
      - to: Part
      - from: Order
        objects:
          - { forEach: $source.lines, when: "\(condition)", create: Part, attributes: { sku: $item.sku }, link: best }
    """
  }

  @Test("A condition that holds for one item links a to-one; one that holds for several is an error of the row")
  func several() throws {
    let path = try rules.migrated(file("$item.sku == 'x'"))
    #expect(try MigrationFolder.rows(path, "SELECT ZSKU FROM ZPART") == ["string(\"x\")"])
    #expect(try MigrationFolder.rows(path, "SELECT ZBEST FROM ZORDER") == ["int64(1)"])
    let found = try rules.failure(file("$item.sku != nil"))
    #expect(found.contains("Order 1: best takes one object, and a rule with forEach links several"), "\(found)")
  }
}
