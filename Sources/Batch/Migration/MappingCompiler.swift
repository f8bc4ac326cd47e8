import Streams

/// Turns an entity mapping into sources for the columns of its destination table.
struct MappingCompiler {
  let drafts: StepDraft
  let now: Double

  private var layout: StoreLayout { drafts.layout }

  func compile(_ draft: MappingDraft) throws -> CompiledMapping {
    var columns = draft.destination.template.map { ColumnSource.value($0) }
    // An inferred migration changes rows in place and keeps Z_OPT; a mapped one makes new objects.
    let positions = drafts.graph.binding.tables[draft.source.table].positions
    columns[2] = drafts.step.isInferred ? .borrow(positions[2], missing: .integer(1)) : .value(.integer(1))
    for property in draft.mapping.attributeMappings { try attribute(property, draft, &columns) }
    for property in draft.mapping.relationshipMappings { try toOne(property, draft, &columns) }
    try inverselessOwners(draft, &columns)
    unknown(draft, &columns)
    return CompiledMapping(
      mapping: draft.mapping, source: draft.source, destination: draft.destination, offset: draft.offset,
      policy: try policy(draft), columns: columns)
  }

  /// Rules find their names once, not with every row.
  private func policy(_ draft: MappingDraft) throws -> (any EntityMigrationPolicy)? {
    guard let rules = draft.policy as? RulePolicy else { return draft.policy }
    return try rules.compiled(
      for: draft.mapping, source: draft.source, destination: draft.destination, sources: drafts.graph.entities,
      entities: drafts.entities, now: now)
  }

  /// Columns that the model does not know are kept in an identity migration, the only one whose layout has them.
  private func unknown(_ draft: MappingDraft, _ columns: inout [ColumnSource]) {
    let source = drafts.graph.binding.tables[draft.source.table]
    for (index, column) in layout.entityTables[draft.destination.table].columns.enumerated() {
      guard case .unknown = column.role else { continue }
      let position = source.positions[index]
      columns[index] = .borrow(position, missing: source.schema.columns[position].defaultValue ?? .null)
    }
  }

  private func attribute(_ property: PropertyMapping, _ draft: MappingDraft, _ columns: inout [ColumnSource]) throws {
    guard let target = draft.destination.attributes[property.name] else { return }
    var sourceName = property.name
    switch property.valueExpression {
    case nil: break
    case .keyPath(.variable("source"), let path) where path.count == 1: sourceName = path[0]
    case .some(let expression):
      let compiled = try CompiledExpression(
        expression, mapping: draft.mapping, property: property.name, now: now)
      if case .constant(let value) = compiled {
        columns[target.position] = .value(target.type.stored(value))
      } else {
        columns[target.position] = .expression(compiled, target.type)
      }
      return
    }
    guard let source = draft.source.attributes[sourceName] else {
      guard property.valueExpression != nil else { return }
      throw BatchError(
        .badMapping, "\(draft.mapping.name).\(property.name) reads \(sourceName), which the source does not have",
        entity: draft.source.name)
    }
    columns[target.position] = try copy(source, to: target, draft, property.name)
  }

  private func copy(
    _ source: StoredAttribute, to target: StoredAttribute, _ draft: MappingDraft, _ name: String
  ) throws -> ColumnSource {
    let schema = drafts.graph.binding.tables[draft.source.table].schema.columns[source.position]
    let missing = schema.defaultValue ?? .null
    guard source.isExternal == target.isExternal else {
      throw BatchError(
        .badMapping, "\(name) changes whether its data may lie outside of the store, which is not supported",
        hint: "Keep 'Allows External Storage' as it was", entity: draft.destination.name)
    }
    if source.type == target.type { return .borrow(source.position, missing: missing) }
    guard source.type.isNumeric, target.type.isNumeric else {
      throw BatchError(
        .badMapping, "\(name) changes from \(source.type) to \(target.type), which needs a value expression or a policy",
        entity: draft.destination.name)
    }
    return .convert(source.position, missing: missing, from: source.type, to: target.type)
  }

  private func toOne(_ property: PropertyMapping, _ draft: MappingDraft, _ columns: inout [ColumnSource]) throws {
    guard let relationship = draft.destination.relationships[property.name],
      case .ownKey(_, let column, let entityColumn, let orderColumn) = relationship.storage
    else { return }
    guard let origin = try RelationshipOrigin(property, draft, drafts) else {
      return try formerlyInverseless(relationship, draft, &columns)
    }
    guard case .ownKey(let table, let key, let sourceEntity, let sourceOrder) = origin.relationship.storage else {
      throw BatchError(
        .badMapping, "\(property.name) would become a to-one relationship of the to-many \(origin.name)",
        hint: "Choose the object in a policy", entity: draft.destination.name)
    }
    let positions = drafts.graph.binding.tables[table].positions
    let map = drafts.keyMap(
      origin.relationship.destination, via: origin.mappingName, to: relationship.destination,
      entityPosition: sourceEntity.map { positions[$0] })
    columns[column] = map.isIdentity ? .borrow(positions[key], missing: .null) : .key(positions[key], map)
    if let entityColumn { columns[entityColumn] = .keyEntity(positions[key], map) }
    if let orderColumn {
      columns[orderColumn] = sourceOrder.map { .borrow(positions[$0], missing: .null) } ?? .order(positions[key])
    }
  }

  /// A to-many that had no inverse kept its keys in the destination's rows: a new inverse to-one takes them over.
  private func formerlyInverseless(
    _ relationship: StoredRelationship, _ draft: MappingDraft, _ columns: inout [ColumnSource]
  ) throws {
    guard let inverse = relationship.inverse,
      case .ownKey(_, let column, let entityColumn, let orderColumn) = relationship.storage
    else { return }
    for owner in drafts.drafts where layout.model.isKind(owner.destination.name, of: relationship.destination) {
      guard let property = owner.mapping.relationshipMappings.first(where: { $0.name == inverse }),
        let origin = try RelationshipOrigin(property, owner, drafts),
        case .ownerKey(let table, let key, let order) = origin.relationship.storage, table == draft.source.table
      else { continue }
      let positions = drafts.graph.binding.tables[table].positions
      let map = KeyMap(byNumber: [], single: .init(offset: owner.offset, number: owner.destination.number))
      columns[column] = .key(positions[key], map)
      if let entityColumn { columns[entityColumn] = .keyEntity(positions[key], map) }
      if let orderColumn {
        columns[orderColumn] = order.map { .borrow(positions[$0], missing: .null) } ?? .order(positions[key])
      }
      return
    }
  }

  /// Keys of to-many relationships without inverse lie in the destination's rows, so they are carried with those.
  private func inverselessOwners(_ draft: MappingDraft, _ columns: inout [ColumnSource]) throws {
    for owner in drafts.drafts {
      for property in owner.mapping.relationshipMappings {
        guard let relationship = owner.destination.relationships[property.name],
          case .ownerKey(let table, let column, let orderColumn) = relationship.storage, table == draft.destination.table,
          layout.model.isKind(draft.destination.name, of: relationship.destination),
          let origin = try RelationshipOrigin(property, owner, drafts),
          case .ownerKey(let sourceTable, let key, let sourceOrder) = origin.relationship.storage,
          sourceTable == draft.source.table
        else { continue }
        let positions = drafts.graph.binding.tables[sourceTable].positions
        let map = KeyMap(byNumber: [], single: .init(offset: owner.offset, number: owner.destination.number))
        columns[column] = .key(positions[key], map)
        if let orderColumn {
          columns[orderColumn] = sourceOrder.map { .borrow(positions[$0], missing: .null) } ?? .order(positions[key])
        }
      }
    }
  }
}

/// The source relationship that a relationship mapping carries over.
struct RelationshipOrigin {
  var name: String
  var relationship: StoredRelationship
  /// The entity mapping whose objects are meant; nil for any that fits.
  var mappingName: String?

  /// Nil when nothing is carried over: no expression, and the source has no relationship of that name (D.2).
  init?(_ property: PropertyMapping, _ draft: MappingDraft, _ drafts: StepDraft) throws {
    guard let expression = property.valueExpression else {
      guard let same = draft.source.relationships[property.name] else { return nil }
      (name, relationship) = (property.name, same)
      return
    }
    if expression == .constant(.null) { return nil }
    guard let (path, mapping) = Self.understand(expression) else {
      throw BatchError(
        .badMapping, "the value expression of \(draft.mapping.name).\(property.name) is not supported: \(expression)",
        hint: "Set the relationship in a policy", entity: draft.mapping.destinationEntity)
    }
    guard let found = draft.source.relationships[path] else {
      throw BatchError(
        .badMapping, "\(draft.mapping.name).\(property.name) reads \(path), which the source does not have",
        entity: draft.source.name)
    }
    (name, relationship, mappingName) = (path, found, mapping)
  }

  private static func understand(_ expression: Expression) -> (path: String, mapping: String?)? {
    switch expression {
    case .keyPath(.variable("source"), let path) where path.count == 1: (path[0], nil)
    case .function(.some(.variable("manager")), let name, let arguments) where arguments.count == 2:
      switch (name, arguments[0], arguments[1]) {
      case (
        "destinationInstancesForEntityMappingNamed:sourceInstances:", .constant(.text(let mapping)),
        .keyPath(.variable("source"), let path)
      ) where path.count == 1:
        (path[0], mapping)
      case (
        "destinationInstancesForSourceRelationshipNamed:sourceInstances:", _, .keyPath(.variable("source"), let path)
      ) where path.count == 1:
        (path[0], nil)
      default: nil
      }
    default: nil
    }
  }
}

extension StepDraft {
  /// How keys that lead to objects of a source entity move.
  func keyMap(_ sourceEntity: String, via mappingName: String?, to destinationEntity: String, entityPosition: Int?) -> KeyMap {
    func target(_ source: SourceEntity) -> KeyMap.Target? {
      drafts.first {
        $0.source === source && (mappingName == nil || $0.mapping.name == mappingName)
          && layout.model.isKind($0.destination.name, of: destinationEntity)
      }.map { KeyMap.Target(offset: $0.offset, number: $0.destination.number) }
    }
    let byNumber = graph.byNumber.map { entity in
      entity.flatMap { graph.binding.layout.model.isKind($0.name, of: sourceEntity) ? target($0) : nil }
    }
    let single = graph.entities[sourceEntity].flatMap(target)
    return KeyMap(entityPosition: entityPosition, byNumber: byNumber, single: single)
  }
}

extension AttributeType {
  var isNumeric: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean: true
    default: false
    }
  }
}
