import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// The objects that rules work on: the source's row, the related object at hand, and the mapping's own object.
struct RuleRow {
  let source: SourceObject
  var item: SourceObject?
  let object: DestinationObject
  let manager: StepObjects

  func origin(_ ofItem: Bool) -> SourceObject { ofItem ? item ?? source : source }

  /// Evaluates an expression; what does not fit in it is an error of the row.
  func evaluating<Result>(_ usesItem: Bool, _ body: (ExpressionScope) throws -> Result) throws -> Result {
    var scope = ExpressionScope(source: source)
    if usesItem, let item { scope.bound = [.source(item)] }
    (scope.destination, scope.manager) = (object, manager)
    do { return try body(scope) } catch let damage as ExpressionDamage { throw failure("an expression \(damage)") }
  }

  func holds(_ condition: CompiledPredicate) throws -> Bool { try evaluating(false) { try condition.holds($0) } }

  func failure(_ message: String, _ hint: String? = nil) -> BatchError {
    BatchError(.policyFailed, message, hint: hint, entity: source.entityName, key: source.key)
  }
}

/// Rules with their names resolved.
final class CompiledRules: @unchecked Sendable {
  // Sendable: nothing changes after init.
  let attributes: [CompiledRuleAttribute]
  let relationships: [CompiledRuleRelationship]
  let objects: [CompiledObjectRule]

  init(
    attributes: [CompiledRuleAttribute], relationships: [CompiledRuleRelationship], objects: [CompiledObjectRule]
  ) {
    (self.attributes, self.relationships, self.objects) = (attributes, relationships, objects)
  }

  /// Does for one source object what the rules say; `object` is the mapping's own one.
  func run(_ source: SourceObject, object: DestinationObject, manager: StepObjects) throws {
    let row = RuleRow(source: source, item: nil, object: object, manager: manager)
    for attribute in attributes { try attribute.set(in: object, row) }
    for relationship in relationships { try relationship.set(in: object, row) }
    for rule in objects { try rule.run(row) }
  }
}

/// An attribute that a rule sets.
struct CompiledRuleAttribute {
  let name: String
  let stored: StoredAttribute
  let value: CompiledRuleValue

  func set(in object: DestinationObject, _ row: RuleRow) throws {
    if case .attribute(let origin, let ofItem) = value, origin.type == stored.type,
      try object.set(stored, from: row.origin(ofItem), origin)
    {
      return
    }
    try object.assign(column: stored.position, stored.type.stored(try fitting(row)))
  }

  /// The value in the attribute's type.
  func fitting(_ row: RuleRow) throws -> Value {
    let value = try value.evaluate(row)
    guard let fitting = stored.type.fitting(value) else {
      throw row.failure(
        "the value of \(name) does not fit the type \(stored.type)", "Add cast to the rule, or a date format")
    }
    return fitting
  }
}

/// A relationship that a rule sets.
struct CompiledRuleRelationship {
  let name: String
  let isToMany: Bool
  let target: CompiledRuleTarget

  func set(in object: DestinationObject, _ row: RuleRow) throws {
    for other in try target.objects(row) { try connect(object, other) }
  }

  private func connect(_ object: DestinationObject, _ other: DestinationObject) throws {
    if isToMany { try object.add(other, to: name) } else { try object.set(name, to: other) }
  }
}

/// Objects that a rule means.
enum CompiledRuleTarget {
  case known(RuleTarget)
  case found(entity: String, CompiledRuleAttribute)

  func objects(_ row: RuleRow) throws -> [DestinationObject] {
    switch self {
    case .known(.destination): return [row.object]
    case .known(.item): return try row.item.flatMap { try row.manager.destination(of: $0) }.map { [$0] } ?? []
    case .known(.related(let name, let ofItem)):
      return try row.manager.destinationInstances(
        forSourceRelationshipNamed: name, sourceInstances: [row.origin(ofItem)])
    case .known(.found): return []
    case .found(let entity, let key):
      return try row.manager.find(entity, attribute: key.name, value: key.fitting(row)).map { [$0] } ?? []
    }
  }
}

/// A further object, made or found for each row or for each object of a relationship.
struct CompiledObjectRule {
  var kind: ObjectRule.Kind
  var entity: String
  var table: Int
  var forEach: String?
  var condition: CompiledPredicate?
  var key: CompiledRuleAttribute?
  var attributes: [CompiledRuleAttribute]
  var relationships: [CompiledRuleRelationship]
  var link: (name: String, isToMany: Bool)?

  func run(_ row: RuleRow) throws {
    if let condition, try !row.holds(condition) { return }
    guard let forEach else { return try make(row) }
    var row = row
    for item in try row.source.objects(forEach) {
      row.item = item
      try make(row)
    }
  }

  private func make(_ row: RuleRow) throws {
    let first = row.manager.nextKeys[table]
    guard let object = try object(row) else { return }
    if row.manager.nextKeys[table] != first {
      for attribute in attributes { try attribute.set(in: object, row) }
      for relationship in relationships { try relationship.set(in: object, row) }
    }
    guard let link else { return }
    if link.isToMany { try row.object.add(object, to: link.name) } else { try row.object.set(link.name, to: object) }
  }

  /// Nil if nothing is found, or if the value that it is found by is NULL.
  private func object(_ row: RuleRow) throws -> DestinationObject? {
    guard let key else { return try row.manager.insert(entity: entity) }
    if kind == .findOrCreate, case .attribute(let origin, let ofItem) = key.value, origin.type == key.stored.type {
      return try row.manager.findOrCreate(
        entity, attribute: key.name, own: key.stored, from: row.origin(ofItem), other: origin)
    }
    let value = try key.fitting(row)
    guard value != .null else { return nil }
    return kind == .find
      ? try row.manager.find(entity, attribute: key.name, value: value)
      : try row.manager.findOrCreate(entity, attribute: key.name, value: value)
  }
}
