import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// Turns an entity mapping into sources for the columns of its destination table.
struct MappingCompiler {
  let drafts: StepDraft
  /// What the model demands of objects, by Z_ENT.
  let rules: [ObjectRules?]
  let now: Double
  /// What distinguishes the run from all others.
  var seed = ""

  var layout: StoreLayout { drafts.layout }

  func compile(_ draft: MappingDraft) throws -> CompiledMapping {
    var columns = draft.destination.template.map { ColumnSource.value($0) }
    // An inferred migration changes rows in place and keeps Z_OPT; a mapped one makes new objects.
    let positions = drafts.graph.binding.tables[draft.source.table].positions
    columns[2] = drafts.step.isInferred ? .borrow(positions[2], missing: .integer(1)) : .value(.integer(1))
    var expressions: [PropertyExpression] = []
    for property in draft.mapping.attributeMappings {
      for leaf in leaves(property, draft) {
        try attribute(leaf, draft: draft, columns: &columns, expressions: &expressions)
      }
    }
    for property in draft.mapping.relationshipMappings {
      try toOne(property, draft: draft, columns: &columns, expressions: &expressions)
    }
    try inverselessOwners(draft, &columns)
    identical(draft, &columns)
    let policy = try policy(draft, &columns)
    let number = draft.destination.number
    return CompiledMapping(
      mapping: draft.mapping, source: draft.source, destination: draft.destination, offset: draft.offset,
      policy: policy, mayWrite: mayWrite(draft), columns: columns, filter: draft.filter,
      expressions: expressions,
      rules: rules.indices.contains(number) ? rules[number] : nil)
  }

  /// An identity migration keeps every value, also in columns of entities beside this one, where Core Data's own
  /// migration puts defaults, and in those that the model does not know.
  private func identical(_ draft: MappingDraft, _ columns: inout [ColumnSource]) {
    guard drafts.step.isIdentity else { return }
    let source = drafts.graph.binding.tables[draft.source.table]
    for (index, column) in layout.entityTables[draft.destination.table].columns.enumerated() {
      switch column.role {
      case .attribute, .unknown: break
      default: continue
      }
      let position = source.positions[index]
      columns[index] = .borrow(position, missing: source.schema.columns[position].defaultValue ?? .null)
    }
  }

  /// Understands an expression. Throws `badMapping`, naming what is not understood.
  func expression(
    _ expression: Expression, name: String, target: PropertyExpression.Target, draft: MappingDraft
  ) throws -> PropertyExpression {
    var compiler = ExpressionCompiler(graph: drafts.graph, mapping: draft.mapping, source: draft.source)
    (compiler.destination, compiler.now) = (draft.destination, now)
    compiler.earlier = draft.mapping.attributeMappings.prefix { $0.name != name }
    if case .toMany = target { compiler.isLate = true }
    compiler.mappings = drafts.mappingEntities
    compiler.ambiguous = drafts.ambiguousNames
    do {
      return PropertyExpression(name: name, target: target, expression: try compiler.compile(expression).expression)
    } catch let damage as ExpressionDamage {
      throw BatchError(
        .badMapping, damage.sentence(of: "the value expression of \(draft.mapping.name).\(name), \(expression),"),
        hint: damage.hint ?? "Set the property in a policy", entity: draft.mapping.destinationEntity)
    }
  }

  private func attribute(
    _ property: PropertyMapping, draft: MappingDraft, columns: inout [ColumnSource],
    expressions: inout [PropertyExpression]
  ) throws {
    guard let target = draft.destination.attributes[property.name] else { return }
    var sourceName = property.name
    switch property.valueExpression {
    case nil: break
    case .keyPath(.variable("source"), let path)
    where path.count == 1 || draft.source.attributes[path.joined(separator: ".")] != nil:
      sourceName = path.joined(separator: ".")
    case .some(let expression):
      let types = property.passedTypes + [target.type]
      if target.type == .date { try checkEpoch(expression, name: property.name, draft: draft) }
      let compiled = try self.expression(
        expression, name: property.name, target: .attribute(target, through: types), draft: draft)
      if case .constant(let value) = compiled.expression {
        let stored = try stored(value, through: types, property: property, draft: draft)
        columns[target.position] = .value(target.inColumn(stored))
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
        hint: "Its attributes are \(draft.source.attributes.names.joined(separator: ", "))", entity: draft.source.name)
    }
    let copied = try copy(source, to: target, draft: draft, property: property)
    columns[target.position] = property.valueForNull.map { .filled(copied, null: target.inColumn($0)) } ?? copied
  }

  /// A number that is computed becomes a date only where the expression says from when it counts.
  private func checkEpoch(_ expression: Expression, name: String, draft: MappingDraft) throws {
    if case .constant = expression { return }
    guard Measure.of(expression, drafts.step.source, source: draft.source.name) == .number else { return }
    throw BatchError(
      .badMapping,
      "the value expression of \(draft.mapping.name).\(name) makes a date of a number and does not say from when it counts",
      hint: Measure.hint, entity: draft.mapping.destinationEntity)
  }

  private func stored(
    _ value: Value, through types: [AttributeType], property: PropertyMapping, draft: MappingDraft
  ) throws -> Value {
    do { return try PropertyExpression.stored(value, through: types) } catch is ExpressionDamage {
      let last = types.last.map { "\($0)" } ?? "value"
      throw BatchError(
        .badMapping,
        "the value expression of \(draft.mapping.name).\(property.name) gives a constant that is no \(last)",
        hint: types.last?.constantAdvice(value), entity: draft.mapping.destinationEntity)
    }
  }

  private func copy(
    _ source: StoredAttribute, to target: StoredAttribute, draft: MappingDraft, property: PropertyMapping
  ) throws -> ColumnSource {
    let name = property.name
    let schema = drafts.graph.binding.tables[draft.source.table].schema.columns[source.position]
    let missing = schema.defaultValue ?? .null
    guard target.isExternal || !source.isExternal else {
      throw StoredAttribute.staysOutside(name, of: draft.destination.name)
    }
    let types = [source.type] + property.passedTypes + [target.type]
    guard types.contains(where: { $0 != source.type }) else {
      guard source.isExternal == target.isExternal else {
        return .rule(ExternalStorageRule(position: source.position, missing: missing))
      }
      return .borrow(source.position, missing: missing)
    }
    guard types.allSatisfy(\.isNumeric) else {
      // A policy may set it; rules are known altogether.
      if draft.policy != nil, draft.mapping.rules == nil {
        return .unfit(source.position, "\(name) changes from \(source.type) to \(target.type)")
      }
      throw Self.unfit(property, from: source.type, to: target.type, draft: draft)
    }
    return .convert(source.position, missing: missing, through: types)
  }

  private func toOne(
    _ property: PropertyMapping, draft: MappingDraft, columns: inout [ColumnSource],
    expressions: inout [PropertyExpression]
  ) throws {
    guard let relationship = draft.destination.relationships[property.name],
      case .ownKey(_, let column, let entityColumn, let orderColumn) = relationship.storage
    else { return }
    if let expression = property.valueExpression, expression.isEvaluatedRelationship {
      columns[column] = .expression
      return expressions.append(try self.expression(expression, name: property.name, target: .toOne, draft: draft))
    }
    guard let origin = try RelationshipOrigin(property, draft: draft, drafts: drafts) else {
      return try formerlyInverseless(relationship, draft: draft, columns: &columns)
    }
    guard case .ownKey(let table, let key, let sourceEntity, let sourceOrder) = origin.relationship.storage else {
      throw severalObjects(property, origin, of: draft)
    }
    let positions = drafts.graph.binding.tables[table].positions
    let map = drafts.keyMap(
      origin.relationship.destination, via: origin.mappingName, to: relationship.destination,
      entityPosition: sourceEntity.map { positions[$0] })
    let targets = drafts.carriedTargets(
      origin.relationship.destination, via: origin.mappingName, to: relationship.destination)
    guard !targets.hasFilters else {
      columns[column] = .carried(positions[key], targets.clearing(column, of: draft.destination), .key)
      if let entityColumn { columns[entityColumn] = .carried(positions[key], targets, .entity) }
      if let orderColumn {
        columns[orderColumn] = .carried(positions[key], targets, .order(sourceOrder.map { positions[$0] }))
      }
      return
    }
    columns[column] = map.isIdentity ? .borrow(positions[key], missing: .null) : .key(positions[key], map)
    if let entityColumn { columns[entityColumn] = .keyEntity(positions[key], map) }
    if let orderColumn {
      columns[orderColumn] = sourceOrder.map { .borrow(positions[$0], missing: .null) } ?? .order(positions[key])
    }
  }

  private func severalObjects(_ property: PropertyMapping, _ origin: RelationshipOrigin, of draft: MappingDraft)
    -> BatchError
  {
    BatchError(
      .badMapping, "\(property.name) would become a to-one relationship of the to-many \(origin.name)",
      hint:
        "In a mapping file, write \(property.name): { target: $source.\(origin.name), take: first }, or take: last",
      entity: draft.destination.name)
  }

  /// A to-many that had no inverse kept its keys in the destination's rows: a new inverse to-one takes them over.
  private func formerlyInverseless(
    _ relationship: StoredRelationship, draft: MappingDraft, columns: inout [ColumnSource]
  ) throws {
    guard let inverse = relationship.inverse,
      case .ownKey(_, let column, let entityColumn, let orderColumn) = relationship.storage,
      let keys = try drafts.ownerKeys(
        of: inverse, kind: relationship.destination, in: draft, tellsEntity: entityColumn != nil)
    else { return }
    columns[column] = .key(keys.position, keys.map)
    if let entityColumn { columns[entityColumn] = .keyEntity(keys.position, keys.map) }
    if let orderColumn { columns[orderColumn] = keys.order }
  }

  /// Keys of to-many relationships without inverse lie in the destination's rows, so they are carried with those.
  private func inverselessOwners(_ draft: MappingDraft, _ columns: inout [ColumnSource]) throws {
    for (index, column) in layout.entityTables[draft.destination.table].columns.enumerated() {
      guard case .inverselessOwner(let owner, let name) = column.role,
        let destination = layout.model.relationship(name, of: owner)?.destinationEntity,
        layout.model.isKind(draft.destination.name, of: destination),
        let keys = try drafts.ownerKeys(of: name, kind: owner, in: draft, tellsEntity: false)
      else { continue }
      columns[index] = .key(keys.position, keys.map)
      if let order = layout.position(of: .inverselessOrder(entity: owner, name: name)) {
        columns[order.column] = keys.order
      }
    }
  }
}
