import CoreDataModel
import CoreDataStore
import Streams

/// Where consecutive inferred steps take everything of the latest version from, by names of the first version.
///
/// Other than a ``MappingComposition``, it can follow every path: it says what goes where, and nothing of tables and
/// bytes.
package struct InferredTrail {
  /// Where the objects of an entity come from.
  package struct Entity: Equatable {
    /// The entity of the first version.
    package let source: String
    /// By path of what has a column.
    package var attributes: [String: MappingComposition.AttributeOrigin]
    /// By name, the relationship of the first version.
    package var relationships: [String: String]

    package init(
      source: String, attributes: [String: MappingComposition.AttributeOrigin], relationships: [String: String]
    ) {
      self.source = source
      self.attributes = attributes
      self.relationships = relationships
    }
  }

  package let first: ManagedObjectModel
  package private(set) var latest: ManagedObjectModel
  /// By entity of the latest version; entities without objects have none.
  package private(set) var entities: [String: Entity] = [:]

  /// Begins with a version as it is.
  package init(_ model: ManagedObjectModel) {
    (first, latest) = (model, model)
    for entity in model.entities where !entity.isAbstract {
      let attributes = model.storedAttributes(of: entity.name).map {
        ($0.path, MappingComposition.AttributeOrigin.source($0.path, types: [$0.attribute.type]))
      }
      let relationships = model.relationships(of: entity.name).filter { !$0.isTransient }.map { ($0.name, $0.name) }
      entities[entity.name] = Entity(
        source: entity.name, attributes: Dictionary(attributes) { first, _ in first },
        relationships: Dictionary(relationships) { first, _ in first })
    }
  }

  /// Continues by an inferred step.
  package mutating func append(_ step: MappingModel, to next: ManagedObjectModel) {
    let kept = KeptEntities(from: latest, to: next)
    var (found, isKept): ([String: Entity], Bool) = ([:], true)
    for mapping in step.entityMappings {
      let keepsRelationships = kept.keepsRelationships(mapping)
      isKept = isKept && keepsRelationships
      guard let source = mapping.sourceEntity, let destination = mapping.destinationEntity,
        let before = entities[source]
      else {
        continue
      }
      found[destination] = Entity(
        source: before.source,
        attributes: kept.keepsAttributes(mapping)
          ? before.attributes : attributes(mapping, before: before, next: next),
        relationships: keepsRelationships ? before.relationships : relationships(mapping, before))
    }
    (entities, latest) = (found, next)
    if !isKept { carryInverses() }
  }

  private func attributes(
    _ mapping: EntityMapping, before: Entity, next: ManagedObjectModel
  ) -> [String: MappingComposition.AttributeOrigin] {
    let (source, destination) = (mapping.sourceEntity ?? "", mapping.destinationEntity ?? "")
    let (attributes, old) = (next.attributes(of: destination), latest.attributes(of: source))
    if attributes == old, mapping.attributeMappings.allSatisfy({ $0.valueExpression == nil }) {
      return before.attributes
    }
    lazy var mapped = Dictionary(mapping.attributeMappings.map { ($0.name, $0) }) { first, _ in first }
    var copied = CopiedAttributes(mapping, of: old)
    var (kept, found): ([String], [String: MappingComposition.AttributeOrigin]) = ([], [:])
    for attribute in attributes where !attribute.isTransient {
      if copied.keep(attribute), before.attributes[attribute.name] != nil {
        kept.append(attribute.name)
        continue
      }
      for leaf in attribute.leaves {
        let property = mapped[attribute.name] ?? PropertyMapping(name: attribute.name)
        let from = latest.attribute(property.copiedAttribute ?? attribute.name, of: source)
        found[leaf.path] = origin(
          property, path: from.flatMap { attribute.origin(of: leaf.path, in: $0) }, leaf: leaf.attribute,
          before: before, from: from)
      }
    }
    return before.attributes.keeping(kept, and: found)
  }

  /// Where an element comes from, by its path in the attribute that it is taken from; nil for a new one.
  private func origin(
    _ property: PropertyMapping, path: String?, leaf: AttributeDescription, before: Entity,
    from: AttributeDescription?
  ) -> MappingComposition.AttributeOrigin {
    switch property.valueExpression {
    case nil: break
    case .keyPath(.variable("source"), let names) where names.count == 1: break
    case .constant(let value): return .constant(leaf.type.fitting(value).map(leaf.type.stored) ?? .null)
    case .some(let expression): return .computed(expression, types: [leaf.type])
    }
    guard let path, let from, !from.isTransient,
      let type = from.leaves.first(where: { $0.path == path })?.attribute.type,
      let origin = before.attributes[path]
    else {
      return .constant(leaf.defaultValue.map(leaf.type.stored) ?? .null)
    }
    return origin.passed(from: type, to: leaf.type, null: property.valueForNull)
  }

  private func relationships(_ mapping: EntityMapping, _ before: Entity) -> [String: String] {
    var found: [String: String] = [:]
    for property in mapping.relationshipMappings {
      let name = property.valueExpression == nil ? property.name : property.valueExpression?.carriedRelationship?.path
      if let name, let source = before.relationships[name] { found[property.name] = source }
    }
    return found
  }

  /// Links that one side carries are the other side's, too.
  private mutating func carryInverses() {
    let names = latest.storedNames
    for (name, entity) in entities where entity.relationships.count != names[name]?.relationships.count {
      for relationship in latest.relationships(of: name) where !relationship.isTransient {
        guard entity.relationships[relationship.name] == nil, let carried = carriedInverse(relationship, of: entity)
        else { continue }
        entities[name]?.relationships[relationship.name] = carried
      }
    }
  }

  /// The first version's relationship whose links the inverse of a relationship has; nil for none.
  private func carriedInverse(_ relationship: RelationshipDescription, of entity: Entity) -> String? {
    guard let inverse = relationship.inverseName else { return nil }
    for (other, trail) in entities {
      guard let source = trail.relationships[inverse], latest.isKind(other, of: relationship.destinationEntity),
        let name = first.relationship(source, of: trail.source)?.inverseName,
        first.relationship(name, of: entity.source) != nil
      else { continue }
      return name
    }
    return nil
  }
}

extension MappingComposition.AttributeOrigin {
  /// The origin one step further.
  fileprivate func passed(from old: AttributeType, to new: AttributeType, null: Value?) -> Self {
    func longer(_ types: [AttributeType]) -> [AttributeType] { types.last == new ? types : types + [new] }
    switch self {
    case .source(let name, let types, let filled):
      return .source(name, types: longer(types), null: filled.flatMap { new.converted($0, from: old) } ?? null)
    case .computed(let expression, let types): return .computed(expression, types: longer(types))
    case .constant(.null): return .constant(null ?? .null)
    case .constant(let value): return .constant(new.converted(value, from: old) ?? .null)
    }
  }

  /// The origin with what another one gives to objects without value, where both have the same source.
  package func filled(like other: Self?) -> Self {
    guard case .source(let name, let types, _) = self, case .source(name, _, let filled?) = other else { return self }
    return .source(name, types: types, null: filled)
  }

  /// Types on the way that do not hold all values of the one before.
  package var narrowings: Int {
    guard case .source(_, let types, _) = self else { return 0 }
    return zip(types, types.dropFirst()).count { !$1.holds($0) }
  }
}

extension AttributeType {
  /// Whether a type holds every number of another one. What cannot be changed into it at all does not concern
  /// inference.
  fileprivate func holds(_ other: AttributeType) -> Bool {
    let integers: [AttributeType] = [.boolean, .integer16, .integer32, .integer64]
    guard let size = integers.firstIndex(of: other) else { return !integers.contains(self) && self != .float }
    if let own = integers.firstIndex(of: self) { return own >= size }
    return self == .decimal || size <= (self == .float ? 1 : 2)
  }
}
