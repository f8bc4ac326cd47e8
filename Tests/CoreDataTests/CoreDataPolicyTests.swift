import BatchTesting
import CoreData
import MappingModels
import Migrations
import RunSupport
import Testing

private enum Registered: PolicyDefinition {
  static let className = "RegisteredMakerPolicy"
  static var createsRelationships: Bool { false }
  static func make() -> NSEntityMigrationPolicy { RegisteredMakerPolicy() }
}

private enum Remembered: PolicyDefinition {
  static let className = "RememberedMakerPolicy"
  static func make() -> NSEntityMigrationPolicy { RememberedMakerPolicy() }
}

private enum Fetched: PolicyDefinition {
  static let className = "FetchedMakerPolicy"
  static let lookups = [PolicyLookup(entity: "Maker", attribute: "name"), PolicyLookup(entity: "X", attribute: "y")]
  static func make() -> NSEntityMigrationPolicy { FetchedMakerPolicy() }
}

private enum Note: PolicyDefinition {
  static let className = "NotePolicy"
  static var functions: [String: PolicyFunction] {
    ["noteForUsed:owner:": { try ($0 as! NotePolicy).note(for: $1(0), $1(1)) }]
  }
  static func make() -> NSEntityMigrationPolicy { NotePolicy() }
}

@Suite("Policies of Core Data")
struct CoreDataPolicyTests {

  @Test("A policy that looks among registered objects gives what a native one gives")
  func registered() async throws {
    let folder = try CarFolder()
    let result = try await folder.migrate("    policy: App.RegisteredMakerPolicy", [CoreDataPolicy<Registered>.self])
    let native = try await folder.migrate("    policy: NativeMakerPolicy", [NativeMakerPolicy.self])
    #expect(try CarFolder.makers(result) == CarFolder.makers(native))
    #expect(try result.count("Maker") > 3)
    #expect(try result.objects("Person") == native.objects("Person"))
  }

  @Test("A policy that keeps objects in userInfo gives what a native one gives")
  func remembered() async throws {
    let folder = try CarFolder()
    let result = try await folder.migrate("    policy: RememberedMakerPolicy", [CoreDataPolicy<Remembered>.self])
    let native = try await folder.migrate("    policy: NativeMakerPolicy", [NativeMakerPolicy.self])
    #expect(try result.objects("Car") == native.objects("Car"))
    #expect(try result.objects("Maker") == native.objects("Maker"))
  }

  @Test("A policy that makes and associates its objects and fetches others gives what a native one gives")
  func fetched() async throws {
    let folder = try CarFolder()
    let result = try await folder.migrate("    policy: FetchedMakerPolicy", [CoreDataPolicy<Fetched>.self])
    let native = try await folder.migrate("    policy: NativeMakerPolicy", [NativeMakerPolicy.self])
    #expect(try result.objects("Car") == native.objects("Car"))
    #expect(try result.objects("Maker") == native.objects("Maker"))
    #expect(try result.objects("Person") == native.objects("Person"))
  }

  @Test("Mapping models call methods by selector, and late calls read the source by fetches")
  func note() async throws {
    let folder = try CarFolder()
    let result = try await folder.migrate(
      """
          policy: NotePolicy
          attributes:
            number: $same
            note: 'FUNCTION($entityPolicy, "noteForUsed:owner:", $source.isUsed, $source.owner)'
      """, [CoreDataPolicy<Note>.self])
    let cars = try result.objects("Car")
    let people = Dictionary(uniqueKeysWithValues: try result.objects("Person").map { ($0.key, $0["cars"].keys.count) })
    for car in cars {
      let count = car["owner"].keys.first.flatMap { people[$0] } ?? 0
      #expect(car["note"].text == "\(car["isUsed"] == .boolean(true) ? "used" : "new"), one of \(count)")
    }
    #expect(Set(cars.map { $0["price"].number }).count > 3)
  }
}

/// The same by hand.
struct NativeMakerPolicy: EntityMigrationPolicy {
  func lookups(for mapping: EntityMapping) -> [Lookup] { [Lookup(entity: "Maker", attribute: "name")] }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let car = try manager.createDestinationInstance(forSource: source, in: mapping)
    let maker = try manager.findOrCreate("Maker", where: "name", from: source, "maker")
    try car.set("maker", to: maker)
  }
}
