import BatchTesting
import CoreData
import Migrations
import RunSupport
import Testing

private enum Deleting: PolicyDefinition {
  static let className = "DeletingPolicy"
  static func make() -> NSEntityMigrationPolicy { DeletingPolicy() }
}

private enum Misdeleting: PolicyDefinition {
  static let className = "MisdeletingPolicy"
  static func make() -> NSEntityMigrationPolicy { MisdeletingPolicy() }
}

private enum Expressing: PolicyDefinition {
  static let className = "ExpressingPolicy"
  static func make() -> NSEntityMigrationPolicy { ExpressingPolicy() }
}

private enum Picturing: PolicyDefinition {
  static let className = "PicturingPolicy"
  static func make() -> NSEntityMigrationPolicy { PicturingPolicy() }
}

private enum Ordering: PolicyDefinition {
  static let className = "OrderingPolicy"
  static let lookups = [PolicyLookup(entity: "Maker", attribute: "name")]
  static func make() -> NSEntityMigrationPolicy { OrderingPolicy() }
}

private enum Talking: PolicyDefinition {
  static let className = "TalkingPolicy"
  static var functions: [String: PolicyFunction] {
    [
      "note:manager:mapping:": { try ($0 as! TalkingPolicy).note($1(0), $1(1), $1(2)) },
      "price:to:": { try ($0 as! TalkingPolicy).price($1(0), $1(1)) },
    ]
  }
  static func make() -> NSEntityMigrationPolicy { TalkingPolicy() }
}

@Suite("Policies of Core Data that delete, order and set expressions")
struct ChangingPolicyTests {
  private func failure(_ policy: String, kind: String, _ type: any EntityMigrationPolicy.Type, ordered: Bool = false)
    async throws -> BatchError?
  {
    let folder = try CarFolder(ordersCars: ordered)
    return await #expect(throws: BatchError.self) {
      _ = try await folder.migrate("    policy: \(policy)\n    userInfo: { kind: \(kind) }", [type])
    }
  }

  @Test("What a call deletes before it is linked was never made: no object, no key, no gap")
  func deleted() async throws {
    let folder = try CarFolder()
    let result = try await folder.migrate("    policy: DeletingPolicy", [CoreDataPolicy<Deleting>.self])
    let plain = try await folder.migrate("    attributes: [number, price, isUsed, sold, code]", [])
    let new = try plain.objects("Car").filter { $0["isUsed"] == .boolean(false) }
    #expect(try result.objects("Car").map(\.key) == new.map(\.key) && !new.isEmpty)
    let makers = try result.objects("Maker")
    #expect(makers.count > 3 && makers.map(\.key) == (1...Int64(makers.count)).map { $0 })
    #expect(makers.allSatisfy { $0["name"].text != nil })
  }

  @Test("Bytes that may lie in a file are read as they were set")
  func pictures() async throws {
    let folder = try CarFolder(rows: 6)
    let result = try await folder.migrate("    policy: PicturingPolicy", [CoreDataPolicy<Picturing>.self])
    let photos = try result.objects("Car").map { $0["photo"] }
    #expect(!photos.isEmpty && photos.allSatisfy { $0 == .text("AQc=") }, "\(photos)")
  }

  @Test(
    "What cannot be taken back is an error that says what to write instead",
    arguments: [
      ("source", "the source of a migration stays as it is", "return before super"),
      ("linked", "linked with others", "Delete it before it is linked"),
      ("earlier", "objects were made after it", "made last first"),
      ("written", "written already", "return before super"),
    ])
  func undeletable(kind: String, message: String, hint: String) async throws {
    let error = try await failure("MisdeletingPolicy", kind: kind, CoreDataPolicy<Misdeleting>.self)
    #expect(error?.message.contains(message) == true && error?.hint?.contains(hint) == true, "\(error as Any)")
    #expect(error?.entity != nil && error?.key != nil)
  }

  @Test("A constant that a policy gives to a property mapping counts for the object of the call")
  func expressions() async throws {
    let folder = try CarFolder()
    let result = try await folder.migrate(
      """
          policy: ExpressingPolicy
          attributes: { number: $same, note: { value: plain }, sold: $same, isUsed: $same }
      """, [CoreDataPolicy<Expressing>.self])
    let cars = try result.objects("Car")
    let isUsed = cars.map { $0["isUsed"] == .boolean(true) }
    #expect(cars.map { $0["note"].text } == isUsed.map { $0 ? "used, by $source.number" : "plain" })
    #expect(Set(isUsed).count == 2 && zip(cars, isUsed).allSatisfy { !$1 || $0["sold"] == .null })
    #expect(cars.contains { $0["sold"] != .null })
  }

  @Test(
    "Another expression, or one that an interruption would lose, is an error that says what to write instead",
    arguments: [
      ("format", "a constant alone", "forKey: \"note\""), ("relationship", "cannot be set", "forKey: \"owner\""),
      ("begin", "would be lost with an interruption", "before super"),
    ])
  func inexpressible(kind: String, message: String, hint: String) async throws {
    let folder = try CarFolder()
    let error = await #expect(throws: BatchError.self) {
      _ = try await folder.migrate(
        """
            policy: ExpressingPolicy
            userInfo: { kind: \(kind) }
            attributes: { number: $same, note: { value: plain } }
            relationships: [owner]
        """, [CoreDataPolicy<Expressing>.self])
    }
    #expect(error?.message.contains(message) == true && error?.hint?.contains(hint) == true, "\(error as Any)")
  }

  @Test("mutableOrderedSetValue adds at the end, each object once, and takes nothing out")
  func ordered() async throws {
    let folder = try CarFolder(ordersCars: true)
    let result = try await folder.migrate("    policy: OrderingPolicy", [CoreDataPolicy<Ordering>.self])
    let makers = try result.objects("Maker")
    #expect(makers.count > 3 && makers.contains { $0["cars"].keys.count > 3 })
    for maker in makers { #expect(maker["cars"].keys == maker["cars"].keys.sorted()) }
    let taken = try await failure("OrderingPolicy", kind: "taken", CoreDataPolicy<Ordering>.self, ordered: true)
    #expect(taken?.message.contains("cannot be taken out of cars again") == true)
    let unordered = try await failure("OrderingPolicy", kind: "none", CoreDataPolicy<Ordering>.self)
    #expect(unordered?.message.contains("no ordered to-many") == true)
    #expect(unordered?.hint?.contains("mutableSetValue(forKey: \"cars\")") == true)
  }

  @Test("Mapping models give the manager, its contexts and the mapping to methods")
  func words() async throws {
    let folder = try CarFolder()
    let result = try await folder.migrate(
      """
          policy: TalkingPolicy
          attributes:
            number: $same
            note: 'FUNCTION($entityPolicy, "note:manager:mapping:", $source, $manager, $entityMapping)'
            price: 'FUNCTION($entityPolicy, "price:to:", $manager.sourceContext, $manager.destinationContext)'
      """, [CoreDataPolicy<Talking>.self])
    let cars = try result.objects("Car")
    for car in cars { #expect(car["note"].text == "\(car["number"].integer ?? 0) of CarToCar by CarToCar") }
    #expect(cars.allSatisfy { $0["price"].number == Double(cars.count) } && cars.count > 50)
  }
}
