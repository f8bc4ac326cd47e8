import CoreDataModel
import MappingModels

/// Two ways from one version to another by inference: directly, and step by step; and of both what keeps most.
struct InferenceChoice {
  /// Where everything comes from.
  typealias Entities = [String: InferredTrail.Entity]

  let first: ManagedObjectModel
  let last: ManagedObjectModel
  private let ways: [InferencePath: Entities]
  /// By entity of the last version, the entity whose objects it gets.
  private let pairs: [String: String]
  /// What keeps most: of one way, or of both together. Nil if they cannot be combined.
  private(set) var best: Entities?

  init(direct: InferredTrail, stepwise: InferredTrail) {
    (first, last) = (direct.first, direct.latest)
    ways = [.direct: direct.entities, .stepwise: stepwise.entities]
    pairs = Self.pairs(ways)
    if InferenceDifference.names(direct.entities, stepwise.entities, in: last).isEmpty {
      best = stepwise.entities
    } else if keepsTables {
      best = merged()
    }
  }

  func entities(_ way: InferencePath) -> Entities { ways[way] ?? [:] }

  /// The way that gives what keeps most, step by step where both do; nil if neither gives all of it.
  var bestWay: InferencePath? {
    guard let best else { return nil }
    return InferencePath.all.first { InferenceDifference.names(entities($0), best, in: last).isEmpty }
  }

  /// The way to take where both cannot be combined.
  var betterWay: InferencePath {
    InferredRanks.isBetter(ranks(entities(.direct)), than: ranks(entities(.stepwise))) ? .direct : .stepwise
  }

  /// What keeps most as one step. What version by version would compute on the way is no value of the store, and not to
  /// be had there.
  var combined: Entities? {
    var combined = best ?? [:]
    for (name, entity) in combined {
      for (path, origin) in entity.attributes where !last.isDerived(path, of: name) {
        guard case .computed = origin else { continue }
        guard let other = trail(.direct, name)?.attributes[path] else { return nil }
        combined[name]?.attributes[path] = other
      }
    }
    return best == nil ? nil : combined
  }

  /// What a way keeps of the first version.
  func ranks(_ entities: Entities) -> [String: Int] { InferredRanks.of(entities, in: last) }

  // MARK: Entities

  private static func pairs(_ ways: [InferencePath: Entities]) -> [String: String] {
    var groups = InferenceGroups()
    for (way, entities) in ways {
      for (name, entity) in entities {
        groups.tie(.source(entity.source), .destination(name))
        groups.keep(entity.source, at: .destination(name), way)
      }
    }
    let isDirect = groups.direct()
    let names = Set(ways.values.flatMap(\.keys))
    return names.reduce(into: [:]) { pairs, name in
      pairs[name] = ways[isDirect(.destination(name)) ? .direct : .stepwise]?[name]?.source
    }
  }

  /// Entities of different tables cannot come into one: their keys would collide.
  private var keepsTables: Bool {
    var roots: [String: String] = [:]
    return pairs.allSatisfy { name, source in
      let root = first.root(of: source)
      return roots.updateValue(root, forKey: last.root(of: name)).map { $0 == root } ?? true
    }
  }

  // MARK: Properties

  /// What a way has for an entity that gets its objects in the same way.
  private func trail(_ way: InferencePath, _ name: String) -> InferredTrail.Entity? {
    ways[way]?[name].flatMap { $0.source == pairs[name] ? $0 : nil }
  }

  private func merged() -> Entities {
    let isDirect = groups().direct()
    var found: Entities = [:]
    for (name, source) in pairs {
      let (direct, stepwise) = (trail(.direct, name), trail(.stepwise, name))
      guard let some = stepwise ?? direct else { continue }
      var entity = InferredTrail.Entity(source: source, attributes: some.attributes, relationships: [:])
      if let direct, stepwise != nil {
        // The same values, but wider: what version by version fills in if there are none is filled in all the same.
        for path in some.attributes.keys where isDirect(.destination(last.declared(path, of: name))) {
          entity.attributes[path] = direct.attributes[path]?.filled(like: some.attributes[path])
        }
      }
      for relationship in last.relationships(of: name) where !relationship.isTransient {
        let way = isDirect(.destination(last.declared(relationship.name, of: name))) ? direct : stepwise
        guard let source = way?.relationships[relationship.name], leads(source, way, to: relationship) else { continue }
        entity.relationships[relationship.name] = source
      }
      found[name] = entity
    }
    return found
  }

  private func groups() -> InferenceGroups {
    var groups = InferenceGroups()
    for (model, place) in [(first, InferenceGroups.Place.source), (last, InferenceGroups.Place.destination)] {
      for entity in model.entities {
        for relationship in entity.relationships {
          guard let inverse = relationship.inverseName else { continue }
          groups.tie(
            place(model.declared(relationship.name, of: entity.name)),
            place(model.declared(inverse, of: relationship.destinationEntity)))
        }
      }
    }
    for way in InferencePath.all {
      for name in pairs.keys { add(way, name, to: &groups) }
    }
    return groups
  }

  private func add(_ way: InferencePath, _ name: String, to groups: inout InferenceGroups) {
    guard let entity = trail(way, name) else { return }
    func keep(_ source: String, as path: String, narrowings: Int, _ groups: inout InferenceGroups) {
      let place = InferenceGroups.Place.destination(last.declared(path, of: name))
      groups.tie(.source(first.declared(source, of: entity.source)), place)
      groups.keep("\(entity.source).\(source)", at: place, way, narrowings: narrowings)
    }
    for (path, origin) in entity.attributes where !last.isDerived(path, of: name) {
      if case .source(let source, _, _) = origin { keep(source, as: path, narrowings: origin.narrowings, &groups) }
    }
    for relationship in last.relationships(of: name) {
      guard let source = entity.relationships[relationship.name], leads(source, entity, to: relationship) else {
        continue
      }
      keep(source, as: relationship.name, narrowings: 0, &groups)
    }
  }

  /// Whether the objects that a relationship leads to go where another one can lead.
  private func leads(_ source: String, _ entity: InferredTrail.Entity?, to relationship: RelationshipDescription)
    -> Bool
  {
    guard let other = first.relationship(source, of: entity?.source ?? "")?.destinationEntity else { return false }
    let heirs = pairs.filter { first.isKind($0.value, of: other) }.keys
    // Where no way has objects there, the relationship is kept without links.
    guard !heirs.isEmpty else {
      return !ways.values.contains { $0.values.contains { first.isKind($0.source, of: other) } }
    }
    return heirs.allSatisfy { last.isKind($0, of: relationship.destinationEntity) }
  }

  // MARK: Mappings

  /// The mappings of both ways together.
  func entityMappings(_ entities: Entities) -> [EntityMapping] {
    let made = last.entities.filter { !$0.isAbstract }.map { entity in
      guard let trail = entities[entity.name] else {
        return EntityMapping(sourceEntity: nil, destinationEntity: entity.name)
      }
      var mapping = EntityMapping(sourceEntity: trail.source, destinationEntity: entity.name)
      mapping.attributeMappings = trail.attributes.sorted { $0.key < $1.key }.map { path, origin in
        if case .computed = origin { return PropertyMapping(name: path, valueExpression: .constant(.null)) }
        return PropertyMapping(path, origin)
      }
      mapping.relationshipMappings = last.relationships(of: entity.name).filter { !$0.isTransient }.map {
        relationship in
        let carried = trail.relationships[relationship.name].map { name in
          Expression.destinationInstances(
            ofRelationship: name, source: .keyPath(operand: .variable("source"), path: [name]))
        }
        return PropertyMapping(name: relationship.name, valueExpression: carried ?? .constant(.null))
      }
      return mapping
    }
    let kept = Set(entities.values.map(\.source))
    let removed = first.entities.filter { !$0.isAbstract && !kept.contains($0.name) }
    let mappings = made + removed.map { EntityMapping(sourceEntity: $0.name, destinationEntity: nil) }
    return DerivedValues(source: first, destination: last, mappings: mappings).applied()
  }
}
