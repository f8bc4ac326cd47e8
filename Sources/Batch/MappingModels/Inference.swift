import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

extension MappingModel {
  /// The mapping model that follows from two versions alone, if nothing but lightweight changes lie between them.
  ///
  /// Properties and entities are matched by renaming identifier, else by name. A value expression is given only for
  /// what was renamed: `$source.old` for an attribute, the instances of the old relationship for a relationship. Source
  /// entities without counterpart get a Remove mapping, new ones an Add mapping; abstract entities and transient
  /// properties get none.
  ///
  /// Missing values of attributes that became required are no reason: only the rows show it (E.2). Source of the rules:
  /// E.1 and E.2.
  ///
  /// - Throws: one ``BatchError`` with the code `refused` that names every entity, property and reason, one to a
  ///   line.
  public static func inferred(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) throws -> MappingModel {
    try inferred(
      from: source, to: destination, sourceHashes: source.versionHashes, destinationHashes: destination.versionHashes)
  }

  /// The same, where the hashes are known already.
  package static func inferred(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, sourceHashes: [String: [UInt8]],
    destinationHashes: [String: [UInt8]]
  ) throws -> MappingModel {
    var inference = Inference(source: source, destination: destination)
    var model = MappingModel(name: "inferred", entityMappings: inference.entityMappings())
    guard inference.problems.isEmpty else {
      throw BatchError(
        .refused,
        "no mapping model can be inferred from \(source.name) to \(destination.name):\n"
          + inference.problems.map(\.description).joined(separator: "\n"),
        hint: "Supply a mapping model for this step")
    }
    model.entityMappings = DerivedValues(source: source, destination: destination, mappings: model.entityMappings)
      .applied()
    model.sourceHashes = sourceHashes
    model.destinationHashes = destinationHashes
    model.sourceModelName = source.name
    model.destinationModelName = destination.name
    return model
  }
}

/// One inference: what corresponds to what, and what forbids it.
package struct Inference {
  let source: ManagedObjectModel
  let destination: ManagedObjectModel
  /// By destination entity, the source entity.
  private(set) var entities: [String: String] = [:]
  /// By source entity, the destination entities that hold its objects and those of its sub-entities; sorted.
  private let heirs: [String: [String]]
  private(set) var problems: [InferenceProblem] = []
  private let changes: ModelChanges
  private let names: [String: ManagedObjectModel.StoredNames]
  /// Whether every entity of the source is there as it was, under its name.
  private let isStraight: Bool

  init(source: ManagedObjectModel, destination: ManagedObjectModel) {
    self.source = source
    self.destination = destination
    let match = RenamingMatch(
      source: source.entities.map { .init(name: $0.name, identifier: $0.renamingIdentifier) },
      destination: destination.entities.map { .init(name: $0.name, identifier: $0.renamingIdentifier) })
    entities = match.pairs
    var heirs: [String: [String]] = [:]
    for (heir, origin) in match.pairs.sorted(by: { $0.key < $1.key }) {
      for kind in [origin] + source.ancestors(of: origin).map(\.name) { heirs[kind, default: []].append(heir) }
    }
    self.heirs = heirs
    (changes, names) = (ModelChanges(from: source, to: destination), destination.storedNames)
    isStraight = changes.keepsEntities && source.entities.allSatisfy { match.pairs[$0.name] == $0.name }
    problems = match.conflicts.map {
      InferenceProblem(
        .ambiguousEntity, entities: $0.destination, properties: nil, reason: "both come from \($0.source)")
    }
  }

  mutating func entityMappings() -> [EntityMapping] {
    checkHierarchies()
    // Paths of a hundred versions keep all of these: arrays that grew would be half empty.
    var mappings: [EntityMapping] = []
    mappings.reserveCapacity(destination.entities.count)
    for entity in destination.entities {
      let origin = entities[entity.name].flatMap(source.entity)
      if let origin, origin.isAbstract != entity.isAbstract, entity.isAbstract {
        problems.append(
          InferenceProblem(
            .abstract, entities: [entity.name], properties: nil,
            reason: "the entity became abstract, so its objects have no place"))
      }
      guard !entity.isAbstract else { continue }
      // An abstract entity has no objects; one that is no longer abstract starts without any.
      let concrete = origin.flatMap { $0.isAbstract ? nil : $0 }
      var mapping = EntityMapping(sourceEntity: concrete?.name, destinationEntity: entity.name)
      map(&mapping, from: concrete?.name, to: entity.name)
      mappings.append(mapping)
    }
    let kept = Set(entities.values)
    for entity in source.entities where !entity.isAbstract && !kept.contains(entity.name) {
      mappings.append(EntityMapping(sourceEntity: entity.name, destinationEntity: nil))
    }
    return mappings
  }

  private mutating func map(_ mapping: inout EntityMapping, from origin: String?, to name: String) {
    mapAttributes(&mapping, from: origin, to: name)
    mapRelationships(&mapping, from: origin, to: name)
  }

  private mutating func mapAttributes(_ mapping: inout EntityMapping, from origin: String?, to name: String) {
    // Most stay as they are; versions read together share their memory.
    if isStraight, origin == name, changes.keepsAttributes(of: name) {
      mapping.attributeMappings = names[name]?.attributes.map { PropertyMapping(name: $0) } ?? []
      return
    }
    let (all, allOld) = (destination.attributes(of: name), origin.map(source.attributes) ?? [])
    mapping.attributeMappings.reserveCapacity(all.count)
    guard all != allOld else {
      return mapping.attributeMappings += all.filter { !$0.isTransient }.map { PropertyMapping(name: $0.name) }
    }
    let (new, old) = (all.filter { !$0.isTransient }, allOld.filter { !$0.isTransient })
    let match = RenamingMatch(
      source: old.map { .init(name: $0.name, identifier: $0.renamingIdentifier) },
      destination: new.map { .init(name: $0.name, identifier: $0.renamingIdentifier) })
    report(match, name)
    for attribute in new {
      let from = match.pairs[attribute.name].flatMap { pair in old.first { $0.name == pair } }
      if let from { check(attribute, from, entity: name) }
      var property = PropertyMapping(name: attribute.name, valueExpression: expression(attribute, from, among: old))
      property.valueForNull = from.flatMap { Self.valueForNull(attribute, from: $0) }
      mapping.attributeMappings.append(property)
    }
  }

  private mutating func mapRelationships(_ mapping: inout EntityMapping, from origin: String?, to name: String) {
    if isStraight, origin == name, changes.keepsRelationships(of: name) {
      mapping.relationshipMappings = names[name]?.relationships.map { PropertyMapping(name: $0) } ?? []
      return
    }
    let new = Self.stored(name, in: destination)
    let old = origin.map { Self.stored($0, in: source) } ?? []
    let match = RenamingMatch(old, new)
    report(match, name)
    for relationship in new {
      // Where the objects at the other end go with their entity, their links go with them: the relationship is a new
      // one.
      let from =
        match.pairs[relationship.name].flatMap { pair in old.first { $0.name == pair } }
        .flatMap { heirs[$0.destinationEntity] == nil ? nil : $0 }
        ?? self.origin(ofNew: relationship, entity: origin, match)
      if let from { check(relationship, from, entity: name) }
      var expression: Expression?
      if let from, from.name != relationship.name {
        expression = .destinationInstances(
          ofRelationship: from.name, source: .keyPath(operand: .variable("source"), path: [from.name]))
      } else if from == nil, old.contains(where: { $0.name == relationship.name }) {
        expression = .constant(.null)
      }
      mapping.relationshipMappings.append(PropertyMapping(name: relationship.name, valueExpression: expression))
    }
  }

  /// Nothing where the default rule (the same name, else the default value) already says it.
  private func expression(
    _ attribute: AttributeDescription, _ from: AttributeDescription?, among old: [AttributeDescription]
  ) -> Expression? {
    if let from {
      return from.name == attribute.name ? nil : .keyPath(operand: .variable("source"), path: [from.name])
    }
    // The old attribute of this name lives on under another one; the new attribute must not copy it as well.
    return old.contains { $0.name == attribute.name } ? .constant(attribute.defaultValue ?? .null) : nil
  }

  private mutating func report(_ match: RenamingMatch, _ entity: String) {
    problems += match.conflicts.map {
      InferenceProblem(
        .ambiguousProperty, entities: [entity], properties: $0.destination, reason: "both come from \($0.source)")
    }
  }

  private mutating func check(
    _ new: AttributeDescription, _ old: AttributeDescription, entity: String, inside path: [String] = []
  ) {
    let numbers: Set<AttributeType> = [.integer16, .integer32, .integer64, .decimal, .double, .float, .boolean]
    let name = (path + [new.name]).joined(separator: ".")
    guard new.type != old.type else {
      for element in new.elements {
        let origin = new.origin(of: "\(new.name).\(element.name)", in: old)?.dropFirst(old.name.count + 1)
        guard let from = old.elements.first(where: { $0.name == origin ?? element.name[...] }) else { continue }
        check(element, from, entity: entity, inside: path + [new.name])
      }
      return
    }
    guard !numbers.contains(new.type) || !numbers.contains(old.type) else { return }
    problems.append(
      InferenceProblem(
        .type, entities: [entity], properties: [name], reason: "the type changed from \(old.type) to \(new.type)"))
  }

  /// Whether every object must have a value already, because nothing gives it one (E.2).
  package static func needsValues(_ new: AttributeDescription, from old: AttributeDescription?) -> Bool {
    guard !new.isTransient, new.defaultValue == nil, new.evaluatedDefault == nil else { return false }
    return (old == nil && new.unreadDefault != nil) || (!new.isOptional && old?.isOptional != false)
  }

  /// The default value of an attribute that becomes required, as stored: objects without value get it.
  static func valueForNull(_ new: AttributeDescription, from old: AttributeDescription) -> Value? {
    guard old.isOptional, !new.isOptional, new.type != .composite else { return nil }
    return new.defaultValue.map(new.type.stored)
  }

  private mutating func check(_ new: RelationshipDescription, _ old: RelationshipDescription, entity: String) {
    if old.isToMany && !new.isToMany {
      problems.append(
        InferenceProblem(
          .toOne, entities: [entity], properties: [new.name],
          reason: "the to-many became a to-one, so all but one object would be lost"))
    }
    // Whatever the old relationship could point at must still be something that the new one can point at.
    for name in heirs[old.destinationEntity] ?? [] {
      guard !destination.isKind(name, of: new.destinationEntity), destination.entity(name)?.isAbstract == false else {
        continue
      }
      problems.append(
        InferenceProblem(
          .destination, entities: [entity], properties: [new.name],
          reason: "the destination changed from \(old.destinationEntity) to \(new.destinationEntity), "
            + "which has no place for objects of \(name)"))
    }
  }

  /// Entities of different tables cannot come into one: their keys would collide.
  private mutating func checkHierarchies() {
    var first: [String: (entity: String, root: String)] = [:]
    for entity in destination.entities {
      guard let origin = entities[entity.name] else { continue }
      let (root, oldRoot) = (destination.root(of: entity.name), source.root(of: origin))
      if let other = first[root], other.root != oldRoot {
        problems.append(
          InferenceProblem(
            .hierarchy, entities: [entity.name], properties: nil,
            reason: "the entity shares the ancestor \(root) with \(other.entity), but had none in common with it"))
      } else {
        first[root] = (entity.name, oldRoot)
      }
    }
  }
}
