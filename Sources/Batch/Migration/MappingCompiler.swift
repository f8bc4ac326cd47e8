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
    var expressions: [PropertyExpression] = []
    for property in draft.mapping.attributeMappings { try attribute(property, draft, &columns, &expressions) }
    for property in draft.mapping.relationshipMappings { try toOne(property, draft, &columns, &expressions) }
    try inverselessOwners(draft, &columns)
    unknown(draft, &columns)
    return CompiledMapping(
      mapping: draft.mapping, source: draft.source, destination: draft.destination, offset: draft.offset,
      policy: try policy(draft), columns: columns, filter: draft.filter, expressions: expressions)
  }

  /// Rules find their names once, not with every row.
  private func policy(_ draft: MappingDraft) throws -> (any EntityMigrationPolicy)? {
    guard let rules = draft.policy as? RulePolicy else { return draft.policy }
    return try rules.compiled(
      RuleCompiler(
        mapping: draft.mapping, source: draft.source, destination: draft.destination, graph: drafts.graph,
        entities: drafts.entities, now: now))
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

  /// Understands an expression. Throws `badMapping`, naming what is not understood.
  func expression(
    _ expression: Expression, _ name: String, _ target: PropertyExpression.Target, _ draft: MappingDraft
  ) throws -> PropertyExpression {
    var compiler = ExpressionCompiler(graph: drafts.graph, mapping: draft.mapping, source: draft.source)
    (compiler.destination, compiler.now) = (draft.destination, now)
    compiler.earlier = Set(draft.mapping.attributeMappings.map(\.name).prefix { $0 != name })
    if case .toMany = target { compiler.isLate = true }
    compiler.mappings = Dictionary(
      drafts.drafts.map { ($0.mapping.name, ($0.mapping.sourceEntity, $0.mapping.destinationEntity)) },
      uniquingKeysWith: { first, _ in first })
    do {
      return PropertyExpression(name: name, target: target, expression: try compiler.compile(expression).expression)
    } catch let damage as ExpressionDamage {
      throw BatchError(
        .badMapping,
        "the value expression of \(draft.mapping.name).\(name) is not supported: \(expression) (it \(damage))",
        hint: "Set the property in a policy", entity: draft.mapping.destinationEntity)
    }
  }

  private func attribute(
    _ property: PropertyMapping, _ draft: MappingDraft, _ columns: inout [ColumnSource],
    _ expressions: inout [PropertyExpression]
  ) throws {
    guard let target = draft.destination.attributes[property.name] else { return }
    var sourceName = property.name
    switch property.valueExpression {
    case nil: break
    case .keyPath(.variable("source"), let path) where path.count == 1: sourceName = path[0]
    case .some(let expression):
      let compiled = try self.expression(
        expression, property.name, .attribute(column: target.position, target.type), draft)
      if case .constant(.value(let value)) = compiled.expression {
        columns[target.position] = .value(target.type.stored(try fitting(value, target, property, draft)))
      } else {
        columns[target.position] = .expression
        expressions.append(compiled)
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

  private func fitting(_ value: Value, _ target: StoredAttribute, _ property: PropertyMapping, _ draft: MappingDraft) throws
    -> Value
  {
    guard let value = target.type.fitting(value) else {
      throw BatchError(
        .badMapping, "the value expression of \(draft.mapping.name).\(property.name) gives a constant that is no \(target.type)",
        hint: "Write a constant of that type", entity: draft.mapping.destinationEntity)
    }
    return value
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

  private func toOne(
    _ property: PropertyMapping, _ draft: MappingDraft, _ columns: inout [ColumnSource],
    _ expressions: inout [PropertyExpression]
  ) throws {
    guard let relationship = draft.destination.relationships[property.name],
      case .ownKey(_, let column, let entityColumn, let orderColumn) = relationship.storage
    else { return }
    if let expression = property.valueExpression, RelationshipOrigin.isLate(expression) {
      columns[column] = .expression
      return expressions.append(try self.expression(expression, property.name, .toOne, draft))
    }
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
    let targets = drafts.carriedTargets(
      origin.relationship.destination, via: origin.mappingName, to: relationship.destination)
    guard !targets.hasFilters else {
      columns[column] = .carried(positions[key], targets, .key)
      if let entityColumn { columns[entityColumn] = .carried(positions[key], targets, .entity) }
      if let orderColumn { columns[orderColumn] = .carried(positions[key], targets, .order(sourceOrder.map { positions[$0] })) }
      return
    }
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
      try requireUnfiltered(owner, inverse)
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
        try requireUnfiltered(owner, property.name)
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

extension MappingCompiler {
  /// Keys of a to-many without inverse do not tell which of several mappings took their owner.
  private func requireUnfiltered(_ owner: MappingDraft, _ name: String) throws {
    guard owner.filter != nil else { return }
    throw BatchError(
      .badMapping, "\(owner.mapping.name) has a filter, and \(name) has no inverse: its objects cannot be carried over",
      hint: "Make the relationship in a policy", entity: owner.source.name)
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
