import Foundation
import Testing

@Suite("To-one relationships that two rules set")
struct ToOneRuleTests {
  private let shop: ShopFolder
  private let store: String

  init() throws {
    shop = try ShopFolder()
    store = try shop.store()
  }

  private func refused(_ item: String, _ wanted: String) throws {
    for outcome in try shop.outcomes(shop.mapping(item), of: store) {
      #expect(outcome.code == 20 && outcome.error.contains(wanted), "\(item): \(outcome)")
    }
  }

  @Test(
    "A link to a to-one that is carried besides is refused with both rules and what to write",
    arguments: [
      "    objects: [{ create: Shop, link: shop }]",
      "    objects: [{ create: Shop, relationships: { items: $destination } }]",
      "    relationships: { shop: $source.shop }\n    objects: [{ findOrCreate: Shop, by: { name: $source.title }, link: shop }]",
      "    objects: [{ create: Shop, when: title != nil, link: shop }]",
    ])
  func carried(item: String) throws {
    try refused(item, "ItemToItem: shop of Item is set ")
    try refused(
      item, ", which would replace those links: to replace them, write shop: null under relationships of ItemToItem")
    try refused(item, "and items: null under those of ShopToShop")
  }

  @Test("What the message says to write counts the links as replaced, or fills empty ones alone")
  func advice() throws {
    let nulls = "  - from: Shop\n    relationships: { items: null }"
    let replacing = try shop.mapping(
      "    relationships: { shop: null }\n    objects: [{ create: Shop, link: shop }]", shop: nulls)
    let done = try shop.outcomes(replacing, of: store)
    #expect(done.allSatisfy { $0.code == 0 } && done[2].output.contains(/links \(\d+ replaced\)/), "\(done)")
    let filling = try shop.mapping("    objects: [{ create: Shop, when: shop == nil, link: shop }]")
    let filled = try shop.outcomes(filling, of: store)
    #expect(filled.allSatisfy { $0.code == 0 } && filled[2].output.contains(/links \(\d+ carried\)/), "\(filled)")
  }

  @Test("Two rules that link one to-one are refused, unless each has a condition")
  func pairs() throws {
    let nulls = "  - from: Shop\n    relationships: { items: null }"
    func item(_ first: String, _ second: String) -> String {
      "    relationships: { shop: null }\n    objects:\n      - { create: Shop, link: shop\(first) }\n"
        + "      - { findOrCreate: Shop, by: { name: $source.title }, link: shop\(second) }"
    }
    let both = try shop.outcomes(shop.mapping(item("", ""), shop: nulls), of: store)
    let said = "shop of Item is set by create Shop with link: shop, and by findOrCreate Shop with link: shop"
    #expect(both.allSatisfy { $0.code == 20 && $0.error.contains(said) }, "\(both)")
    let either = item(", when: title == nil", ", when: title != nil")
    #expect(try shop.outcomes(shop.mapping(either, shop: nulls), of: store).allSatisfy { $0.code == 0 })
  }

  @Test("A rule with forEach links no to-one one object after the other")
  func several() throws {
    let nulls = "  - from: Shop\n    relationships: { items: null }"
    let item =
      "    relationships: { shop: null }\n    objects: [{ forEach: $source.tags, findOrCreate: Shop, "
      + "by: { name: $item }, link: shop }]"
    let found = try shop.outcomes(shop.mapping(item, shop: nulls), of: store)
    let said =
      "shop of Item is a to-one, which takes one object, and findOrCreate Shop with link: shop would set it for "
      + "each of $source.tags: leave forEach out and take one value, as { over: $source.tags, first: $item }"
    #expect(found.allSatisfy { $0.code == 20 && $0.error.contains(said) }, "\(found)")
  }
}
