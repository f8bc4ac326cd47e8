import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// Resolves the names in the rules of an entity mapping. ``MappingCheck`` has compared them with the models before.
struct RuleCompiler {
  let mapping: EntityMapping
  let source: SourceEntity
  let destination: DestinationEntity
  let graph: SourceGraph
  let entities: [String: DestinationEntity]
  let now: Double
  let seed: String
  /// The step's entity mappings.
  let drafts: [MappingDraft]
  /// The place of the entity mapping in its step, and of the object rule at hand in it.
  var places: [Int]
  /// Relationships that wait for all objects.
  var late: Set<String> = []

  func compile(_ rules: MappingRules) throws -> CompiledRules {
    var context = RuleContext()
    let attributes = try rules.attributes.map { try attribute($0, of: destination, context) }
    let relationships = try rules.relationships.map { try relationship($0, of: destination, context) }
    let waiting = relationships.filter { late.contains($0.name) }
    let objects = try rules.objects.enumerated().map { place, rule in
      var compiler = self
      compiler.places.append(place)
      let made = try compiler.object(rule, context)
      if let name = rule.givenName { context.made[name] = (place, rule.entity, rule.forEach) }
      return made
    }
    return CompiledRules(
      attributes: attributes, relationships: relationships.filter { !late.contains($0.name) }, late: waiting,
      objects: objects)
  }

  func failure(_ what: String) -> BatchError {
    BatchError(
      .badMapping, "\(mapping.name) names \(what), which the models do not have",
      hint: "Correct the name", entity: mapping.destinationEntity)
  }

  private func entity(_ name: String) throws -> DestinationEntity {
    guard let entity = entities[name] else { throw failure("the entity \(name)") }
    return entity
  }

  private func object(_ rule: ObjectRule, _ outer: RuleContext) throws -> CompiledObjectRule {
    let entity = try entity(rule.entity)
    var context = outer
    let forEach = try rule.forEach.map { name in
      let (collection, item) = try self.collection(name)
      (context.item, context.forEach) = (item, name)
      return collection
    }
    let link = try rule.link.map { (name: $0, isToMany: try isToMany($0, of: destination)) }
    return CompiledObjectRule(
      kind: rule.kind, entity: rule.entity, table: entity.table, forEach: forEach,
      condition: try rule.condition.map { try condition($0, context) },
      key: try rule.key.map { try attribute($0, of: entity, context) },
      attributes: try rule.attributes.map { try attribute($0, of: entity, context) },
      relationships: try rule.relationships.map { try relationship($0, of: entity, context) }, link: link,
      isNamed: rule.givenName != nil)
  }

  /// What a name of the source means that is gone through, and what `$item` is then.
  func collection(_ name: String) throws -> (RuleCollection, RuleContext.Item?) {
    if let relationship = source.relationships[name] {
      return (.objects(name), graph.entities[relationship.destination].map { .object($0) })
    }
    guard let attribute = source.attributes[name] else {
      throw failure("the relationship or array \(source.name).\(name)")
    }
    return (.elements(attribute, name: name), .element)
  }

  private func attribute(
    _ attribute: RuleAttribute, of entity: DestinationEntity, _ context: RuleContext
  ) throws -> CompiledRuleAttribute {
    var attribute = attribute
    attribute.name = entity.path(of: attribute.name)
    guard let stored = entity.attributes[attribute.name] else {
      throw failure("the attribute \(entity.name).\(attribute.name)")
    }
    try check(attribute, stored.type, in: context)
    var (rule, limit) = (attribute.value, CompiledCondition?.none)
    if case .when(let predicate, let value) = rule { (rule, limit) = (value, try condition(predicate, context)) }
    let value = try value(rule, context, name: attribute.name, of: entity)
    if value.mayLieOutside, !stored.isExternal {
      throw StoredAttribute.staysOutside(attribute.name, of: entity.name)
    }
    return CompiledRuleAttribute(
      name: attribute.name, stored: stored, value: stored.isExternal ? value.inExternalStorage : value,
      condition: limit)
  }

  private func isToMany(_ name: String, of entity: DestinationEntity) throws -> Bool {
    guard let relationship = entity.relationships[name] else {
      throw failure("the relationship \(entity.name).\(name)")
    }
    if case .ownKey = relationship.storage { return false }
    return true
  }

  private func relationship(
    _ relationship: RuleRelationship, of entity: DestinationEntity, _ context: RuleContext
  ) throws -> CompiledRuleRelationship {
    if let reason = relationship.target.undecided { throw undecided(relationship.name, reason, write: "target") }
    return CompiledRuleRelationship(
      name: relationship.name, isToMany: try isToMany(relationship.name, of: entity),
      target: try target(relationship.target, context))
  }

  func target(_ target: RuleTarget, _ context: RuleContext) throws -> CompiledRuleTarget {
    switch target {
    case .found(let name, let key, _): return .found(entity: name, try attribute(key, of: entity(name), context))
    case .made(let name):
      guard let made = context.made[name] else { throw failure("the object $\(name)") }
      return .made(made.place, ofItem: made.forEach != nil && made.forEach == context.forEach)
    case .when(let predicate, let target):
      return .when(try condition(predicate, context), try self.target(target, context))
    case .item, .related(_, ofItem: true):
      guard context.entity != nil else { throw failure("objects of $item, which is no object,") }
      return .known(target)
    case .one(let target, let takesLast): return .one(try self.target(target, context), takesLast: takesLast)
    case .destination, .related, .undecided: return .known(target)
    }
  }
}
