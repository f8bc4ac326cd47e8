import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport

/// What an entity mapping writes and which finished objects it reads, as far as models, mapping and declarations show.
struct MappingFootprint: Sendable {
  /// The mapping.
  let mapping: EntityMapping
  /// The position of its mapping model in the step.
  let model: Int
  /// Root entities whose tables it writes, and many-to-many relationships, as `Book.authors`, whose links it writes.
  var writes: Set<String> = []
  /// Entities whose objects it makes or changes.
  var makes: Set<String> = []
  /// Entities that its policy looks up or waits for, as they are declared.
  var reads: Set<String> = []
  /// Whether it has a policy that declares neither reads nor writes. Then it is kept together with its mapping model.
  var isAlone = false
  /// Relationships that it carries over, with the destination entity: their keys move by arithmetic.
  var carried: [(relationship: String, destination: String)] = []
}

/// Finds the footprints of a step's entity mappings.
struct FootprintReader {
  let step: MigrationStep
  let layout: StoreLayout
  let policies: PolicyRegistry

  /// For every entity itself and what descends from it.
  let kinds: [String: Set<String>]
  /// The many-to-many relationships of every entity, own and inherited, by the names that their tables have.
  private let joins: [String: Set<String>]
  private var model: ManagedObjectModel { step.destination }

  /// Makes a reader. Throws what a ``StoreLayout`` throws.
  init(step: MigrationStep, policies: PolicyRegistry) throws {
    (self.step, self.policies) = (step, policies)
    layout = try StoreLayout(model: step.destination, purpose: .reading)
    kinds = Self.kinds(step.destination)
    var joins: [String: Set<String>] = [:]
    for join in layout.joinTables {
      for end in [join.relationship, join.inverse] {
        for kind in kinds[end.entity] ?? [] { joins[kind, default: []].insert(join.relationship.description) }
      }
    }
    self.joins = joins
  }

  /// In the order of the mapping models and of their mappings. Throws `missingPolicy`, and `badMapping` if a policy
  /// declares what the model does not have.
  func read() throws -> [MappingFootprint] {
    var found: [MappingFootprint] = []
    for (index, mappingModel) in step.mappingModels.enumerated() {
      for mapping in mappingModel.entityMappings {
        var footprint = MappingFootprint(mapping: mapping, model: index)
        if let entity = mapping.destinationEntity { write(entity, &footprint) }
        try declare(&footprint)
        relationships(&footprint)
        found.append(footprint)
      }
    }
    carryLinks(&found)
    return found
  }

  /// For every entity itself and what descends from it.
  static func kinds(_ model: ManagedObjectModel) -> [String: Set<String>] {
    var kinds: [String: Set<String>] = [:]
    for entity in model.entities {
      for ancestor in model.ancestors(of: entity.name) { kinds[ancestor.name, default: []].insert(entity.name) }
      kinds[entity.name, default: []].insert(entity.name)
    }
    return kinds
  }

  private func kinds(of entity: String) -> Set<String> { kinds[entity] ?? [] }

  private func write(_ entity: String, _ footprint: inout MappingFootprint) {
    footprint.writes.insert(model.root(of: entity))
    footprint.makes.insert(entity)
  }

  /// What the policy or the rules say.
  private func declare(_ footprint: inout MappingFootprint) throws {
    let mapping = footprint.mapping
    guard let policy = try policies.policy(for: mapping) else { return }
    let lookups = policy.lookups(for: mapping).filter { !$0.isWish || $0.fits(model) }
    footprint.reads = Set(lookups.map(\.entity) + policy.reads(for: mapping))
    let writes = policy.declaredWrites(for: mapping)
    for entity in footprint.reads.union(writes ?? []).sorted() where model.entity(entity) == nil {
      throw BatchError(
        .badMapping, "the policy of \(mapping.name) declares the entity \(entity), which \(model.name) does not have",
        hint: "Declare only what the destination of the mapping has", entity: mapping.destinationEntity)
    }
    footprint.isAlone = writes == nil
    let entities = (writes ?? footprint.makes.sorted()).flatMap { kinds(of: $0) }
    for entity in entities { write(entity, &footprint) }
    // Rules name the relationships that they fill; a policy may fill all of what it writes.
    if let rules = mapping.rules { return fill(rules, &footprint) }
    for entity in entities { footprint.writes.formUnion(joins[entity] ?? []) }
  }

  private func fill(_ rules: MappingRules, _ footprint: inout MappingFootprint) {
    let own = rules.relationships.map(\.name) + rules.objects.compactMap(\.link)
    for name in own { fill(name, of: footprint.mapping.destinationEntity ?? "", &footprint) }
    for object in rules.objects {
      for relationship in object.relationships { fill(relationship.name, of: object.entity, &footprint) }
    }
  }

  /// A relationship that is filled object by object may be kept in rows of the other side.
  private func fill(_ name: String, of entity: String, _ footprint: inout MappingFootprint) {
    guard let relationship = model.relationship(name, of: entity) else { return }
    let destination = relationship.destinationEntity
    switch layout.storage(of: name, entity: entity) {
    case .join(let table, _): footprint.writes.insert(layout.joinTables[table].relationship.description)
    case .inverseKey, .ownerKey: for kind in kinds(of: destination) { write(kind, &footprint) }
    case .ownKey:
      guard model.otherEnd(of: relationship)?.isToMany == false else { return }
      for kind in kinds(of: destination) { write(kind, &footprint) }
    case nil: return
    }
  }

  private func relationships(_ footprint: inout MappingFootprint) {
    guard let entity = footprint.mapping.destinationEntity else { return }
    for property in footprint.mapping.relationshipMappings {
      if let expression = property.valueExpression, expression.isEvaluatedRelationship {
        fill(property.name, of: entity, &footprint)
      } else if isCarried(property, footprint.mapping), let relationship = model.relationship(property.name, of: entity)
      {
        footprint.carried.append(("\(entity).\(property.name)", relationship.destinationEntity))
      }
    }
  }

  private func isCarried(_ property: PropertyMapping, _ mapping: EntityMapping) -> Bool {
    guard let expression = property.valueExpression else {
      return mapping.sourceEntity.flatMap { step.source.relationship(property.name, of: $0) } != nil
    }
    return expression.carriedRelationship != nil
  }

  /// Both sides of a many-to-many relationship have the same links: the one that names the table writes them, else the
  /// other.
  private func carryLinks(_ found: inout [MappingFootprint]) {
    var writers: [Int: (named: [Int], other: [Int])] = [:]
    for (index, footprint) in found.enumerated() {
      for property in footprint.mapping.relationshipMappings where isCarried(property, footprint.mapping) {
        guard let entity = footprint.mapping.destinationEntity,
          case .join(let table, let isNaming) = layout.storage(of: property.name, entity: entity)
        else { continue }
        if isNaming { writers[table, default: ([], [])].named.append(index) }
        if !isNaming { writers[table, default: ([], [])].other.append(index) }
      }
    }
    for (table, sides) in writers {
      for index in sides.named.isEmpty ? sides.other : sides.named {
        found[index].writes.insert(layout.joinTables[table].relationship.description)
      }
    }
  }
}
