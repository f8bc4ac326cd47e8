import CoreDataModel
import CoreDataStore

/// Compares the tables of a store with those that a version asks for, entity by entity: the version hashes show that an
/// entity differs, its columns show in what.
struct StoreColumns {
  let layout: StoreLayout
  let schema: StoreSchema

  /// Own and inherited properties of an entity for which the store has no place, sorted.
  func missing(_ entity: String) -> [String] {
    let chain = self.chain(entity)
    var found: Set<String> = []
    for table in layout.entityTables {
      for column in table.columns {
        guard let owner = owner(column.role), chain.contains(owner.entity), place(of: column, in: table) == nil else {
          continue
        }
        found.insert(owner.name)
      }
    }
    for join in layout.joinTables where !isThere(join) {
      for side in [join.relationship, join.inverse] where chain.contains(side.entity) { found.insert(side.name) }
    }
    return found.sorted(by: NameOrder.codeUnits)
  }

  /// Own and inherited attributes whose column has another type than the version's, as `name: VARCHAR instead of
  /// INTEGER`.
  func retyped(_ entity: String) -> [String] {
    guard let table = layout.table(ofEntity: entity), let real = schema.table(table.name) else { return [] }
    let chain = self.chain(entity)
    return table.columns.compactMap { column in
      guard case .attribute(let owner, let name) = column.role, chain.contains(owner),
        let position = real.position(of: column.name)
      else { return nil }
      let type = real.columns[position].declaredType.uppercased()
      return type == column.type ? nil : "\(name): \(type.isEmpty ? "no type" : type) instead of \(column.type)"
    }.sorted(by: NameOrder.codeUnits)
  }

  /// Columns of an entity's table that the version does not know, as `ZBOOK.ZISBN VARCHAR`.
  func unknown(_ entity: String) -> [String] {
    guard let table = layout.table(ofEntity: entity), let real = schema.table(table.name) else { return [] }
    let known = Set(table.columns.compactMap { place(of: $0, in: table) })
    return real.columns.indices.filter { !known.contains($0) }.map { position in
      let column = real.columns[position]
      return "\(real.name).\(column.name)\(column.declaredType.isEmpty ? "" : " " + column.declaredType)"
    }
  }

  private func chain(_ entity: String) -> Set<String> {
    Set([entity] + layout.model.ancestors(of: entity).map(\.name))
  }

  /// The property that a column is there for; nil for the three fixed columns.
  private func owner(_ role: ColumnRole) -> PropertyReference? {
    switch role {
    case .primaryKey, .entity, .optimisticLock, .unknown: nil
    case .attribute(let entity, let name), .toOne(let entity, let name), .toOneEntity(let entity, let name),
      .orderingKey(let entity, let name), .inverselessOwner(let entity, let name),
      .inverselessOrder(let entity, let name):
      PropertyReference(entity: entity, name: name)
    }
  }

  /// Names that carry an entity's number may carry an old one.
  private func place(of column: Column, in table: EntityTable) -> Int? {
    guard let real = schema.table(table.name) else { return nil }
    if let position = real.position(of: column.name) { return position }
    switch column.role {
    case .toOneEntity, .inverselessOwner, .inverselessOrder: break
    default: return nil
    }
    guard let shape = NumberedName(column.name) else { return nil }
    return real.columns.firstIndex { NumberedName($0.name)?.hasShape(of: shape) == true }
  }

  private func isThere(_ join: JoinTable) -> Bool {
    var binder = JoinBinder(candidates: schema.tables, claim: StoreClaim(modelName: layout.model.name, path: nil))
    return (try? binder.bind([join])) != nil
  }
}
