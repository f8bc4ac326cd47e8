import CoreDataStore
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import RunSupport

/// Plans of long paths do not look at what a step keeps. What they find must be what a look at each property finds.
@Suite("What a step keeps")
struct KeptEntitiesTests {
  typealias Expression = CoreDataModel.Expression

  /// The same mapping with every property that it copies spelled out, so that nothing of it is taken as a whole.
  private static func spelled(_ model: MappingModel, of source: ManagedObjectModel) -> MappingModel {
    var model = model
    for place in model.entityMappings.indices {
      var mapping = model.entityMappings[place]
      guard let entity = mapping.sourceEntity else { continue }
      func path(_ property: PropertyMapping) -> Expression {
        .keyPath(operand: .variable("source"), path: [property.name])
      }
      for (index, property) in mapping.attributeMappings.enumerated()
      where property.valueExpression == nil && source.attribute(property.name, of: entity) != nil {
        mapping.attributeMappings[index].valueExpression = path(property)
      }
      for (index, property) in mapping.relationshipMappings.enumerated()
      where property.valueExpression == nil && source.relationship(property.name, of: entity) != nil {
        mapping.relationshipMappings[index].valueExpression = .destinationInstances(
          ofRelationship: property.name, source: path(property))
      }
      model.entityMappings[place] = mapping
    }
    return model
  }

  /// Follows versions in both ways. Returns how many steps were compared.
  private static func compare(_ versions: [ManagedObjectModel]) throws -> Int {
    guard let first = versions.first else { return 0 }
    var (quick, slow) = (try MappingComposition(VersionLayout(first)), try MappingComposition(VersionLayout(first)))
    var (trail, slowTrail) = (InferredTrail(first), InferredTrail(first))
    for (place, (old, new)) in zip(versions, versions.dropFirst()).enumerated() {
      guard let model = try? MappingModel.inferred(from: old, to: new) else { return place }
      let spelled = spelled(model, of: old)
      trail.append(model, to: new)
      slowTrail.append(spelled, to: new)
      #expect(trail.entities == slowTrail.entities, "\(old.name) to \(new.name)")
      // What keeps its links needs no look at how they are stored: it is composed in more cases.
      guard (try? slow.append(spelled.entityMappings, to: VersionLayout(new))) != nil else { return place }
      try quick.append(model.entityMappings, to: VersionLayout(new))
      #expect(quick.entityMappings() == slow.entityMappings(), "\(old.name) to \(new.name)")
    }
    return versions.count - 1
  }

  @Test("Paths of the example and of models with parents give the same in both ways")
  func own() throws {
    #expect(try Self.compare(ExampleLibrary.models().versions) == 2)
    #expect(try Self.compare(Self.growing) == Self.growing.count - 1)
  }

  @Test(
    "So do all bundles of applications", .enabled(if: ModelCorpus.isPresent, "\(ModelCorpus.missing)"))
  func corpus() throws {
    let bundles = try ModelCorpus.folders("xcdatamodeld", below: "models").map(ModelCorpus.path)
    let steps = try bundles.map { try Self.compare(ModelReader.read(path: $0)[0].versions) }
    #expect(steps.reduce(0, +) > 150, "\(steps)")
  }

  /// Versions in which one attribute after the other comes, in a parent and in its child by turns.
  private static let growing: [ManagedObjectModel] = (0..<20).map { version in
    var parent = EntityDescription(name: "Parent")
    var child = EntityDescription(name: "Child")
    child.superentity = "Parent"
    for number in 0...version {
      let attribute = AttributeDescription(name: "a\(number)", type: .string)
      if number % 2 == 0 { parent.attributes.append(attribute) } else { child.attributes.append(attribute) }
    }
    var (owner, items) = (
      StoreModels.link("owner", "Child", "items"), StoreModels.link("items", "Item", "owner", many: true)
    )
    (owner.isOptional, items.isOptional) = (version < 7, true)
    child.relationships = [items]
    var item = EntityDescription(name: "Item")
    item.relationships = [owner]
    return ManagedObjectModel(name: "V\(version)", entities: [parent, child, item])
  }

  @Test("Hashes of many versions, made by two threads, are those of each version alone")
  func hashes() {
    let together = ManagedObjectModel.versionHashes(Self.growing.map(\.forFacts))
    #expect(together == Self.growing.map { $0.forFacts.versionHashes })
  }
}
