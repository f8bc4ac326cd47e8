import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// Rules with their names resolved.
final class CompiledRules: @unchecked Sendable {
  // Sendable: nothing changes after init.
  let attributes: [CompiledRuleAttribute]
  let relationships: [CompiledRuleRelationship]
  /// Relationships to objects that are not all there before the step's last object is: ``StepDraft/lateRules(of:)``.
  let late: [CompiledRuleRelationship]
  let objects: [CompiledObjectRule]

  init(
    attributes: [CompiledRuleAttribute], relationships: [CompiledRuleRelationship], late: [CompiledRuleRelationship],
    objects: [CompiledObjectRule]
  ) {
    (self.attributes, self.relationships, self.late, self.objects) = (attributes, relationships, late, objects)
  }

  /// Whether there is nothing to do.
  var isEmpty: Bool { attributes.isEmpty && relationships.isEmpty && late.isEmpty && objects.isEmpty }

  /// Sets what had to wait for all objects; `object` is the mapping's own one.
  func relate(_ source: SourceObject, object: DestinationObject, manager: StepObjects) throws {
    let row = RuleRow(source: source, object: object, manager: manager)
    for relationship in late { try relationship.set(in: object, row) }
  }

  /// Does for one source object what the rules say; `object` is the mapping's own one.
  func run(_ source: SourceObject, object: DestinationObject, manager: StepObjects) throws {
    var row = RuleRow(source: source, object: object, manager: manager)
    for attribute in attributes { try attribute.set(in: object, row) }
    for relationship in relationships { try relationship.set(in: object, row) }
    // What cannot be looked for is known now, while the object can still be rejected.
    for relationship in late { try relationship.target.checkKey(row) }
    if objects.contains(where: \.isNamed) { row.made = Array(repeating: [], count: objects.count) }
    for (place, rule) in objects.enumerated() { try rule.run(&row, place: place) }
  }
}

/// An attribute that a rule sets.
struct CompiledRuleAttribute {
  let name: String
  let stored: StoredAttribute
  let value: CompiledRuleValue
  /// If it does not hold, the attribute is as if there was no rule for it.
  var condition: CompiledCondition?

  func set(in object: DestinationObject, _ row: RuleRow) throws {
    if let condition, try !row.holds(condition) { return }
    if case .attribute(let attribute, let origin) = value, attribute.type == stored.type,
      let source = row.sourceObject(origin), try object.set(stored, from: source, attribute)
    {
      return
    }
    try object.assign(column: stored.position, stored.type.stored(try fitting(row)))
  }

  /// The value in the attribute's type.
  func fitting(_ row: some RuleScope) throws -> Value {
    let value = try evaluated(row)
    guard let fitting = stored.type.fitting(value) else {
      throw row.failure(
        "the value of \(name) does not fit the type \(stored.type)", "Add cast to the rule, or a date format")
    }
    return fitting
  }

  /// A rule that fails says whose value it is.
  private func evaluated(_ row: some RuleScope) throws -> Value {
    do { return try value.evaluate(row) } catch var error as BatchError {
      if error.code == .policyFailed { error.message = "\(name): \(error.message)" }
      throw error
    }
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
indirect enum CompiledRuleTarget {
  case known(RuleTarget)
  case found(entity: String, CompiledRuleAttribute)
  /// What the rule at a place has made for the row; `ofItem` for the item at hand alone.
  case made(Int, ofItem: Bool)
  case when(CompiledCondition, CompiledRuleTarget)
  case one(CompiledRuleTarget, takesLast: Bool)

  /// Throws what the value does by which an object is looked for.
  func checkKey(_ row: RuleRow) throws {
    switch self {
    case .found(_, let key): _ = try key.fitting(row)
    case .when(let condition, let target): if try row.holds(condition) { try target.checkKey(row) }
    case .one(let target, _): try target.checkKey(row)
    case .known, .made: break
    }
  }

  func objects(_ row: RuleRow) throws -> [DestinationObject] {
    switch self {
    case .known(.destination): return [row.object]
    case .known(.item):
      return try row.sourceObject(.item).flatMap { try row.manager.destination(of: $0) }.map { [$0] } ?? []
    case .known(.related(let name, let ofItem)):
      return try row.manager.destinationInstances(
        forSourceRelationshipNamed: name,
        sourceInstances: [row.sourceObject(ofItem ? .item : .source)].compactMap { $0 })
    case .known: return []
    case .found(let entity, let key):
      return try row.manager.find(entity, attribute: key.name, value: key.fitting(row)).map { [$0] } ?? []
    case .made(let place, let ofItem):
      return row.made[place].filter { !ofItem || $0.item == row.item?.key }.map(\.object)
    case .when(let condition, let target): return try row.holds(condition) ? target.objects(row) : []
    case .one(let target, let takesLast):
      let found = try target.objects(row)
      return [takesLast ? found.last : found.first].compactMap { $0 }
    }
  }
}

/// A further object, made or found for each row or for each thing that is gone through.
struct CompiledObjectRule {
  var kind: ObjectRule.Kind
  var entity: String
  var table: Int
  var forEach: RuleCollection?
  var condition: CompiledCondition?
  var key: CompiledRuleAttribute?
  var attributes: [CompiledRuleAttribute]
  var relationships: [CompiledRuleRelationship]
  var link: (name: String, isToMany: Bool)?
  /// Whether later rules may mean its object.
  var isNamed: Bool

  /// `place` is that of the rule among those of the mapping.
  func run(_ row: inout RuleRow, place: Int) throws {
    // A condition of the source object alone is asked once.
    let asksItems = condition?.origins.isEmpty == false
    if let condition, !asksItems, try !row.holds(condition) { return }
    guard let forEach else {
      try make(&row, place)
      return
    }
    var linked: Int64?
    for item in try row.items(forEach) {
      row.item = item
      if asksItems, let condition, try !row.holds(condition) { continue }
      let object = try make(&row, place)
      if let link, !link.isToMany, let object { try refuseSecond(object, after: &linked, of: link.name, row) }
    }
    row.item = nil
  }

  /// A to-one takes one object: the last one would replace those before, and nobody would know.
  private func refuseSecond(
    _ object: DestinationObject, after linked: inout Int64?, of link: String, _ row: RuleRow
  ) throws {
    guard let first = linked, first != object.key else { return linked = object.key }
    throw row.failure(
      "\(link) takes one object, and a rule with forEach links several",
      "Let its when hold for one $item alone, or link a to-many")
  }

  /// The object that was made or found.
  @discardableResult
  private func make(_ row: inout RuleRow, _ place: Int) throws -> DestinationObject? {
    let first = row.manager.nextKeys[table]
    guard let object = try object(row) else { return nil }
    if isNamed { row.made[place].append((row.item?.key, object)) }
    if row.manager.nextKeys[table] != first {
      for attribute in attributes { try attribute.set(in: object, row) }
      for relationship in relationships { try relationship.set(in: object, row) }
    }
    if let link {
      if link.isToMany { try row.object.add(object, to: link.name) } else { try row.object.set(link.name, to: object) }
    }
    return object
  }

  /// Nil if nothing is found, or if the value that it is found by is NULL.
  private func object(_ row: RuleRow) throws -> DestinationObject? {
    guard let key else { return try row.manager.insert(entity: entity) }
    if kind == .findOrCreate, case .attribute(let attribute, let origin) = key.value, attribute.type == key.stored.type,
      let source = row.sourceObject(origin)
    {
      return try row.manager.findOrCreate(
        entity, attribute: key.name, own: key.stored, from: source, other: attribute)
    }
    let value = try key.fitting(row)
    guard value != .null else { return nil }
    return kind == .find
      ? try row.manager.find(entity, attribute: key.name, value: value)
      : try row.manager.findOrCreate(entity, attribute: key.name, value: value)
  }
}
