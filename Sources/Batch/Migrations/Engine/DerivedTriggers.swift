import CoreDataModel
import CoreDataStore
import MappingModels

/// Writes triggers in plain SQL that keep a derived attribute up to date: a count, sum, average, least or largest value
/// over the objects of one to-many relationship.
///
/// They call none of Core Data's functions, so they work in every program that writes to the store, and they hold no
/// entity numbers. Each computes the value again, for the owners that a change concerns.
struct DerivedTriggers {
  let layout: StoreLayout

  /// The triggers of an attribute that an entity declares; nil if SQL alone cannot keep its value.
  func rows(_ attribute: AttributeDescription, of entity: String) -> [SchemaRow]? {
    guard attribute.derivationFilter?.isEmpty != false, let text = attribute.derivationExpression,
      let aggregate = DerivedAggregate(text), let table = layout.table(ofEntity: entity),
      let column = layout.column(forAttribute: attribute.name, ofEntity: entity),
      let relationship = layout.model.relationship(aggregate.relationship, of: entity), relationship.isToMany,
      aggregate.fits(
        attribute.type, over: aggregate.value.flatMap { layout.model.attribute($0, of: relationship.destinationEntity) }
      ),
      let links = links(relationship, of: entity, value: aggregate.value)
    else { return nil }
    let name = { (table: String, what: String) in "Z_DA_\(table)_\(entity)_\(attribute.name)_\(what)" }
    let owner = SQLText.name(table.name)
    let value = aggregate.sql(links.value)
    let isMember = members(of: entity, in: table).map { " AND Z_ENT IN (\($0))" } ?? ""
    func update(_ owners: String) -> String {
      "UPDATE \(owner) SET \(SQLText.name(column.name)) = (SELECT \(value) FROM \(links.source) WHERE \(links.owner) = \(owner).Z_PK) "
        + "WHERE Z_PK IN (\(owners))\(isMember)"
    }
    var changes = links.changes
    changes.append(.init(table: table.name, what: "PARAMETER_INSERT", event: "INSERT", owners: "NEW.Z_PK"))
    return changes.map { change in
      let name = name(change.table, change.what)
      let condition = change.condition.map { "WHEN \($0) " } ?? ""
      return SchemaRow(
        type: "trigger", name: name, tableName: change.table, rootPage: 0,
        sql:
          "CREATE TRIGGER \(SQLText.name(name)) AFTER \(change.event) ON \(SQLText.name(change.table)) FOR EACH ROW \(condition)"
          + "BEGIN \(update(change.owners)); END")
    }
  }

  /// The numbers of an entity's objects, asked for by name; nil if all objects of the table are of the entity.
  private func members(of entity: String, in table: EntityTable) -> String? {
    let kinds = layout.entityNames.filter { layout.model.root(of: $0) == table.rootEntity }
    let members = kinds.filter { layout.model.isKind($0, of: entity) }
    guard members.count < kinds.count else { return nil }
    let names = members.map(SQLText.literal).joined(separator: ", ")
    return "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME IN (\(names))"
  }

  // MARK: Where links are

  /// A change of a table, and the keys of the owners that it concerns.
  private struct Change {
    var table: String
    var what: String
    var event: String
    var condition: String?
    var owners: String
  }

  /// What stands for the objects of a relationship: a FROM clause, in it the owner's key and the value, and what
  /// changes them.
  private struct Links {
    var source: String
    var owner: String
    var value: String?
    var changes: [Change]
  }

  private func links(_ relationship: RelationshipDescription, of entity: String, value: String?) -> Links? {
    let other = relationship.destinationEntity
    var column: String?
    if let value {
      guard let found = layout.column(forAttribute: value, ofEntity: other) else { return nil }
      column = SQLText.name(found.name)
    }
    switch layout.storage(of: relationship.name, entity: entity) {
    case .inverseKey(let table, let key, _)?, .ownerKey(let table, let key, _)?:
      let child = layout.entityTables[table]
      return keyed(child.name, key: SQLText.name(child.columns[key].name), value: column)
    case .join(let position, let ownerIsSource)?:
      let join = layout.joinTables[position]
      // Of a relationship that is its own inverse it is not known which column has the owner.
      guard join.relationship != join.inverse, let child = layout.table(ofEntity: other) else { return nil }
      let ends = [join.sourceColumn, join.destinationColumn].map(SQLText.name)
      return joined(
        join.name, owner: ends[ownerIsSource ? 0 : 1], child: ends[ownerIsSource ? 1 : 0], children: child.name,
        value: column)
    case .ownKey?, nil: return nil
    }
  }

  /// The owner's key is in the rows of the objects.
  private func keyed(_ table: String, key: String, value: String?) -> Links {
    let changed = [key, value].compactMap { $0 }
    return Links(
      source: "\(SQLText.name(table)) o", owner: "o.\(key)", value: value.map { "o.\($0)" },
      changes: [
        Change(
          table: table, what: "SOURCE_INSERT", event: "INSERT", condition: "NEW.\(key) IS NOT NULL",
          owners: "NEW.\(key)"),
        Change(
          table: table, what: "SOURCE_DELETE", event: "DELETE", condition: "OLD.\(key) IS NOT NULL",
          owners: "OLD.\(key)"),
        Change(
          table: table, what: "SOURCE_UPDATE", event: "UPDATE OF \(changed.joined(separator: ", "))",
          condition: changed.map { "OLD.\($0) IS NOT NEW.\($0)" }.joined(separator: " OR "),
          owners: "OLD.\(key), NEW.\(key)"),
      ])
  }

  /// The owner's key is beside that of an object in a join table.
  private func joined(_ table: String, owner: String, child: String, children: String, value: String?) -> Links {
    let join = SQLText.name(table)
    var links = Links(
      source: "\(join) l", owner: "l.\(owner)",
      changes: [
        Change(table: table, what: "SOURCE_INSERT", event: "INSERT", owners: "NEW.\(owner)"),
        Change(table: table, what: "SOURCE_DELETE", event: "DELETE", owners: "OLD.\(owner)"),
        Change(
          table: table, what: "SOURCE_UPDATE", event: "UPDATE OF \(owner), \(child)",
          owners: "OLD.\(owner), NEW.\(owner)"),
      ])
    guard let value else { return links }
    links.source += " JOIN \(SQLText.name(children)) o ON o.Z_PK = l.\(child)"
    links.value = "o.\(value)"
    let owners = { (row: String) in "SELECT \(owner) FROM \(join) WHERE \(child) = \(row).Z_PK" }
    links.changes += [
      Change(table: children, what: "SOURCE_INSERT", event: "INSERT", owners: owners("NEW")),
      Change(table: children, what: "SOURCE_DELETE", event: "DELETE", owners: owners("OLD")),
      Change(
        table: children, what: "SOURCE_UPDATE", event: "UPDATE OF \(value)",
        condition: "OLD.\(value) IS NOT NEW.\(value)",
        owners: owners("NEW")),
    ]
    return links
  }
}

/// A derivation by a collection operator over one relationship.
private struct DerivedAggregate {
  let relationship: String
  let name: String
  /// The attribute of the objects; nil for their number.
  let value: String?

  init?(_ text: String) {
    guard let path = (try? Expression(format: text))?.aggregatePath, path.count == (path.last == "@count" ? 2 : 3),
      !path[0].hasPrefix("@"), path[1].hasPrefix("@")
    else { return nil }
    (relationship, name, value) = (path[0], path[1], path.count == 3 ? path[2] : nil)
  }

  /// Whether SQL's value can be stored as it is, and is the one that a migration computes.
  func fits(_ type: AttributeType, over attribute: AttributeDescription?) -> Bool {
    let integers: Set<AttributeType> = [.integer16, .integer32, .integer64]
    let reals: Set<AttributeType> = [.double, .float, .decimal]
    guard value != nil else { return integers.contains(type) || reals.contains(type) }
    guard let attribute, attribute.derivationExpression == nil, !attribute.isTransient else { return false }
    let isInteger = integers.contains(attribute.type)
    if type == .date { return attribute.type == .date && ["@min", "@max"].contains(name) }
    if integers.contains(type) { return isInteger && name != "@avg" }
    return reals.contains(type) && (isInteger || reals.contains(attribute.type))
  }

  /// NULL counts as zero for sum and average, and not at all for the least and the largest.
  func sql(_ value: String?) -> String {
    let value = value ?? "*"
    return switch name {
    case "@count": "count(*)"
    case "@sum": "ifnull(sum(\(value)), 0)"
    case "@avg": "ifnull(CAST(sum(\(value)) AS REAL) / count(*), 0)"
    default: "\(name.dropFirst())(\(value))"
    }
  }
}
