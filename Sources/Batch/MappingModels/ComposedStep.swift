import CoreDataModel
import CoreDataStore
import Streams

/// One step without policies, as a composition looks at it.
struct ComposedStep {
  /// Two entities, and the mapping that makes an object of one of each object of the other.
  struct Pair {
    let source: String
    let destination: String
    let mapping: EntityMapping
    /// Whether all relationships of the objects keep their links as before.
    let keepsLinks: Bool
  }

  let source: VersionLayout
  let destination: VersionLayout
  let pairs: [Pair]
  /// By source entity, the destination entity of its objects.
  let heirs: [String: String]
  /// By name of a mapping, the source entity of its objects.
  private let named: [String: String]
  private let kept: KeptEntities
  private var changes: ModelChanges { kept.changes }
  /// Whether all objects stay objects of the same entity, in the same tables.
  private let isStraight: Bool

  /// Throws an obstacle if an entity has several mappings.
  init(_ mappings: [EntityMapping], source: VersionLayout, destination: VersionLayout) throws {
    let ends = mappings.compactMap { mapping in
      mapping.sourceEntity.flatMap { old in mapping.destinationEntity.map { (old: old, new: $0, mapping: mapping) } }
    }
    let heirs = Dictionary(ends.map { ($0.old, $0.new) }) { first, _ in first }
    guard heirs.count == ends.count, Set(heirs.values).count == ends.count else {
      throw MappingComposition.Obstacle(reason: "an entity has several mappings")
    }
    let kept = KeptEntities(from: source.model, to: destination.model)
    let isStraight = kept.changes.keepsEntities && heirs.allSatisfy { $0 == $1 && source.model.hasEntity($0) }
    (self.source, self.destination, self.heirs, self.kept, self.isStraight) =
      (source, destination, heirs, kept, isStraight)
    named = Dictionary(ends.map { ($0.mapping.name, $0.old) }) { first, _ in first }
    pairs = ends.map {
      Pair(
        source: $0.old, destination: $0.new, mapping: $0.mapping, keepsLinks: isStraight && kept.keepsLinks($0.mapping))
    }
  }

  /// Whether a relationship keeps its links as before: it stays as it is, and so does its inverse.
  func keepsLinks(_ property: PropertyMapping, _ mapping: EntityMapping) -> Bool {
    guard isStraight, property.valueExpression == nil, let name = mapping.sourceEntity,
      name == mapping.destinationEntity, let relationship = source.model.relationship(property.name, of: name),
      relationship == destination.model.relationship(property.name, of: name)
    else { return false }
    let other = relationship.destinationEntity
    // A to-one at the other end may name this one without being named.
    guard let inverse = relationship.inverseName else { return changes.keepsRelationships(of: other) }
    return source.model.relationship(inverse, of: other) == destination.model.relationship(inverse, of: other)
  }

  /// Whether the rows of every table go into one table, and no others into that.
  var keepsTables: Bool { isStraight || source.keepsTables(in: destination, heirs: heirs) }

  /// Orders destination entities as the step makes their objects: table by table of the source, by first mention, the
  /// tables of entities without objects included.
  func ordered(_ destinations: [String], _ sources: [String]) -> [String] {
    var mentions: [String: Int] = [:]
    let ranks = sources.enumerated().map { index, name in
      let table = source.table(ofEntity: name) ?? ""
      let rank = mentions[table] ?? index
      mentions[table] = rank
      return rank
    }
    return zip(ranks, destinations).enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }.map(
      \.element.1)
  }

  /// Where attributes come from that the step leaves as they are; nil if it has to be found for each of them.
  func unchanged(
    _ mapping: EntityMapping, _ origin: MappingComposition.Origin
  ) -> [String: MappingComposition.AttributeOrigin]? {
    if kept.keepsAttributes(mapping) { return origin.attributes }
    let old = source.model.attributes(of: mapping.sourceEntity ?? "")
    guard old == destination.model.attributes(of: mapping.destinationEntity ?? "") else { return nil }
    let isCopied = mapping.attributeMappings.lazy.filter { $0.valueExpression == nil }.map(\.name)
      .elementsEqual(old.lazy.filter { !$0.isTransient }.map(\.name))
    // Values of a type that stays are kept, constants as well.
    return isCopied ? origin.attributes : nil
  }

  /// Which of the source entity's attributes, own and inherited and by path, a mapping copies to an element of the
  /// attribute; nil for a new value.
  func source(
    _ property: PropertyMapping, of entity: String, attributes: [String: AttributeDescription], leaf: String,
    _ attribute: AttributeDescription
  ) throws -> (path: String, attribute: AttributeDescription)? {
    let name: String
    switch property.valueExpression {
    case nil: name = property.name
    case .keyPath(.variable("source"), let names) where names.count == 1: name = names[0]
    case .constant: return nil
    case .some(let expression):
      throw MappingComposition.Obstacle(reason: "\(property.name) is computed by \(expression)")
    }
    let isWhole = property.name == attribute.name
    let path = isWhole ? name + leaf.dropFirst(attribute.name.count) : name
    if let found = attributes[path] { return (path, found) }
    // An element that the source's composite attribute does not have is left at its default value.
    let old = isWhole ? source.model.attribute(name, of: entity) : nil
    if let origin = old.flatMap({ attribute.origin(of: leaf, in: $0) }), let found = attributes[origin] {
      return (origin, found)
    }
    guard isWhole && attribute.type == .composite || property.valueExpression == nil else {
      throw MappingComposition.Obstacle(reason: "\(property.name) reads \(name)")
    }
    return nil
  }

  /// The value, as stored, of an attribute that is taken from no other.
  func constant(_ property: PropertyMapping?, _ attribute: AttributeDescription) throws -> Value {
    guard case .constant(let value) = property?.valueExpression else {
      return attribute.defaultValue.map(attribute.type.stored) ?? .null
    }
    guard let fitting = attribute.type.fitting(value) else {
      throw MappingComposition.Obstacle(
        reason: "\(property?.name ?? attribute.name) gets a value that is no \(attribute.type)")
    }
    return attribute.type.stored(fitting)
  }

  /// The source relationship that a relationship mapping carries over; nil for none.
  func relationship(_ property: PropertyMapping, _ entity: String) throws -> String? {
    switch property.valueExpression {
    case nil: return source.model.relationship(property.name, of: entity) == nil ? nil : property.name
    case .constant(.null): return nil
    case .some(let expression):
      guard let (name, mapping) = expression.carriedRelationship else {
        throw MappingComposition.Obstacle(reason: "\(property.name) is computed by \(expression)")
      }
      if let mapping { try check(mapping, carriesAllOf: name, entity) }
      return name
    }
  }

  /// Makes sure that a mapping makes all objects that a relationship leads to.
  private func check(_ mapping: String, carriesAllOf name: String, _ entity: String) throws {
    let destination = source.model.relationship(name, of: entity)?.destinationEntity
    let others = heirs.keys.filter { heir in
      heir != named[mapping] && destination.map { source.model.isKind(heir, of: $0) } ?? true
    }
    guard named[mapping] != nil, others.isEmpty else {
      throw MappingComposition.Obstacle(reason: "\(mapping) makes a part of what \(name) leads to")
    }
  }

  /// Makes sure that whatever a relationship leads to is still led to, or is gone with its entity.
  func checkHeirs(of name: String, _ entity: String, as newName: String, _ newEntity: String) throws {
    guard let old = source.model.relationship(name, of: entity),
      let new = destination.model.relationship(newName, of: newEntity)
    else { throw MappingComposition.Obstacle(reason: "\(name) is not known") }
    for candidate in source.model.entities where source.model.isKind(candidate.name, of: old.destinationEntity) {
      guard let heir = heirs[candidate.name] else { continue }
      guard destination.model.isKind(heir, of: new.destinationEntity) else {
        throw MappingComposition.Obstacle(reason: "\(newName) has no place for objects of \(heir)")
      }
    }
  }
}

extension Expression {
  /// Whether an attribute's value is more than a constant or an attribute of the source.
  package var isComputed: Bool {
    switch self {
    case .constant: false
    case .keyPath(.variable("source"), let path): path.count > 1
    default: true
    }
  }

  /// Whether the expression needs nothing but the source object.
  var asksSourceAlone: Bool {
    switch self {
    case .constant, .decimal, .date, .variable("source"): true
    case .keyPath(let operand, _): operand.asksSourceAlone
    case .function(let operand, _, let arguments):
      operand?.asksSourceAlone ?? true && arguments.allSatisfy(\.asksSourceAlone)
    case .aggregate(let elements): elements.allSatisfy(\.asksSourceAlone)
    case .set(_, let left, let right): left.asksSourceAlone && right.asksSourceAlone
    case .evaluatedObject, .variable, .subquery, .conditional, .fetch: false
    }
  }

  /// The expression with the attributes that values come from; nil if one of them is another on the way.
  func moved(to origin: MappingComposition.Origin) -> Expression? {
    switch self {
    case .constant, .decimal, .date: return self
    case .keyPath(.variable("source"), let path) where path.count == 1:
      guard case .source(let name, let types, nil) = origin.attributes[path[0]], types.count == 1 else { return nil }
      return .keyPath(operand: .variable("source"), path: [name])
    case .function(nil, let name, let arguments):
      let moved = arguments.compactMap { $0.moved(to: origin) }
      return moved.count == arguments.count ? .function(operand: nil, name: name, arguments: moved) : nil
    default: return nil
    }
  }
}
