import CoreDataModel
import CoreDataStore
import RunSupport

/// Decides what is checked in a store whose tables are known: a walk through every table and index, a merge for every
/// column of keys.
struct CheckPlan {
  let layout: StoreLayout
  let binding: StoreBinding
  let schema: StoreSchema
  private let shape: RelationshipShape
  /// What rows must be, by the names of their tables.
  let known: Memo<String, RowRules>
  private let swept: SweptTables
  /// The largest rowid of a table, by folded name.
  private var largest: [String: Int64] = [:]
  /// Tables that SQLite cannot read.
  private(set) var unreadable: [Violation] = []

  /// Plans the checks of a store. Asks SQLite for the largest key of each table; the rest follows from model and schema,
  /// and is made once for all stores that have them.
  init(binding: StoreBinding, schema: StoreSchema, on connection: StoreConnection) throws {
    (layout, self.binding, self.schema) = (binding.layout, binding, schema)
    shape = RelationshipShape(model: binding.layout.model)
    known = binding.remembered(ModelFacts.rowRules) { Memo(limit: schema.tables.count + 1) }
    swept = try binding.remembered(ModelFacts.sweptTables) { try SweptTables(binding, schema, on: connection) }
    for table in schema.tables { try measure(table, on: connection) }
  }

  private mutating func measure(_ table: TableSchema, on connection: StoreConnection) throws {
    let name = NameOrder.folded(table.name)
    guard let found = swept.tables[name] else { return }
    do {
      try connection.rows("SELECT max(\(found.rowid)) FROM \(found.quoted)") { largest[name] = $0.integer(0) }
    } catch let failure as StoreFailure where failure.isDamage {
      let message = "SQLite cannot read the table: \(failure.message)"
      unreadable.append(Violation(kind: .damaged, table: table.name, message: message))
    }
  }

  func table(_ name: String) -> SweptTable? { swept.tables[NameOrder.folded(name)] }

  /// The largest key of every entity table, by root entity.
  var largestKeys: [String: Int64] {
    binding.tables.reduce(into: [:]) { $0[$1.layout.rootEntity] = largest[NameOrder.folded($1.schema.name)] ?? 0 }
  }

  /// All checks. Their order is that of the report.
  func checks() -> [StoreCheck] {
    let all = schema.tables.compactMap { table($0.name) }
    let total = all.reduce(0) { $0 + rows($1) * Double(1 + $1.indexes.count) }
    var checks = [FileCheck.check(weight: total)]
    for table in all {
      let rules = rules(for: table)
      checks.append(TableSweep(table: table, rules: rules).check(weight: rows(table) * 2))
      checks += table.indexes.map { IndexSweep(table: table, index: $0).check(weight: rows(table)) }
    }
    return checks + unwalkableChecks() + references().map(check)
  }

  /// Every column of keys.
  func references() -> [ReferenceCheck] {
    binding.remembered(ModelFacts.references) { binding.tables.flatMap(references) + binding.joins.flatMap(links) }
  }

  /// A column of keys, followed by SQLite.
  func check(_ reference: ReferenceCheck) -> StoreCheck {
    reference.check(weight: rows(reference.table) * (reference.helper == nil ? 1 : 4))
  }

  /// Indexes of a table that are judged by SQLite, as nothing else knows their order.
  func unwalkableChecks() -> [StoreCheck] {
    schema.tables.filter { swept.unwalkable.contains(NameOrder.folded($0.name)) }.map { table in
      FileCheck.checkIndexes(of: table.name, weight: Double(largestKey(of: table.name)) * 10)
    }
  }

  /// The largest rowid of a table.
  func largestKey(of table: String) -> Int64 { largest[NameOrder.folded(table)] ?? 0 }

  /// An estimate: keys may be sparse.
  private func rows(_ table: SweptTable) -> Double {
    Double(min(max(1, largest[NameOrder.folded(table.schema.name)] ?? 0), 1 << 32))
  }

  private func references(in bound: StoreBinding.Table) -> [ReferenceCheck] {
    bound.layout.columns.compactMap { column in
      switch column.role {
      case .toOne(let entity, let name): toOne(PropertyReference(entity: entity, name: name), in: bound)
      case .inverselessOwner(let entity, let name): owner(PropertyReference(entity: entity, name: name), in: bound)
      default: nil
      }
    }
  }

  private func toOne(_ reference: PropertyReference, in bound: StoreBinding.Table) -> ReferenceCheck? {
    let (entity, name) = (reference.entity, reference.name)
    guard let relationship = layout.model.relationship(name, of: entity),
      var check = check(
        of: reference, role: .toOne(entity: entity, name: name), to: relationship.destinationEntity, in: bound)
    else { return nil }
    check.helper = column(.toOneEntity(entity: entity, name: name), in: bound)
    if let (inverse, description) = shape.mutualInverse(of: relationship), !description.isToMany,
      let other = binding.tables.first(where: { $0.schema.name == check.target.table.schema.name })
    {
      check.back = column(.toOne(entity: inverse.entity, name: inverse.name), in: other)
    }
    return check
  }

  private func owner(_ reference: PropertyReference, in bound: StoreBinding.Table) -> ReferenceCheck? {
    let role = ColumnRole.inverselessOwner(entity: reference.entity, name: reference.name)
    return check(of: reference, role: role, to: reference.entity, in: bound)
  }

  private func check(
    of reference: PropertyReference, role: ColumnRole, to entity: String, in bound: StoreBinding.Table
  ) -> ReferenceCheck? {
    guard let table = table(bound.schema.name), let key = column(.primaryKey, in: bound),
      let name = column(role, in: bound), let target = target(entity)
    else { return nil }
    return ReferenceCheck(
      name: "the keys of \(reference)", table: table, property: reference, column: name, ownerColumn: key,
      destinationColumn: name, target: target)
  }

  private func links(in join: StoreBinding.Join) -> [ReferenceCheck] {
    guard let table = table(join.schema.name) else { return [] }
    let source = join.schema.columns[join.sourcePosition].name
    let destination = join.schema.columns[join.destinationPosition].name
    let (relationship, inverse) = (join.layout.relationship, join.layout.inverse)
    let ends = [(source, relationship, "owners"), (destination, inverse, "destinations")]
    return ends.compactMap { column, end, what in
      guard let target = target(end.entity) else { return nil }
      return ReferenceCheck(
        name: "the \(what) of \(relationship)", table: table, property: relationship, column: column,
        ownerColumn: source, destinationColumn: destination, target: target, isLink: true)
    }
  }

  /// Where keys of an entity lead. Z_ENT need not be looked at when the table holds nothing else.
  func target(_ entity: String) -> ReferenceCheck.Target? {
    guard let position = layout.tablePosition(ofEntity: entity) else { return nil }
    let bound = binding.tables[position]
    guard let table = table(bound.schema.name), let column = column(.entity, in: bound) else { return nil }
    let all = layout.entityNames.filter { layout.tablePosition(ofEntity: $0) == position }
    let right = all.filter { layout.model.isKind($0, of: entity) }
    let numbers = right.compactMap { layout.entityNumbers[$0].map { Int64($0) } }
    return ReferenceCheck.Target(
      table: table, entityColumn: column, allowed: right.count == all.count ? nil : numbers)
  }

  /// The store's name of a column that the model asks for.
  func column(_ role: ColumnRole, in bound: StoreBinding.Table) -> String? {
    bound.layout.columns.firstIndex { $0.role == role }.map { bound.schema.columns[bound.positions[$0]].name }
  }
}

extension ModelFacts {
  fileprivate static let rowRules = Key<Memo<String, RowRules>>("rules of rows")
  fileprivate static let sweptTables = Key<SweptTables>("tables as checks address them")
  fileprivate static let references = Key<[ReferenceCheck]>("columns of keys")
}
