import CoreDataModel

extension ModelDifference {
  /// Compares two versions. Entities and properties are found again by renaming identifier, else by name, as inference
  /// finds them.
  public init(from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    self.init(from: source, to: destination, hashes: (source.versionHashes, destination.versionHashes))
  }

  /// The same, where the hashes are known already.
  init(
    from source: ManagedObjectModel, to destination: ManagedObjectModel,
    hashes: (source: [String: [UInt8]], destination: [String: [UInt8]])
  ) {
    self = ModelComparison(source: source, destination: destination, hashes: hashes).difference()
  }
}

/// One comparison of two versions.
struct ModelComparison {
  let source: ManagedObjectModel
  let destination: ManagedObjectModel
  private let inference: Inference
  private let hashes: (source: [String: [UInt8]], destination: [String: [UInt8]])

  init(
    source: ManagedObjectModel, destination: ManagedObjectModel,
    hashes: (source: [String: [UInt8]], destination: [String: [UInt8]])
  ) {
    self.source = source
    self.destination = destination
    var inference = Inference(source: source, destination: destination)
    _ = inference.entityMappings()
    self.inference = inference
    self.hashes = hashes
  }

  func difference() -> ModelDifference {
    var entities: [EntityDifference] = []
    for entity in destination.entities {
      guard let name = inference.entities[entity.name], let old = source.entity(name) else {
        entities.append(EntityDifference(kind: .added, source: nil, destination: entity.name))
        continue
      }
      let found = difference(old, entity)
      if !found.changes.isEmpty || !found.properties.isEmpty { entities.append(found) }
    }
    let kept = Set(inference.entities.values)
    for entity in source.entities where !kept.contains(entity.name) {
      entities.append(EntityDifference(kind: .removed, source: entity.name, destination: nil))
    }
    let obstacles = inference.problems.map {
      Obstacle(entities: $0.entities, properties: $0.properties, reason: $0.reason, remedy: $0.remedy)
    }
    return ModelDifference(
      source: source.name, destination: destination.name, changes: FacetList.changes(of: source, to: destination),
      entities: entities, obstacles: obstacles, isInferable: obstacles.isEmpty,
      changesVersionHashes: entities.contains(where: \.changesVersionHash),
      changesColumns: hashes.source == hashes.destination && !source.hasColumns(of: destination))
  }

  private var isOfSwiftData: Bool { source.isOfSwiftData || destination.isOfSwiftData }
  /// Whether a store of SwiftData carries one of them: it has the values of `UUID()` and `Date()` at one build.
  private var isOfStore: Bool { source.isOfSwiftDataStore || destination.isOfSwiftDataStore }

  private func difference(_ old: EntityDescription, _ new: EntityDescription) -> EntityDifference {
    var found = EntityDifference(
      kind: old.name == new.name ? .changed : .renamed, source: old.name, destination: new.name)
    let parents = (old.superentity.flatMap { hashes.source[$0] }, new.superentity.flatMap { hashes.destination[$0] })
    var facets = FacetList(isOfSwiftData: isOfSwiftData, isOfStore: isOfStore)
    facets.compare(old, new, changesParentHash: parents.0 != parents.1)
    found.changes = facets.changes
    let changesHash = hashes.source[old.name] != hashes.destination[new.name]
    found.properties += compare(.attribute, of: old, and: new, at: \.attributes) { old, new in
      var facets = FacetList(changesHashOfRenamed: changesHash, isOfSwiftData: isOfSwiftData, isOfStore: isOfStore)
      facets.compare(old.property, new.property)
      return facets.changes
    }
    found.properties += compare(.relationship, of: old, and: new, at: \.relationships) { old, new in
      var facets = FacetList(changesHashOfRenamed: changesHash)
      facets.compare(
        old.property, isOwnInverse: source.isOwnInverse(old.property, declaredBy: old.owner), new.property,
        isOwnInverse: destination.isOwnInverse(new.property, declaredBy: new.owner))
      return facets.changes
    }
    found.properties += compare(.fetchedProperty, of: old, and: new, at: \.fetchedProperties) { old, new in
      var facets = FacetList()
      facets.compare(old.property, new.property)
      return facets.changes
    }
    found.changesVersionHash =
      found.changes.contains(where: \.changesVersionHash) || found.properties.contains(where: \.changesVersionHash)
    return found
  }

  /// Compares the properties of one kind that the entities declare, and those that moved to or from an ancestor.
  private func compare<Property: ComparedProperty>(
    _ kind: PropertyDifference.Property, of old: EntityDescription, and new: EntityDescription,
    at properties: KeyPath<EntityDescription, [Property]>,
    _ facets: (Declared<Property>, Declared<Property>) -> [FacetChange]
  ) -> [PropertyDifference] {
    let match = PropertyMatch(
      source: Declared.all(properties, of: old, in: source),
      destination: Declared.all(properties, of: new, in: destination))
    var found: [PropertyDifference] = []
    for target in match.destination {
      let origin = match.origin(of: target)
      guard target.owner == new.name || origin?.owner == old.name else { continue }
      guard let origin else {
        found.append(added(kind, target.property))
        continue
      }
      let isMoved = inference.entities[target.owner] != origin.owner
      let changes = facets(origin, target) + (isMoved ? [Self.move(origin, target)] : [])
      if !changes.isEmpty { found.append(changed(kind, old: origin, new: target, isMoved: isMoved, changes: changes)) }
    }
    return found
      + match.left.filter { $0.owner == old.name }.map {
        PropertyDifference(
          property: kind, kind: .removed, source: $0.property.name, destination: nil,
          changesVersionHash: $0.property.isStored)
      }
  }

  private func changed<Property>(
    _ kind: PropertyDifference.Property, old: Declared<Property>, new: Declared<Property>, isMoved: Bool,
    changes: [FacetChange]
  ) -> PropertyDifference {
    let (from, to) = (old.property.name, new.property.name)
    var difference = PropertyDifference(
      property: kind, kind: isMoved ? .moved : from == to ? .changed : .renamed,
      source: isMoved ? "\(old.owner).\(from)" : from, destination: isMoved ? "\(new.owner).\(to)" : to,
      changes: changes,
      changesVersionHash: changes.contains(where: \.changesVersionHash))
    difference.condition = condition(new.property, from: old.property)
    return difference
  }

  private func added<Property: ComparedProperty>(
    _ kind: PropertyDifference.Property, _ property: Property
  ) -> PropertyDifference {
    var difference = PropertyDifference(
      property: kind, kind: .added, source: nil, destination: property.name, changesVersionHash: property.isStored)
    difference.condition = condition(property, from: nil)
    return difference
  }

  private static func move<Property>(_ old: Declared<Property>, _ new: Declared<Property>) -> FacetChange {
    FacetChange(
      facet: "declaringEntity", old: old.owner, new: new.owner,
      changesVersionHash: old.property.isStored || new.property.isStored)
  }

  /// Nil unless an attribute is or becomes required and nothing gives its objects a value.
  private func condition<Property>(_ new: Property, from old: Property?) -> String? {
    guard let new = new as? AttributeDescription else { return nil }
    let old = (old as? AttributeDescription).flatMap { $0.isTransient ? nil : $0 }
    guard Inference.needsValues(new, from: old) else { return nil }
    return old == nil ? "only while there is no object" : "only while no object lacks a value"
  }
}
