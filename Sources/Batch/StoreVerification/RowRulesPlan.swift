import CoreDataModel
import CoreDataStore

extension CheckPlan {
  /// What the rows of a table must be; nothing for tables that are not the model's.
  func rules(for table: SweptTable) -> RowRules {
    // Every reference asks for those of its table.
    known.value(table.schema.name) { made(for: table) }
  }

  private func made(for table: SweptTable) -> RowRules {
    if let bound = binding.tables.first(where: { $0.schema.name == table.schema.name }) { return entityRules(bound) }
    if let join = binding.joins.first(where: { $0.schema.name == table.schema.name }) { return linkRules(join) }
    return RowRules()
  }

  private func entityRules(_ bound: StoreBinding.Table) -> RowRules {
    var rules = RowRules(entityColumn: column(.entity, in: bound))
    var places: [String: Int] = [:]
    for name in layout.entityNames where layout.table(ofEntity: name)?.rootEntity == bound.layout.rootEntity {
      guard let number = layout.entityNumbers[name], layout.model.entity(name)?.isAbstract == false else { continue }
      var required: [Int] = []
      for wanted in requiredColumns(of: name) {
        guard let column = column(wanted.role, in: bound) else { continue }
        if places[column] == nil {
          places[column] = rules.required.count
          rules.required.append(RowRules.Required(property: wanted.property, column: column))
        }
        if let place = places[column] { required.append(place) }
      }
      rules.entities.append(RowRules.Entity(name: name, number: Int64(number), required: required))
    }
    rules.orders = bound.layout.columns.compactMap { order(of: $0.role, in: bound) }
    return rules
  }

  /// Required attributes and to-one relationships, own and inherited. Elements of composites follow rules of their own.
  private func requiredColumns(of entity: String) -> [(property: PropertyReference, role: ColumnRole)] {
    let attributes = layout.model.attributes(of: entity).filter { !$0.isOptional && !$0.isTransient }
    let keys = layout.model.relationships(of: entity).filter { !$0.isOptional && !$0.isTransient && !$0.isToMany }
    let columns =
      attributes.map { layout.column(forAttribute: $0.name, ofEntity: entity) }
      + keys.map { layout.column(forToOne: $0.name, ofEntity: entity) }
    return columns.compactMap { column in
      switch column?.role {
      case .attribute(let owner, let name)?:
        (PropertyReference(entity: owner, name: name), .attribute(entity: owner, name: name))
      case .toOne(let owner, let name)?:
        (PropertyReference(entity: owner, name: name), .toOne(entity: owner, name: name))
      default: nil
      }
    }
  }

  private func order(of role: ColumnRole, in bound: StoreBinding.Table) -> RowRules.Order? {
    let key: ColumnRole
    let property: PropertyReference
    switch role {
    case .orderingKey(let entity, let name):
      (key, property) = (.toOne(entity: entity, name: name), PropertyReference(entity: entity, name: name))
    case .inverselessOrder(let entity, let name):
      (key, property) = (.inverselessOwner(entity: entity, name: name), PropertyReference(entity: entity, name: name))
    default: return nil
    }
    guard let key = column(key, in: bound), let order = column(role, in: bound) else { return nil }
    return RowRules.Order(property: property, key: key, order: order)
  }

  private func linkRules(_ join: StoreBinding.Join) -> RowRules {
    let columns = join.schema.columns.map(\.name)
    var rules = RowRules(keyColumn: columns[join.sourcePosition])
    if let place = join.destinationOrderPosition {
      rules.orders.append(
        RowRules.Order(
          property: join.layout.relationship, key: columns[join.destinationPosition], order: columns[place]))
    }
    if let place = join.sourceOrderPosition {
      rules.orders.append(
        RowRules.Order(property: join.layout.inverse, key: columns[join.sourcePosition], order: columns[place]))
    }
    return rules
  }
}
