import Streams

@testable import CoreDataModel
@testable import MappingModels
@testable import Migrations
@testable import StoreSamples

/// Two versions and a mapping model whose policies declare random look-ups and further objects, made up from a seed.
struct SplitModels {
  let seed: UInt64
  private(set) var versions: [ManagedObjectModel] = []
  private(set) var mapping = MappingModel(name: "Whole", entityMappings: [])
  private var random: SeededRandom

  /// With `declares` false some policies say nothing about what they write.
  init(seed: UInt64, entities count: Int, declares: Bool = true) {
    (self.seed, random) = (seed, SeededRandom(seed))
    let names = (0..<count).map { "E\($0)" }
    let entities = names.enumerated().map { index, name in
      var entity = StoreModels.entity(
        name, parent: random.flag(6) ? names[..<index].randomElement(using: &random) : nil, [], [])
      // Sub-entities have the attributes of their root.
      if entity.superentity == nil { entity.attributes = Self.attributes }
      return entity
    }
    let first = ManagedObjectModel(name: "S1", entities: linked(entities, names))
    let second = ManagedObjectModel(
      name: "S2",
      entities: first.entities.map { entity in
        var entity = entity
        if entity.superentity == nil { entity.attributes.append(AttributeDescription(name: "note", type: .string)) }
        return entity
      })
    versions = [first, second]
    mapping.entityMappings = names.shuffled(using: &random).map { mapped($0, names, declares: declares) }
    (mapping.sourceModelName, mapping.destinationModelName) = ("S1", "S2")
  }

  private static let attributes: [AttributeDescription] = {
    var name = AttributeDescription(name: "name", type: .string)
    name.userInfo = [SampleSettings.Key.distinct: "12"]
    return [name, AttributeDescription(name: "size", type: .integer32)]
  }()

  /// Relationships of every storage, each with its inverse or without one.
  private mutating func linked(_ entities: [EntityDescription], _ names: [String]) -> [EntityDescription] {
    var entities = entities
    for number in 0..<names.count {
      let (owner, other) = (
        Int.random(in: 0..<names.count, using: &random), Int.random(in: 0..<names.count, using: &random)
      )
      let (there, back) = ("r\(number)", random.flag(5) ? nil : "i\(number)")
      let (many, isMutual) = (random.flag(2), random.flag(2))
      entities[owner].relationships.append(StoreModels.link(there, names[other], back, many: many))
      guard let back else { continue }
      entities[other].relationships.append(StoreModels.link(back, names[owner], there, many: isMutual))
    }
    return entities
  }

  private mutating func mapped(_ name: String, _ names: [String], declares: Bool) -> EntityMapping {
    var mapping = EntityMapping(sourceEntity: name, destinationEntity: name)
    mapping.attributeMappings = ["name", "size"].map { PropertyMapping(name: $0) }
    mapping.relationshipMappings = versions[1].relationships(of: name).map { PropertyMapping(name: $0.name) }
    guard random.flag(3) else { return mapping }
    mapping.policyClassName = "Shop.SplitPolicy"
    mapping.userInfo["finds"] = random.flag(2) ? names.randomElement(using: &random) : nil
    mapping.userInfo["makes"] = random.flag(4) ? names.randomElement(using: &random) : nil
    if !declares, random.flag(8) { mapping.userInfo["silent"] = "yes" }
    return mapping
  }

  /// The step with these mapping models.
  func step(_ models: [MappingModel]) -> MigrationStep {
    MigrationStep(source: versions[0], destination: versions[1], mappingModels: models, isInferred: false, reason: "")
  }

  /// A mapping model of some of the mappings.
  func part(_ name: String, _ mappings: [EntityMapping]) -> MappingModel {
    var model = mapping
    (model.name, model.entityMappings) = (name, mappings)
    return model
  }
}

/// Notes what it finds: objects of an entity that are not finished would be missed.
struct SplitPolicy: EntityMigrationPolicy {
  private func entity(_ key: String, _ mapping: EntityMapping) -> [String] { mapping.userInfo[key].map { [$0] } ?? [] }

  func lookups(for mapping: EntityMapping) -> [Lookup] {
    Set(entity("finds", mapping) + entity("makes", mapping)).sorted().map { Lookup(entity: $0, attribute: "name") }
  }

  func writes(for mapping: EntityMapping) -> [String] {
    mapping.userInfo["silent"] != nil ? [] : [mapping.destinationEntity].compactMap { $0 } + entity("makes", mapping)
  }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let object = try manager.createDestinationInstance(forSource: source, in: mapping)
    if let entity = mapping.userInfo["finds"] {
      let found = try manager.find(entity, where: "name", is: source.value("name"))
      try object.set("note", found.map { "\($0.entityName) \($0.key)" })
    }
    guard let entity = mapping.userInfo["makes"], source.key % 3 == 0 else { return }
    let made = try manager.findOrCreate(entity, where: "name", is: .text("made \(source.key % 5)"))
    try object.set("size", .integer(made.key))
  }
}
