import CoreDataModel
import CoreDataStore
import RunSupport

/// Makes tables of a database of a store's layout.
package struct LoadSchemaPlanner {
  private let layout: StoreLayout
  private let rules: LoadRules
  private var names: LoadNameBook
  private var renamed: [(wanted: String, given: String)] = []
  private var tables: [LoadTable] = []
  /// Entities whose keys are in a table, by its place.
  private var homes: [String: Int] = [:]
  private var notes: [String] = []

  private var model: ManagedObjectModel { layout.model }
  private var isSnakeCase: Bool { rules.names == .snakeCase }

  /// Plans the tables of a model. Throws as ``StoreLayout`` does.
  package static func plan(_ model: ManagedObjectModel, _ rules: LoadRules) throws -> LoadSchema {
    var notes: [String] = []
    let model = LoadIndexPlanner.withoutTrees(model, &notes)
    let layout: StoreLayout
    do { layout = try StoreLayout(model: model) } catch let error as BatchError where error.code == .refused {
      layout = try StoreLayout(model: model, purpose: .reading)
      notes.append("no index of the model is created: \(error.message)")
    }
    var planner = LoadSchemaPlanner(
      layout: layout, rules: rules, names: LoadNameBook(used: rules.takenNames, prefix: rules.takenPrefix))
    planner.notes = notes
    return planner.plan()
  }

  private mutating func plan() -> LoadSchema {
    for (place, table) in layout.entityTables.enumerated() { addTables(of: table, place) }
    for (place, join) in layout.joinTables.enumerated() { addLinks(join, place) }
    for place in tables.indices { resolve(place) }
    renamed += names.renamed
    let foreignKeys = tables.enumerated().flatMap { place, table in
      table.columns.indices.filter { table.columns[$0].references != nil }.map { (place, $0) }
    }.map { place, column in
      (
        table: place, column: column,
        name: names.take("\(tables[place].name)_\(tables[place].columns[column].name)_fkey")
      )
    }
    var planner = LoadIndexPlanner(layout: layout, tables: tables, names: names)
    planner.add()
    return LoadSchema(
      namespace: rules.namespace, tables: tables, indexes: planner.indexes, foreignKeys: foreignKeys,
      notes: notes + planner.notes, renamed: renamed, names: planner.names, layout: layout)
  }

  private mutating func addTables(of table: EntityTable, _ place: Int) {
    let family = layout.entityNames.filter { model.root(of: $0) == table.rootEntity }
    let classes = rules.inheritance == .root ? [table.rootEntity] : family
    for name in classes {
      let wanted = isSnakeCase ? LoadNames.snakeCase(name) : "Z" + name.uppercased()
      let kinds = family.filter { rules.inheritance == .root || model.isKind($0, of: name) }
      for entity in rules.inheritance == .root ? family : [name] { homes[entity] = tables.count }
      tables.append(
        LoadTable(
          name: names.take(wanted),
          rows: .objects(table: place, entities: kinds.compactMap { layout.entityNumbers[$0] }),
          subject: name, columns: columns(of: name, table, hasKinds: family.count > 1)))
    }
  }

  /// The columns of a table: its key, the entity in the table of a root, and the properties.
  private mutating func columns(of entity: String, _ table: EntityTable, hasKinds: Bool) -> [LoadColumn] {
    var book = LoadNameBook(used: rules.takenColumns)
    let wanted = table.columns.enumerated().filter { belongs($1.role, to: entity) }
    let own = Set(wanted.map { snakeCase($1.role) })
    let keyName = isSnakeCase ? (own.contains("id") ? "pk" : "id") : "Z_PK"
    var columns = [
      LoadColumn(name: book.take(keyName), type: .int64, source: .key, property: "key", isRequired: true)
    ]
    if hasKinds, entity == table.rootEntity {
      let name = isSnakeCase ? (own.contains("entity") ? "entity_name" : "entity") : "Z_ENT"
      columns.append(
        LoadColumn(
          name: book.take(name), type: isSnakeCase ? .text : .int32,
          source: isSnakeCase ? .entityName : .entityNumber,
          property: "entity", isRequired: true))
    }
    for (place, column) in wanted {
      guard var made = self.column(column, place, of: entity) else { continue }
      // Sub-entities may have properties of one name.
      let other = isSnakeCase ? "\(LoadNames.snakeCase(declarer(column.role) ?? entity))_\(made.name)" : made.name
      let name = book.take(made.name, or: [other])
      if name != made.name { renamed.append(("\(owner(column.role) ?? entity).\(made.property)", name)) }
      made.name = name
      columns.append(made)
    }
    return columns
  }

  private func declarer(_ role: ColumnRole) -> String? {
    switch role {
    case .attribute(let entity, _), .toOne(let entity, _), .toOneEntity(let entity, _), .orderingKey(let entity, _):
      entity
    case .inverselessOwner(let owner, let name), .inverselessOrder(let owner, let name):
      model.relationship(name, of: owner)?.destinationEntity
    case .primaryKey, .entity, .optimisticLock, .unknown: nil
    }
  }

  /// The entity that has the property.
  private func owner(_ role: ColumnRole) -> String? {
    switch role {
    case .inverselessOwner(let owner, _), .inverselessOrder(let owner, _): owner
    default: declarer(role)
    }
  }

  private func belongs(_ role: ColumnRole, to entity: String) -> Bool {
    guard let declarer = declarer(role) else { return false }
    return rules.inheritance == .root ? true : declarer == entity
  }

  private func snakeCase(_ role: ColumnRole) -> String {
    switch role {
    case .attribute(_, let name): LoadNames.snakeCase(name)
    case .toOne(_, let name): LoadNames.snakeCase(name) + "_id"
    case .orderingKey(_, let name): LoadNames.snakeCase(name) + "_order"
    case .inverselessOwner(let owner, let name): LoadNames.snakeCase("\(owner)_\(name)") + "_id"
    case .inverselessOrder(let owner, let name): LoadNames.snakeCase("\(owner)_\(name)") + "_order"
    case .primaryKey, .entity, .optimisticLock, .toOneEntity, .unknown: ""
    }
  }

  /// Nil for what a foreign key and the other table show: the entity of a to-one's object.
  private func column(_ column: Column, _ place: Int, of entity: String) -> LoadColumn? {
    let name = isSnakeCase ? snakeCase(column.role) : column.name
    func made(_ type: LoadType, _ property: String, isExternal: Bool = false, isRequired: Bool = false)
      -> LoadColumn
    {
      LoadColumn(
        name: name, type: type, source: .column(place, isExternal: isExternal), property: property,
        isRequired: isRequired)
    }
    switch column.role {
    case .attribute(let declarer, let path):
      guard let attribute = model.storedAttributes(of: declarer).first(where: { $0.path == path })?.attribute,
        let type = LoadType(attribute.type)
      else { return nil }
      return made(
        type, path, isExternal: attribute.allowsExternalBinaryDataStorage && (type == .bytes || type == .archive),
        isRequired: !attribute.isOptional && declarer == entity && !path.contains("."))
    case .toOne(let declarer, let name):
      let isOptional = model.relationship(name, of: declarer)?.isOptional ?? true
      return made(.int64, name, isRequired: !isOptional && declarer == entity)
    case .orderingKey(_, let name), .inverselessOwner(_, let name), .inverselessOrder(_, let name):
      return made(.int64, name)
    case .primaryKey, .entity, .optimisticLock, .toOneEntity, .unknown: return nil
    }
  }

  /// Which table a key leads to, once all tables are known.
  private mutating func resolve(_ place: Int) {
    guard case .objects(let table, _) = tables[place].rows else { return }
    for index in tables[place].columns.indices {
      switch tables[place].columns[index].source {
      case .key:
        let above = model.entity(tables[place].subject)?.superentity
        if rules.inheritance == .class, let above { tables[place].columns[index].references = homes[above] }
      case .column(let column, _):
        guard let target = target(of: layout.entityTables[table].columns[column].role) else { continue }
        tables[place].columns[index].references = homes[target]
      case .entityName, .entityNumber, .link: continue
      }
    }
  }

  private func target(of role: ColumnRole) -> String? {
    switch role {
    case .toOne(let entity, let name): model.relationship(name, of: entity)?.destinationEntity
    case .inverselessOwner(let owner, _): owner
    default: nil
    }
  }

  private mutating func addLinks(_ join: JoinTable, _ place: Int) {
    let (source, target) = (join.relationship.entity, join.inverse.entity)
    var book = LoadNameBook(used: rules.takenColumns)
    func column(_ wanted: String, of original: String, references: Int?) -> LoadColumn {
      LoadColumn(
        name: book.take(isSnakeCase ? wanted : original), type: .int64, source: .link(original),
        property: join.relationship.name,
        isRequired: references != nil, references: references)
    }
    let (ownName, otherName) = (LoadNames.snakeCase(source), LoadNames.snakeCase(target))
    let relationship = LoadNames.snakeCase(join.relationship.name)
    var columns = [
      column("\(ownName)_id", of: join.sourceColumn, references: homes[source]),
      column(
        source == target ? "\(relationship)_id" : "\(otherName)_id", of: join.destinationColumn,
        references: homes[target]),
    ]
    if let order = join.destinationOrderColumn {
      columns.append(column("\(relationship)_order", of: order, references: nil))
    }
    if let order = join.sourceOrderColumn {
      columns.append(column("\(LoadNames.snakeCase(join.inverse.name))_order", of: order, references: nil))
    }
    tables.append(
      LoadTable(
        name: names.take(isSnakeCase ? "\(ownName)_\(relationship)" : join.name), rows: .links(join: place),
        subject: join.relationship.description, columns: columns, keyCount: 2))
  }
}
