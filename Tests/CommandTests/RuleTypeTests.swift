import Foundation
import Testing

@Suite("Rules whose types do not fit")
struct RuleTypeTests {
  private let shop: ShopFolder
  private let store: String

  init() throws {
    shop = try ShopFolder()
    store = try shop.store()
  }

  @Test(
    "What a rule cannot read, or an attribute cannot hold, is refused by check, plan and migrate with what to write",
    arguments: [
      (
        "day: { text: $source.millis, format: yyyy-MM-dd }",
        "gives $source.millis, a number, to text with format, which takes a date: the number does not say from when it counts",
        "{ text: { date: $source.millis, epoch: unix, unit: ms }, format: \"yyyy-MM-dd\" }"
      ),
      (
        "count: { number: $source.millis, epoch: unix, unit: s }", "the number does not say from when it counts",
        "{ number: { date: $source.millis, epoch: unix, unit: ms }, epoch: unix, unit: s }"
      ),
      ("id: { cast: $source.millis, to: uuid }", "to cast to uuid, which takes a text", "{ uuid: repeatable }"),
      ("day: { text: $source.millis }", "text needs format", "{ cast: $source.NAME, to: text }"),
      (
        "day: { number: $source.when, epoch: unix, unit: s }", "gives a number, and its type is string",
        "{ cast: …, to: text }"
      ),
      (
        "day: { distance: [1.0, 1.0, 2.0, 2.0] }", "gives a number, and its type is string", "{ cast: …, to: text }"
      ),
      (
        "moment: { date: $source.title, epoch: unix, unit: s }", "gives $source.title, a text, to date with epoch",
        "{ date: { cast: $source.title, to: integer }, epoch: unix, unit: s }"
      ),
      (
        "moment: { date: $source.millis, format: yyyy-MM-dd }", "gives $source.millis, a number, to date with format",
        "{ date: { cast: $source.millis, to: text }, format: \"yyyy-MM-dd\" }"
      ),
      (
        "count: { sum: [$source.millis, $source.picture] }", "gives $source.picture, bytes, to sum",
        "Give it another value"
      ),
      (
        "day: { join: [$source.title, $source.picture] }", "gives $source.picture, bytes, to join",
        "Give it another value"
      ),
      ("id: { prefix: $source.title, length: 3 }", "gives a text, and its type is uuid", "{ cast: …, to: uuid }"),
      (
        "count: { prefix: $source.title, length: 3 }", "gives a text, and its type is integer64",
        "{ cast: …, to: integer }"
      ),
      (
        "moment: { prefix: $source.title, length: 3 }", "gives a text, and its type is date",
        "{ date: …, format: yyyy-MM-dd }"
      ),
      (
        "data: { prefix: $source.title, length: 3 }", "gives a text, and its type is binaryData",
        "no form makes bytes of it"
      ),
      ("day: { uuid: random }", "has uuid: random, and its type is string", "{ cast: { uuid: … }, to: text }"),
    ])
  func refused(attribute: String, message: String, advice: String) throws {
    for outcome in try shop.outcomes(shop.mapping("    attributes:\n      \(attribute)"), of: store) {
      #expect(outcome.code == 20, "\(outcome)")
      #expect(outcome.error.contains(message) && outcome.error.contains(advice), "\(outcome.error)")
    }
  }

  @Test(
    "What the messages advise is taken",
    arguments: [
      "day: { text: { date: $source.millis, epoch: unix, unit: ms }, format: \"yyyy-MM-dd\" }",
      "count: { number: { date: $source.millis, epoch: unix, unit: ms }, epoch: unix, unit: s }",
      "day: { cast: $source.millis, to: text }", "id: { uuid: repeatable }",
      "day: { cast: { number: $source.when, epoch: unix, unit: s }, to: text }",
      "moment: { date: { cast: $source.title, to: integer }, epoch: unix, unit: s }",
      "moment: { date: { cast: $source.millis, to: text }, format: \"yyyy-MM-dd\" }",
      "day: { cast: { uuid: random }, to: text }", "day: { over: $source.tags, first: $item }",
      "day: { join: [$source.title, $source.millis, $source.when] }",
    ])
  func taken(attribute: String) throws {
    let words = ["mapping", "check", try shop.mapping("    attributes:\n      \(attribute)"), "--models", shop.models]
    let checked = try shop.folder.run("godwit", words)
    #expect(checked.code == 0, "\(checked)")
  }

  @Test(
    "Words that mean nothing get what is meant",
    arguments: [
      ("id: { value: 6F9619FF-8B86-D011-B42D-00C04FC964FF }", "Write { uuid: 6F9619FF-8B86-D011-B42D-00C04FC964FF }"),
      ("day: $sorce.title", "has $sorce, which is nothing here. Write $source"),
      ("day: $itm.title", "If $item is meant, it needs forEach in the rule, or over in the value"),
      ("id: 'FUNCTION(\"UUID\", \"UUID\")'", "makes a UUID by code. In a mapping file write { uuid: repeatable }"),
      (
        "data: $source.tags",
        "No rule makes binaryData of transformable: set data in a policy, or leave it out with data: null"
      ),
      (
        "moment: { date: \"2024-13-01T00:00:00Z\" }",
        "line 8: there is no date 2024-13-01T00:00:00Z. Write it as 2024-05-01"
      ),
      ("day: { lookup: $source.title, in: t }", "there is no table t. Name it at the top of the file: tables: { t: "),
    ])
  func words(attribute: String, wanted: String) throws {
    for outcome in try shop.outcomes(shop.mapping("    attributes:\n      \(attribute)"), of: store) {
      #expect(outcome.code == 20 && outcome.error.contains(wanted), "\(outcome.error)")
    }
  }
}
