import CoreDataModel
import CoreDataStore

/// Counts the objects that each owner has in a to-many relationship, where the model says how many it may have.
///
/// An optional relationship may be empty. One that is not optional may be so, too, where the least number is 0: in 22
/// real stores Core Data saved 906 such objects.
///
/// Links are counted in the order of the owner's key, which their index has; owners are not gone through, as their
/// number is known.
struct CountCheck: Sendable {
  let property: PropertyReference
  let relationship: RelationshipDescription
  /// The owners, and how many there are.
  let owners: ReferenceCheck.Target
  let number: UInt64
  /// The rows that stand for links, and their column with the owner's key.
  let links: SweptTable
  let column: String

  func check(weight: Double) -> StoreCheck {
    StoreCheck(name: "the numbers of objects in \(property)", weight: weight) { try run(on: $0) }
  }

  private func run(on connection: StoreConnection) throws -> CheckFindings {
    var (few, many) = (KeyTally(), KeyTally())
    var owning: UInt64 = 0
    let key = StoreConnection.quoted(column)
    try connection.rows("SELECT \(key), count(*) FROM \(links.quoted) WHERE \(key) IS NOT NULL GROUP BY \(key)") {
      row in
      owning += 1
      let count = row.integer(1)
      if count < Int64(relationship.minCount) { few.add(row.integerIfAny(0)) }
      if relationship.maxCount > 0, count > Int64(relationship.maxCount) { many.add(row.integerIfAny(0)) }
    }
    if !relationship.isOptional, relationship.minCount > 0, number > owning {
      var none = KeyTally()
      try connection.rows(owningNothing) { none.add($0.integerIfAny(0)) }
      few.count += number - owning
      few.examples = Array((none.examples + few.examples).prefix(Violation.exampleLimit))
    }
    var findings = CheckFindings()
    for (message, tally) in [
      ("there are fewer objects than the model wants", few), ("there are more objects than the model allows", many),
    ] {
      findings.add(
        Violation(
          kind: .objectCount, entity: property.entity, property: property.name, table: owners.table.schema.name,
          message: message,
          count: tally.count, examples: tally.examples), asWarning: true)
    }
    return findings
  }

  /// The first owners without links.
  private var owningNothing: String {
    let (key, owner) = (StoreConnection.quoted(column), owners.table)
    let kinds = owners.allowed.map {
      " AND \(StoreConnection.quoted(owners.entityColumn)) IN (\($0.map(String.init).joined(separator: ", ")))"
    }
    // A look for each owner is quick only where an index has the keys.
    let isIndexed = links.indexes.contains { $0.columns.first == column }
    let missing =
      isIndexed
      ? "NOT EXISTS (SELECT 1 FROM \(links.quoted) l WHERE l.\(key) = o.\(owner.rowid))"
      : "o.\(owner.rowid) NOT IN (SELECT \(key) FROM \(links.quoted) WHERE \(key) IS NOT NULL)"
    return
      "SELECT o.\(owner.rowid) FROM \(owner.quoted) o NOT INDEXED WHERE \(missing)\(kinds ?? "") LIMIT \(Violation.exampleLimit)"
  }
}

extension CheckPlan {
  /// Counts in the to-many relationships that the model limits; `objects` says how many there are of each entity. A
  /// relationship that is its own inverse is left out: which column its owners are in is not known.
  func countChecks(_ objects: [String: UInt64]) -> [StoreCheck] {
    layout.entityNames.flatMap { entity in
      (layout.model.entity(entity)?.relationships ?? []).compactMap { count($0, of: entity, objects) }
    }
  }

  private func count(_ relationship: RelationshipDescription, of entity: String, _ objects: [String: UInt64])
    -> StoreCheck?
  {
    let isLimited = relationship.minCount > (relationship.isOptional ? 1 : 0) || relationship.maxCount > 1
    guard relationship.isToMany, isLimited, let owners = target(entity),
      let (links, column) = links(relationship.name, of: entity)
    else { return nil }
    let kinds = layout.entityNames.filter { layout.model.isKind($0, of: entity) }
    return CountCheck(
      property: PropertyReference(entity: entity, name: relationship.name), relationship: relationship, owners: owners,
      number: kinds.reduce(0) { $0 &+ (objects[$1] ?? 0) }, links: links, column: column
    ).check(weight: Double(largestKey(of: links.schema.name)))
  }

  private func links(_ relationship: String, of entity: String) -> (SweptTable, column: String)? {
    let (schema, place): (TableSchema, Int)
    switch layout.storage(of: relationship, entity: entity) {
    case .inverseKey(let position, let column, _)?, .ownerKey(let position, let column, _)?:
      (schema, place) = (binding.tables[position].schema, binding.tables[position].positions[column])
    case .join(let position, let ownerIsSource)?:
      let join = binding.joins[position]
      guard join.layout.relationship != join.layout.inverse else { return nil }
      (schema, place) = (join.schema, ownerIsSource ? join.sourcePosition : join.destinationPosition)
    case .ownKey?, nil: return nil
    }
    return table(schema.name).map { ($0, schema.columns[place].name) }
  }
}
