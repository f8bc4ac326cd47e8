import CoreDataModel

/// Finds the columns and join tables of properties by name, own and inherited.
struct PropertyDirectory {
  let model: ManagedObjectModel
  let tables: [EntityTable]
  let joins: [JoinTable]
  private let shape: RelationshipShape
  private let columns: [ColumnRole: (table: Int, column: Int)]
  private let joinPositions: [PropertyReference: Int]

  init(model: ManagedObjectModel, tables: [EntityTable], joins: [JoinTable]) {
    self.model = model
    self.tables = tables
    self.joins = joins
    shape = RelationshipShape(model: model)
    var places: [(ColumnRole, (table: Int, column: Int))] = []
    for (table, columns) in tables.lazy.map(\.columns).enumerated() {
      for column in columns.indices { places.append((columns[column].role, (table, column))) }
    }
    columns = Dictionary(places, uniquingKeysWith: { first, _ in first })
    var joinPositions: [PropertyReference: Int] = [:]
    for (position, join) in joins.enumerated() {
      joinPositions[join.relationship] = position
      joinPositions[join.inverse] = position
    }
    self.joinPositions = joinPositions
  }

  func position(of role: ColumnRole) -> (table: Int, column: Int)? { columns[role] }

  func column(_ property: String, entity: String, role: (String, String) -> ColumnRole) -> Column? {
    // An element of a composite attribute is declared by whoever declares the composite.
    let first = property.split(separator: ".").first.map(String.init) ?? property
    let owner = shape.declarer(of: first, entity: entity)
    return columns[role(owner, property)].map { tables[$0.table].columns[$0.column] }
  }

  func join(_ relationship: String, _ entity: String) -> Int? {
    joinPositions[PropertyReference(entity: shape.declarer(of: relationship, entity: entity), name: relationship)]
  }

  /// The column that an index over the property stands on.
  func indexable(_ property: String, _ entity: String) -> String? {
    let attribute = column(property, entity: entity) { .attribute(entity: $0, name: $1) }
    return (attribute ?? column(property, entity: entity) { .toOne(entity: $0, name: $1) })?.name
  }

  func storage(of name: String, entity: String) -> RelationshipStorage? {
    guard let relationship = model.relationship(name, of: entity), !relationship.isTransient else { return nil }
    let owner = shape.declarer(of: name, entity: entity)
    guard relationship.isToMany else { return ownKey(name, owner) }
    let reference = PropertyReference(entity: owner, name: name)
    if let join = joinPositions[reference] {
      return .join(table: join, ownerIsSource: joins[join].relationship == reference)
    }
    if let key = columns[.inverselessOwner(entity: owner, name: name)] {
      let order = columns[.inverselessOrder(entity: owner, name: name)]
      return .ownerKey(table: key.table, column: key.column, orderColumn: order?.column)
    }
    guard let (inverse, _) = shape.mutualInverse(of: relationship),
      let key = columns[.toOne(entity: inverse.entity, name: inverse.name)]
    else { return nil }
    let order = columns[.orderingKey(entity: inverse.entity, name: inverse.name)]
    return .inverseKey(table: key.table, column: key.column, orderColumn: order?.column)
  }

  private func ownKey(_ name: String, _ owner: String) -> RelationshipStorage? {
    guard let key = columns[.toOne(entity: owner, name: name)] else { return nil }
    return .ownKey(
      table: key.table, column: key.column,
      entityColumn: columns[.toOneEntity(entity: owner, name: name)]?.column,
      orderColumn: columns[.orderingKey(entity: owner, name: name)]?.column)
  }
}
