import CoreDataModel
import CoreDataStore
import LoadTables
import Streams

/// Views that show the objects of an entity as one table: with tables of roots, of each sub-entity those rows and
/// columns that it has; with tables of classes, of each sub-entity its own columns and those of all above it.
struct PlainViews {
  struct View {
    var name: String
    var entity: String
    /// Columns by their names in the view, and where they come from.
    var columns: [(name: String, table: Int, column: Int)]
    var sql: String
  }

  let schema: LoadSchema
  let rules: PlainRules

  private var model: ManagedObjectModel { schema.layout.model }

  var views: [View] {
    var names = schema.names
    return schema.layout.entityNames.filter { model.entity($0)?.superentity != nil }.map { entity in
      rules.isRoot ? rootView(entity, &names) : classView(entity, &names)
    }
  }

  private func wanted(_ entity: String) -> String {
    rules.tables.names == .snakeCase ? LoadNames.snakeCase(entity) : "Z" + entity.uppercased()
  }

  private func table(_ subject: String) -> Int { schema.tables.firstIndex { $0.subject == subject } ?? 0 }

  /// Whether an entity has a column of the table of its root.
  private func has(_ entity: String, _ column: LoadColumn, in table: LoadTable) -> Bool {
    guard case .objects(let place, _) = table.rows, case .column(let position, _) = column.source else { return true }
    switch schema.layout.entityTables[place].columns[position].role {
    case .attribute(let declarer, _), .toOne(let declarer, _), .toOneEntity(let declarer, _),
      .orderingKey(let declarer, _):
      return model.isKind(entity, of: declarer)
    case .inverselessOwner(let owner, let name), .inverselessOrder(let owner, let name):
      return model.isKind(entity, of: model.relationship(name, of: owner)?.destinationEntity ?? entity)
    case .primaryKey, .entity, .optimisticLock, .unknown: return true
    }
  }

  private func rootView(_ entity: String, _ names: inout LoadNameBook) -> View {
    let number = table(model.root(of: entity))
    let root = schema.tables[number]
    let columns = root.columns.indices.filter { has(entity, root.columns[$0], in: root) }
    let list = columns.map { PlainNames.quoted(root.columns[$0].name) }.joined(separator: ", ")
    let kinds = schema.layout.entityNames.filter { model.isKind($0, of: entity) }
    let kind = root.columns.first { $0.source == .entityName || $0.source == .entityNumber }
    let values = kinds.compactMap { kind in
      rules.tables.names == .snakeCase
        ? kind.quoted(by: "'") : schema.layout.entityNumbers[kind].map(String.init)
    }
    let name = names.take(wanted(entity))
    return View(
      name: name, entity: entity, columns: columns.map { (root.columns[$0].name, number, $0) },
      sql: "CREATE VIEW \(PlainNames.quoted(name)) AS\n  SELECT \(list)\n  FROM \(PlainNames.quoted(root.name))\n"
        + "  WHERE \(PlainNames.quoted(kind?.name ?? "")) IN (\(values.joined(separator: ", ")))")
  }

  private func classView(_ entity: String, _ names: inout LoadNameBook) -> View {
    let chain = [entity] + model.ancestors(of: entity).map(\.name)
    let own = schema.tables[table(entity)]
    var (book, columns, list) = (LoadNameBook(), [(name: String, table: Int, column: Int)](), [String]())
    for subject in [entity] + chain.dropFirst().reversed() {
      let number = table(subject)
      for (place, column) in schema.tables[number].columns.enumerated() {
        // The key of an object is one in all of its tables.
        guard subject == entity || column.source != .key else { continue }
        let name = book.take(column.name)
        columns.append((name, number, place))
        let source = "\(PlainNames.quoted(schema.tables[number].name)).\(PlainNames.quoted(column.name))"
        list.append(name == column.name ? source : "\(source) AS \(PlainNames.quoted(name))")
      }
    }
    let key = "\(PlainNames.quoted(own.name)).\(PlainNames.quoted(own.columns[0].name))"
    let joins = chain.dropFirst().map { subject in
      let table = schema.tables[table(subject)]
      let name = PlainNames.quoted(table.name)
      return "\n  JOIN \(name) ON \(name).\(PlainNames.quoted(table.columns[0].name)) = \(key)"
    }
    let name = names.take("\(own.name)_whole")
    return View(
      name: name, entity: entity, columns: columns,
      sql: "CREATE VIEW \(PlainNames.quoted(name)) AS\n  SELECT \(list.joined(separator: ", "))\n"
        + "  FROM \(PlainNames.quoted(own.name))" + joins.joined())
  }
}
