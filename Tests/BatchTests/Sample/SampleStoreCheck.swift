import Foundation
import GRDB

@testable import CoreDataModel
@testable import CoreDataStore

/// Asks SQLite whether a store is a whole one of its model: rows, keys, links and values. Knows nothing of how samples
/// are made; tables and columns are those of the layout.
struct SampleStoreCheck {
  let database: Database
  let layout: StoreLayout
  private var problems: [String] = []

  private var model: ManagedObjectModel { layout.model }

  static func problems(path: String, model: ManagedObjectModel, rows: UInt64) throws -> [String] {
    let layout = try StoreLayout(model: model)
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.inDatabase { database in
      var check = SampleStoreCheck(database: database, layout: layout)
      try check.run(rows)
      return check.problems
    }
  }

  private init(database: Database, layout: StoreLayout) {
    self.database = database
    self.layout = layout
  }

  private mutating func run(_ rows: UInt64) throws {
    problems += try String.fetchAll(database, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
    var found: UInt64 = 0
    for table in layout.entityTables {
      found += try checkTable(table)
      for column in table.columns { try check(column, in: table) }
    }
    if found != rows { problems.append("\(found) rows instead of \(rows)") }
    for join in layout.joinTables { try check(join) }
    for name in layout.entityNames {
      for relationship in model.entity(name)?.relationships ?? [] { try checkPairs(relationship, of: name) }
      for constraint in model.entity(name)?.uniquenessConstraints ?? [] { try check(constraint, of: name) }
    }
  }

  private func count(_ sql: String) throws -> UInt64 {
    try UInt64.fetchOne(database, sql: "SELECT count(*) \(sql)") ?? 0
  }

  /// No row may answer the question.
  private mutating func none(_ what: String, _ sql: String) throws {
    let found = try count(sql)
    if found > 0 { problems.append("\(found) rows \(what): \(sql)") }
  }

  /// Z_ENT of the objects of an entity, its sub-entities included.
  private func numbers(_ entity: String) -> String {
    let kinds = layout.entityNames.filter { model.isKind($0, of: entity) && model.entity($0)?.isAbstract == false }
    return "(\(kinds.map { "\(layout.entityNumbers[$0] ?? 0)" }.joined(separator: ", ")))"
  }

  private mutating func checkTable(_ table: EntityTable) throws -> UInt64 {
    let rows = try count("FROM \"\(table.name)\"")
    try none("of no entity", "FROM \"\(table.name)\" WHERE Z_ENT NOT IN \(numbers(table.rootEntity)) OR Z_OPT IS NOT 1")
    try none("with keys beyond the count", "FROM \"\(table.name)\" WHERE Z_PK NOT BETWEEN 1 AND \(rows)")
    let number = layout.entityNumbers[table.rootEntity] ?? 0
    let known = try count("FROM Z_PRIMARYKEY WHERE Z_ENT = \(number) AND Z_MAX = \(rows)")
    if known != 1 { problems.append("Z_PRIMARYKEY does not know the \(rows) rows of \(table.name)") }
    return rows
  }

  private mutating func check(_ column: CoreDataStore.Column, in table: EntityTable) throws {
    switch column.role {
    case .primaryKey, .entity, .optimisticLock, .toOneEntity, .orderingKey, .inverselessOrder, .unknown: return
    case .attribute(let entity, let path): try checkAttribute(path, entity, column, table)
    case .toOne(let entity, let name):
      guard let relationship = model.relationship(name, of: entity) else { return }
      try checkKey(column, table, owner: entity, target: relationship.destinationEntity)
      if let helper = layout.entityColumn(forToOne: name, ofEntity: entity) {
        try checkHelper(helper, of: column, in: table, target: relationship.destinationEntity)
      }
      if let order = layout.orderColumn(forToOne: name, ofEntity: entity) {
        try checkOrder(order, of: column, in: table)
      }
    case .inverselessOwner(let entity, let name):
      guard let relationship = model.relationship(name, of: entity) else { return }
      try checkKey(column, table, owner: relationship.destinationEntity, target: entity)
      let order = table.columns.first { $0.role == .inverselessOrder(entity: entity, name: name) }
      if let order { try checkOrder(order, of: column, in: table) }
    }
  }

  private mutating func checkAttribute(
    _ path: String, _ entity: String, _ column: CoreDataStore.Column, _ table: EntityTable
  )
    throws
  {
    let names = path.split(separator: ".").map(String.init)
    var found = model.entity(entity)?.attributes.first { $0.name == names[0] }
    for name in names.dropFirst() { found = found?.elements.first { $0.name == name } }
    guard let attribute = found else { return problems.append("column \(column.name) belongs to no attribute") }
    let (place, value) = ("FROM \"\(table.name)\" WHERE", "\"\(column.name)\"")
    try none("of other entities with a value", "\(place) Z_ENT NOT IN \(numbers(entity)) AND \(value) NOT NULL")
    if attribute.derivationExpression != nil { return try none("with a derived value", "\(place) \(value) NOT NULL") }
    try none("of a wrong type", "\(place) \(value) NOT NULL AND NOT (\(Self.condition(attribute, value)))")
    // A constraint over few values leaves NULLs where they have run out.
    let isScarce = [.boolean, .integer16, .float].contains(attribute.type) && isConstrained(attribute.name)
    if !attribute.isOptional, !isScarce {
      try none("without a required value", "\(place) Z_ENT IN \(numbers(entity)) AND \(value) IS NULL")
    }
  }

  private func isConstrained(_ property: String) -> Bool {
    model.entities.contains { $0.uniquenessConstraints.contains { $0.contains(property) } }
  }

  private static func condition(_ attribute: AttributeDescription, _ value: String) -> String {
    switch attribute.type {
    case .integer16: "typeof(\(value)) = 'integer' AND \(value) BETWEEN -32768 AND 32767"
    case .integer32: "typeof(\(value)) = 'integer' AND \(value) BETWEEN -2147483648 AND 2147483647"
    case .integer64: "typeof(\(value)) = 'integer'"
    case .boolean: "typeof(\(value)) = 'integer' AND \(value) IN (0, 1)"
    case .date, .decimal: "typeof(\(value)) IN ('integer', 'real')"
    case .double, .float: "typeof(\(value)) = 'real'"
    case .string: "typeof(\(value)) = 'text'"
    case .uri: "typeof(\(value)) = 'text' AND length(\(value)) > 0"
    case .uuid: "typeof(\(value)) = 'blob' AND length(\(value)) = 16"
    case .binaryData where attribute.allowsExternalBinaryDataStorage:
      "typeof(\(value)) = 'blob' AND (length(\(value)) IN (1, 6001) OR length(\(value)) BETWEEN 11 AND 201)"
        + " AND substr(\(value), 1, 1) = x'01'"
    case .binaryData:
      "typeof(\(value)) = 'blob' AND (length(\(value)) IN (0, 6000) OR length(\(value)) BETWEEN 10 AND 200)"
    default: "typeof(\(value)) = 'blob' AND substr(\(value), 1, 8) = CAST('bplist00' AS BLOB)"
    }
  }

  private mutating func checkKey(_ column: CoreDataStore.Column, _ table: EntityTable, owner: String, target: String)
    throws
  {
    guard let other = layout.table(ofEntity: target) else { return problems.append("\(target) has no table") }
    let key = "\"\(column.name)\""
    try none(
      "of other entities with a key", "FROM \"\(table.name)\" WHERE Z_ENT NOT IN \(numbers(owner)) AND \(key) NOT NULL")
    let targets = "SELECT Z_PK FROM \"\(other.name)\" WHERE Z_ENT IN \(numbers(target))"
    try none("with a dangling key", "FROM \"\(table.name)\" WHERE \(key) NOT NULL AND \(key) NOT IN (\(targets))")
  }

  private mutating func checkHelper(
    _ helper: CoreDataStore.Column, of key: CoreDataStore.Column, in table: EntityTable, target: String
  )
    throws
  {
    guard let other = layout.table(ofEntity: target) else { return }
    let wanted = "(SELECT t.Z_ENT FROM \"\(other.name)\" t WHERE t.Z_PK = o.\"\(key.name)\")"
    try none("with a wrong helper", "FROM \"\(table.name)\" o WHERE o.\"\(helper.name)\" IS NOT \(wanted)")
  }

  private mutating func checkOrder(_ order: CoreDataStore.Column, of key: CoreDataStore.Column, in table: EntityTable)
    throws
  {
    let (place, order) = ("FROM \"\(table.name)\" WHERE", "\"\(order.name)\"")
    try none("with a place but no key, or the reverse", "\(place) (\(order) IS NULL) <> (\"\(key.name)\" IS NULL)")
    try none("with a place that is no multiple of 1024", "\(place) \(order) % 1024 <> 0 OR \(order) <= 0")
    let before = "lag(\(order)) OVER (PARTITION BY \"\(key.name)\" ORDER BY Z_PK) AS before"
    try none(
      "out of key order",
      "FROM (SELECT \(order) AS place, \(before) FROM \"\(table.name)\" WHERE \(order) NOT NULL) WHERE place <= before")
  }

  /// Both sides of a one-to-one name each other.
  private mutating func checkPairs(_ relationship: RelationshipDescription, of entity: String) throws {
    let shape = RelationshipShape(model: model)
    guard !relationship.isToMany, !relationship.isTransient,
      let (inverse, description) = shape.mutualInverse(of: relationship), !description.isToMany,
      let own = layout.column(forToOne: relationship.name, ofEntity: entity),
      let table = layout.table(ofEntity: entity),
      let back = layout.column(forToOne: inverse.name, ofEntity: inverse.entity),
      let other = layout.table(ofEntity: inverse.entity)
    else { return }
    let partner = "SELECT t.\"\(back.name)\" FROM \"\(other.name)\" t WHERE t.Z_PK = o.\"\(own.name)\""
    try none(
      "whose partner has another partner",
      "FROM \"\(table.name)\" o WHERE o.\"\(own.name)\" NOT NULL AND (\(partner)) IS NOT o.Z_PK")
  }

  private mutating func check(_ join: JoinTable) throws {
    let place = "FROM \"\(join.name)\""
    guard let relationship = model.relationship(join.relationship.name, of: join.relationship.entity) else { return }
    let (source, target) = ("\"\(join.sourceColumn)\"", "\"\(join.destinationColumn)\"")
    for (column, entity) in [(source, join.relationship.entity), (target, relationship.destinationEntity)] {
      guard let table = layout.table(ofEntity: entity) else { continue }
      let keys = "SELECT Z_PK FROM \"\(table.name)\" WHERE Z_ENT IN \(numbers(entity))"
      try none("of links that dangle", "\(place) WHERE \(column) IS NULL OR \(column) NOT IN (\(keys))")
    }
    try none("of links made twice", "FROM (SELECT 1 \(place) GROUP BY \(source), \(target) HAVING count(*) > 1)")
    for (order, owner) in [(join.sourceOrderColumn, target), (join.destinationOrderColumn, source)] {
      guard let order else { continue }
      try none("of links without a place", "\(place) WHERE \"\(order)\" IS NULL OR \"\(order)\" % 1024 <> 0")
      try none(
        "of links that share a place", "FROM (SELECT 1 \(place) GROUP BY \(owner), \"\(order)\" HAVING count(*) > 1)")
    }
    guard join.relationship == join.inverse else { return }
    try none(
      "of links without the way back",
      "\(place) a WHERE NOT EXISTS (SELECT 1 \(place) b WHERE b.\(source) = a.\(target) AND b.\(target) = a.\(source))")
  }

  private mutating func check(_ constraint: [String], of entity: String) throws {
    let columns = constraint.compactMap { property in
      layout.column(forAttribute: property, ofEntity: entity) ?? layout.column(forToOne: property, ofEntity: entity)
    }
    guard columns.count == constraint.count, let table = layout.table(ofEntity: entity) else {
      return problems.append("a constraint of \(entity) has no columns")
    }
    let list = columns.map { "\"\($0.name)\"" }
    let whole = list.map { "\($0) NOT NULL" }.joined(separator: " AND ")
    let groups = "SELECT 1 FROM \"\(table.name)\" WHERE \(whole) GROUP BY \(list.joined(separator: ", "))"
    try none("against a constraint", "FROM (\(groups) HAVING count(*) > 1)")
  }
}
