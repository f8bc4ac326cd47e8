import BatchTesting
import CoreData
import Migrations
import RunSupport
import Testing

/// Fetches makers without a limit.
private final class UnlimitedPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Maker")
    let name = "maker of \(sInstance.value(forKey: "number") ?? 0)"
    request.predicate = NSPredicate(format: "name = %@", name)
    guard try manager.destinationContext.count(for: request) == 0 else { return }
    let maker = NSEntityDescription.insertNewObject(forEntityName: "Maker", into: manager.destinationContext)
    maker.setValue(name, forKey: "name")
  }
}

private final class CountingPolicy: NSEntityMigrationPolicy {
  private var count = 0

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    count += 1
    if count % 2000 == 0 { _ = manager.destinationContext.registeredObjects.count }
  }
}

private final class MisspellingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    _ = sInstance.value(forKey: "nmber")
  }
}

private enum Unlimited: PolicyDefinition {
  static let className = "UnlimitedPolicy"
  static let lookups = [PolicyLookup(entity: "Maker", attribute: "name")]
  static func make() -> NSEntityMigrationPolicy { UnlimitedPolicy() }
}

private enum Unfound: PolicyDefinition {
  static let className = "UnfoundPolicy"
  static func make() -> NSEntityMigrationPolicy { UnlimitedPolicy() }
}

private enum Counting: PolicyDefinition {
  static let className = "CountingPolicy"
  static func make() -> NSEntityMigrationPolicy { CountingPolicy() }
}

private enum Misspelling: PolicyDefinition {
  static let className = "MisspellingPolicy"
  static func make() -> NSEntityMigrationPolicy { MisspellingPolicy() }
}

@Suite("Policies of Core Data and the memory of a run")
struct MemoryPolicyTests {
  private func failure(_ name: String, _ type: any EntityMigrationPolicy.Type, rows: UInt64) async throws -> BatchError?
  {
    let folder = try CarFolder(rows: rows)
    return await #expect(throws: BatchError.self) { _ = try await folder.migrate("    policy: \(name)", [type]) }
  }

  @Test("A fetch by one attribute finds any number of objects by a look-up")
  func lookup() async throws {
    let folder = try CarFolder(rows: 60_000)
    let result = try await folder.migrate("    policy: UnlimitedPolicy", [CoreDataPolicy<Unlimited>.self])
    let numbers = Set(try result.objects("Car").map { $0["number"].integer })
    #expect(numbers.count > 10_000)
    #expect(try result.count("Maker") == numbers.count)
  }

  @Test("A fetch that needs more objects than memory has is an error that says what to write")
  func unbounded() async throws {
    let error = try await failure("UnfoundPolicy", CoreDataPolicy<Unfound>.self, rows: 60_000)
    #expect(error?.message.contains("objects of Maker cannot all be kept in memory") == true)
    #expect(error?.hint?.contains("compares one attribute with a value") == true && error?.key != nil)
  }

  @Test("registeredObjects beyond memory is an error that says what to write")
  func registered() async throws {
    let error = try await failure("CountingPolicy", CoreDataPolicy<Counting>.self, rows: 60_000)
    #expect(error?.message.contains("registeredObjects would hold more objects") == true)
  }

  @Test("A key that is not there ends the run with entity and key, and a question")
  func misspelt() async throws {
    let error = try await failure("MisspellingPolicy", CoreDataPolicy<Misspelling>.self, rows: 100)
    #expect(error?.message == "Car of the source has no property nmber, did you mean number?")
    #expect(error?.entity == "Car" && error?.key == 1)
  }
}
