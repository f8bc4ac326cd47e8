import Testing

@testable import CoreDataModel
@testable import CoreDataStore

@Suite("Facts of a model")
struct ModelFactsTests {
  private static func model() -> ManagedObjectModel {
    ManagedObjectModel(
      name: "One", entities: [EntityDescription(name: "A", attributes: [.init(name: "x", type: .string)])],
      versionIdentifiers: ["1"])
  }

  @Test("A change of a model forgets what was derived from it, and copies keep what they are")
  func change() throws {
    let model = Self.model()
    let (hashes, layout) = (model.versionHashes, try StoreLayout(model: model))
    var changed = model
    changed.entities[0].attributes[0].isOptional = false
    changed.entities[0].attributes.append(.init(name: "y", type: .integer64))
    #expect(changed != model && changed.versionHashes != hashes && changed.versionChecksum != model.versionChecksum)
    #expect(try StoreLayout(model: changed).entityTables[0].columns.count == layout.entityTables[0].columns.count + 1)
    #expect(model.versionHashes == hashes)
    #expect(try ModelCache.encode(changed).content != ModelCache.encode(model).content)
  }

  @Test("Every property of a model counts for equality, and models that say the same are equal")
  func equality() {
    let model = Self.model()
    #expect(model == Self.model())
    let changes: [(inout ManagedObjectModel) -> Void] = [
      { $0.name = "Two" }, { $0.versionIdentifiers = [] }, { $0.configurations = ["c": ["A"]] },
      { $0.cloudKitConfigurations = ["c"] }, { $0.fetchRequestTemplates = ["f": .init(entity: "A")] },
      { $0.isUsedWithCloudKit = true }, { $0.isUsedWithSwiftData = true }, { $0.unknown = ["u": "v"] },
      { $0.unknownElements = ["e"] }, { $0.entities = [] },
    ]
    for (number, change) in changes.enumerated() {
      var other = model
      change(&other)
      #expect(other != model, "change \(number)")
    }
  }

  @Test("A layout holds its model without keeping itself alive")
  func noRing() throws {
    weak var facts: ModelFacts?
    do {
      let model = Self.model()
      facts = model.facts
      _ = try StoreLayout(model: model)
    }
    #expect(facts == nil)
  }
}
