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
  /// The place of the entity mapping in its step, and of the object rule at hand in it.
  var places: [Int]

  func compile(_ rules: MappingRules) throws -> CompiledRules {
    CompiledRules(
      attributes: try rules.attributes.map { try attribute($0, of: destination, item: nil) },
      relationships: try rules.relationships.map { try relationship($0, of: destination, item: nil) },
      objects: try rules.objects.enumerated().map { index, rule in
        var compiler = self
        compiler.places.append(index)
        return try compiler.object(rule)
      })
  }

  private func failure(_ what: String) -> BatchError {
    BatchError(
      .badMapping, "\(mapping.name) names \(what), which the models do not have",
      hint: "Correct the name", entity: mapping.destinationEntity)
  }

  private func entity(_ name: String) throws -> DestinationEntity {
    guard let entity = entities[name] else { throw failure("the entity \(name)") }
    return entity
  }

  private func object(_ rule: ObjectRule) throws -> CompiledObjectRule {
    let entity = try entity(rule.entity)
    var item: SourceEntity?
    if let name = rule.forEach {
      guard let relationship = source.relationships[name] else {
        throw failure("the relationship \(source.name).\(name)")
      }
      item = graph.entities[relationship.destination]
    }
    let link = try rule.link.map { (name: $0, isToMany: try isToMany($0, of: destination)) }
    return CompiledObjectRule(
      kind: rule.kind, entity: rule.entity, table: entity.table, forEach: rule.forEach,
      condition: try rule.condition.map(condition), key: try rule.key.map { try attribute($0, of: entity, item: item) },
      attributes: try rule.attributes.map { try attribute($0, of: entity, item: item) },
      relationships: try rule.relationships.map { try relationship($0, of: entity, item: item) }, link: link)
  }

  private func attribute(
    _ attribute: RuleAttribute, of entity: DestinationEntity, item: SourceEntity?
  ) throws -> CompiledRuleAttribute {
    guard let stored = entity.attributes[attribute.name] else {
      throw failure("the attribute \(entity.name).\(attribute.name)")
    }
    if stored.type == .date { try checkEpoch(attribute, item) }
    if let kind = attribute.value.perRowKinds.first(where: { $0.type != stored.type }) {
      throw BatchError(
        .badMapping, "\(mapping.name).\(attribute.name) has \(kind): per-row, and its type is \(stored.type)",
        hint: "Only attributes of the type \(kind) take it: leave it out", entity: mapping.destinationEntity)
    }
    let value = try value(attribute.value, item: item, name: attribute.name, of: entity)
    if case .attribute(let origin, _) = value, origin.isExternal || stored.isExternal,
      origin.isExternal != stored.isExternal
    {
      throw BatchError(
        .badMapping, "\(attribute.name) changes whether its data may lie outside of the store, which is not supported",
        hint: "Keep 'Allows External Storage' as it was", entity: entity.name)
    }
    return CompiledRuleAttribute(name: attribute.name, stored: stored, value: value)
  }

  /// A number that is computed becomes a date only where the rule says from when it counts.
  private func checkEpoch(_ attribute: RuleAttribute, _ item: SourceEntity?) throws {
    let measure = attribute.value.measure {
      Measure.of($0, graph.binding.layout.model, source: source.name, item: item?.name)
    }
    guard measure == .number else { return }
    throw BatchError(
      .badMapping, "\(mapping.name).\(attribute.name) makes a date of a number and does not say from when it counts",
      hint: Measure.hint, entity: mapping.destinationEntity)
  }

  private func isToMany(_ name: String, of entity: DestinationEntity) throws -> Bool {
    guard let relationship = entity.relationships[name] else {
      throw failure("the relationship \(entity.name).\(name)")
    }
    if case .ownKey = relationship.storage { return false }
    return true
  }

  private func relationship(
    _ relationship: RuleRelationship, of entity: DestinationEntity, item: SourceEntity?
  ) throws -> CompiledRuleRelationship {
    let target: CompiledRuleTarget
    switch relationship.target {
    case .found(let name, let key, _):
      target = .found(entity: name, try attribute(key, of: self.entity(name), item: item))
    case let known: target = .known(known)
    }
    return CompiledRuleRelationship(
      name: relationship.name, isToMany: try isToMany(relationship.name, of: entity), target: target)
  }

  private func value(
    _ value: RuleValue, item: SourceEntity?, name: String, of entity: DestinationEntity
  ) throws -> CompiledRuleValue {
    func inner(_ value: RuleValue) throws -> CompiledRuleValue {
      try self.value(value, item: item, name: name, of: entity)
    }
    return switch value {
    case .expression(let expression): try compiled(expression, item: item, name: name)
    case .date(let value, let pattern): .date(try inner(value), pattern)
    case .cast(let value, let type): .cast(try inner(value), type)
    case .sum(let values): .sum(try values.map(inner))
    case .join(let values, let separator): .join(try values.map(inner), separator: separator)
    case .split(let value, let separator, let part): .split(try inner(value), separator: separator, part: part)
    case .prefix(let value, let length): .prefix(try inner(value), length)
    case .lookup(let value, let table): .lookup(try inner(value), table)
    case .choice(let condition, let value, let other):
      .choice(try self.condition(condition), try inner(value), else: try inner(other))
    case .fallback(let value, let other): .fallback(try inner(value), try inner(other))
    // No two objects of a store have the same one: not of different rules, mappings or steps, either.
    case .perRow(.date): .moment(now)
    case .perRow(.uuid):
      .uuid([
        graph.reader.metadata.uuid, graph.binding.layout.model.versionChecksum, "\(places)", entity.name, name,
      ])
    }
  }
}

extension RuleCompiler {

  /// Attributes are taken as they lie; everything else is an expression as in a mapping model.
  private func compiled(_ expression: Expression, item: SourceEntity?, name: String) throws -> CompiledRuleValue {
    let ofItem = expression.usesItem
    guard !ofItem || item != nil else { throw failure("$item without forEach in \(name)") }
    if case .constant(let value) = expression { return .constant(value) }
    if case .keyPath(.variable(ofItem ? "item" : "source"), let path) = expression, path.count == 1,
      let attribute = (ofItem ? item : source)?.attributes[path[0]]
    {
      return .attribute(attribute, ofItem: ofItem)
    }
    var compiler = ExpressionCompiler(graph: graph, mapping: mapping, source: source)
    (compiler.destination, compiler.now) = (destination, now)
    if ofItem, let item { compiler.bind("item", item) }
    do { return .expression(try compiler.compile(expression).expression, usesItem: ofItem) } catch let damage
      as ExpressionDamage
    {
      throw unsupported("the expression of \(name)", damage)
    }
  }

  /// A predicate of the source object, which is `SELF` and `$source`.
  private func condition(_ predicate: Predicate) throws -> CompiledPredicate {
    var compiler = ExpressionCompiler(graph: graph, mapping: mapping, source: source)
    do { return try compiler.compile(predicate) } catch let damage as ExpressionDamage {
      throw unsupported("the predicate \(predicate)", damage)
    }
  }

  private func unsupported(_ what: String, _ damage: ExpressionDamage) -> BatchError {
    BatchError(
      .badMapping, "\(mapping.name): \(damage.sentence(of: what))", hint: damage.hint ?? "Use a policy in Swift",
      entity: mapping.destinationEntity)
  }
}
