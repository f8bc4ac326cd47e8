import CoreDataModel
import CoreDataStore
import Streams

/// Mappings without policies one after the other as one mapping: what every object of the latest version has of an
/// object of the first.
///
/// What it gives is what walking version by version gives, to the byte, or it refuses to continue: values pass all
/// types on their way, what was dropped stays dropped, and tables are read in the order in which the last step alone
/// would read them.
package struct MappingComposition {
  /// Why two steps cannot be made one.
  struct Obstacle: Error {
    let reason: String
  }

  /// Where an attribute's value comes from.
  package enum AttributeOrigin: Equatable {
    case constant(Value)
    /// An attribute of the first version, and the types that it has one after the other, the first and the latest
    /// included; and the value of the latest type that stands for NULL.
    case source(String, types: [AttributeType], null: Value? = nil)
    /// What an expression of the first step gives, and the types that it has one after the other after that step.
    case computed(Expression, types: [AttributeType])
  }

  /// Where the objects of an entity come from.
  package struct Origin {
    package let entity: String
    package var attributes: [String: AttributeOrigin]
    var relationships: [String: RelationshipTrail]

    /// The first version's relationship that one of the latest carries over; nil for none.
    package func relationship(_ name: String) -> String? { relationships[name]?.name }
  }

  private typealias Origins = [String: AttributeOrigin]

  let first: VersionLayout
  /// The latest version.
  package private(set) var latest: VersionLayout
  /// By entity of the latest version; entities without objects have none.
  package private(set) var origins: [String: Origin] = [:]
  /// Entities of the latest version, in the order in which the last step makes their objects.
  private var order: [String]
  /// Whether the rows of every table stay in one table, without others.
  private var keepsTables = true
  /// Whether keys became rows of a join table on the way.
  private var hasJoined = false
  /// Whether links of several join tables lie in one since.
  private var hasMerged = false
  /// Whether it is still about the first version. Then expressions mean what they say.
  private var isAtBeginning = true

  /// Begins with a version as it is.
  package init(_ version: VersionLayout) throws {
    (first, latest) = (version, version)
    let layout = try version.layout()
    let entities = layout.model.entities.filter { !$0.isAbstract }.map(\.name)
    order = entities
    for name in entities {
      let attributes = layout.model.storedAttributes(of: name).map {
        ($0.path, AttributeOrigin.source($0.path, types: [$0.attribute.type]))
      }
      let relationships = layout.model.relationships(of: name).compactMap { relationship in
        RelationshipTrail(relationship.name, of: name, in: layout).map { (relationship.name, $0) }
      }
      origins[name] = Origin(
        entity: name, attributes: Dictionary(attributes) { first, _ in first },
        relationships: Dictionary(relationships) { first, _ in first })
    }
  }

  /// Continues by one step. Throws ``Obstacle`` if the result would not be that of two steps.
  package mutating func append(_ mappings: [EntityMapping], to next: VersionLayout) throws {
    guard keepsTables else { throw Obstacle(reason: "the step before it moves objects to other tables") }
    for mapping in mappings { try Self.check(mapping) }
    let step = try ComposedStep(mappings, source: latest, destination: next)
    try checkGone(mappings, step)
    var found: [String: Origin] = [:]
    for pair in step.pairs {
      guard let origin = origins[pair.source] else { continue }
      found[pair.destination] = Origin(
        entity: origin.entity, attributes: try attributes(pair.mapping, origin: origin, step: step),
        relationships: try relationships(pair, origin: origin, step: step))
    }
    let keepsLinks = step.pairs.allSatisfy(\.keepsLinks) && origins.keys.allSatisfy { step.heirs[$0] != nil }
    if !keepsLinks { for pair in step.pairs { try checkInverses(of: pair.mapping, step, in: found) } }
    if hasJoined { try checkJoined(in: found, next.model) }
    for pair in step.pairs where origins[pair.source] == nil {
      try checkKeys(of: pair.source, as: pair.destination, found, next)
    }
    order = step.ordered(step.pairs.map(\.destination), step.pairs.map(\.source)).filter { found[$0] != nil }
    (origins, latest, isAtBeginning, keepsTables) = (found, next, false, step.keepsTables)
    if hasMerged && !keepsLinks || step.pairs.contains(where: movesJoins) { hasMerged = try mergesJoins() }
  }

  /// Links that a step before carried by their other side alone go along only if that side is carried on.
  private func checkInverses(of mapping: EntityMapping, _ step: ComposedStep, in found: [String: Origin]) throws {
    guard let source = mapping.sourceEntity, let heir = mapping.destinationEntity, let origin = origins[source] else {
      return
    }
    guard found[heir]?.relationships.count != mapping.relationshipMappings.count else { return }
    for property in mapping.relationshipMappings where found[heir]?.relationships[property.name] == nil {
      guard let name = try step.relationship(property, source), origin.relationships[name] == nil,
        let old = latest.model.relationship(name, of: source),
        let new = step.destination.model.relationship(property.name, of: heir)
      else { continue }
      let carried = Self.trails(origins, carrying: old, in: latest.model)
      let carriedOn = Self.trails(found, carrying: new, in: step.destination.model)
      guard !carried.isEmpty, carriedOn.isEmpty || !carriedOn.isSubset(of: carried) else { continue }
      throw Obstacle(reason: "\(heir).\(property.name) takes over links that only their other side had")
    }
  }

  /// The first version's relationships whose links the inverse of a relationship has.
  private static func trails(
    _ origins: [String: Origin], carrying relationship: RelationshipDescription, in model: ManagedObjectModel
  ) -> Set<PropertyReference> {
    guard let inverse = relationship.inverseName else { return [] }
    return Set(
      origins.compactMap { entity, origin in
        guard let trail = origin.relationships[inverse], model.isKind(entity, of: relationship.destinationEntity) else {
          return nil
        }
        return PropertyReference(entity: origin.entity, name: trail.name)
      })
  }

  /// Whether one step writes what the steps so far and one more write, rows of join tables in their order: where several
  /// come into one, they lie in the order in which that step made their objects.
  package func goesOn(as longer: MappingComposition) -> Bool { !hasMerged && (!longer.hasMerged || longer.keepsTables) }

  /// An entity without objects may keep a table whose objects are all gone, and with it the largest key that they had.
  private func checkKeys(of entity: String, as heir: String, _ found: [String: Origin], _ next: VersionLayout)
    throws
  {
    let (table, newTable) = (latest.table(ofEntity: entity), next.table(ofEntity: heir))
    guard origins.keys.contains(where: { latest.table(ofEntity: $0) == table }),
      !found.keys.contains(where: { next.table(ofEntity: $0) == newTable })
    else { return }
    throw Obstacle(reason: "\(heir) keeps the keys of objects that are gone")
  }

  /// Makes sure that a mapping decides about each object by its own row.
  private static func check(_ mapping: EntityMapping) throws {
    if let policy = mapping.policyClassName { throw Obstacle(reason: "\(mapping.name) has the policy \(policy)") }
    if mapping.rules != nil { throw Obstacle(reason: "\(mapping.name) has rules") }
    if mapping.filterPredicate != nil { throw Obstacle(reason: "\(mapping.name) has a filter") }
  }

  private func attributes(_ mapping: EntityMapping, origin: Origin, step: ComposedStep) throws -> Origins {
    if let unchanged = step.unchanged(mapping, origin) { return unchanged }
    let (source, destination) = (mapping.sourceEntity ?? "", mapping.destinationEntity ?? "")
    lazy var mapped = Dictionary(mapping.attributeMappings.map { ($0.name, $0) }) { first, _ in first }
    lazy var old = step.source.model.leaves(of: source)
    var copied = CopiedAttributes(mapping, of: step.source.model.attributes(of: source))
    var (kept, found): ([String], Origins) = ([], [:])
    for attribute in step.destination.model.attributes(of: destination) where !attribute.isTransient {
      if copied.keep(attribute), origin.attributes[attribute.name] != nil {
        kept.append(attribute.name)
        continue
      }
      for leaf in attribute.leaves {
        let property = mapped[leaf.path] ?? mapped[attribute.name]
        if let expression = property?.valueExpression, expression.isComputed,
          attribute.leaves.count == 1 || property?.name == leaf.path
        {
          found[leaf.path] = .computed(
            try moved(expression, name: attribute.name, origin: origin), types: [leaf.attribute.type])
          continue
        }
        let value = try property.flatMap {
          try step.source($0, of: source, attributes: old, leaf: leaf.path, attribute)
        }
        found[leaf.path] =
          try value.map { try origin.attribute($0.path, from: $0.attribute, to: leaf, property?.valueForNull) }
          ?? .constant(try step.constant(property, leaf.attribute))
      }
    }
    return origin.attributes.keeping(kept, and: found)
  }

  /// An expression of the step at hand as one of the first version's objects.
  private func moved(_ expression: Expression, name: String, origin: Origin) throws -> Expression {
    guard expression.asksSourceAlone else {
      throw Obstacle(reason: "\(name) asks for more than its object in \(expression)")
    }
    guard let moved = isAtBeginning ? expression : expression.moved(to: origin) else {
      throw Obstacle(reason: "\(name) is computed by \(expression) of values that changed on the way")
    }
    return moved
  }

  private mutating func relationships(
    _ pair: ComposedStep.Pair, origin: Origin, step: ComposedStep
  ) throws -> [String: RelationshipTrail] {
    if pair.keepsLinks { return origin.relationships }
    let (source, destination) = (pair.source, pair.destination)
    var (kept, found): ([String], [String: RelationshipTrail]) = ([], [:])
    for property in pair.mapping.relationshipMappings {
      if step.keepsLinks(property, pair.mapping) {
        if origin.relationships[property.name] != nil { kept.append(property.name) }
        continue
      }
      guard let name = try step.relationship(property, source), let trail = origin.relationships[name] else { continue }
      try step.checkHeirs(of: name, source, as: property.name, destination)
      found[property.name] = try trail.continued(
        name, of: source, in: step.source, as: property.name, of: destination, in: step.destination)
    }
    hasJoined = hasJoined || found.values.contains(where: \.isJoined)
    return origin.relationships.keeping(kept, and: found)
  }

  /// The mappings from the first version to the latest.
  package func entityMappings() -> [EntityMapping] {
    let model = latest.model
    let carried = order.compactMap { name in
      origins[name].map { origin in
        var mapping = EntityMapping(sourceEntity: origin.entity, destinationEntity: name)
        mapping.attributeMappings = origin.attributes.sorted { $0.key < $1.key }.map {
          PropertyMapping($0.key, $0.value)
        }
        mapping.relationshipMappings = model.relationships(of: name).filter { !$0.isTransient }.map { relationship in
          PropertyMapping(
            name: relationship.name,
            valueExpression: origin.relationships[relationship.name]?.expression ?? .constant(.null))
        }
        return mapping
      }
    }
    let added = model.entities.filter { !$0.isAbstract && origins[$0.name] == nil }
    let kept = Set(origins.values.map(\.entity))
    let removed = first.model.entities.filter { !$0.isAbstract && !kept.contains($0.name) }
    return carried + added.map { EntityMapping(sourceEntity: nil, destinationEntity: $0.name) }
      + removed.map { EntityMapping(sourceEntity: $0.name, destinationEntity: nil) }
  }
}
