import CoreDataStore

/// Follows the keys of one column to the rows that they name: of a to-one relationship, of a to-many without inverse
/// (whose owner's key stands in the destination's row), or of one end of a join table.
///
/// Keys are taken in their own order, from their index or else sorted by SQLite, so that both tables are read once from
/// front to back: on 2 million keys in random order 0.4 s by index and 1.4 s by sorting, where look-ups in the order of
/// rows take 5 s.
struct ReferenceCheck: Sendable {
  /// Where the keys lead.
  struct Target: Sendable {
    let table: SweptTable
    let entityColumn: String
    /// The Z_ENT that are right; nil when every row of the table will do.
    var allowed: [Int64]?
  }

  let name: String
  let table: SweptTable
  let property: PropertyReference
  /// The column that is followed.
  let column: String
  /// The columns that a report names: the owner's key, and the key that it points at.
  let (ownerColumn, destinationColumn): (String, String)
  let target: Target
  /// A link needs both its ends; a to-one may be NULL.
  var isLink = false
  /// The column with the Z_ENT of the row that the key leads to.
  var helper: String?
  /// In the target's table: the column of the other side of a one-to-one relationship.
  var back: String?

  /// The last is a warning: real stores have objects whose partner names nobody.
  private static let faults: [(kind: Violation.Kind, message: String, isWarning: Bool)] = [
    (.dangling, "the key leads to no row", false),
    (.wrongEntity, "the key leads to an object of another entity than the relationship's", false),
    (.helperNumber, "the column beside the key does not hold the Z_ENT of the object that the key leads to", false),
    (.oneSided, "the other side of the one-to-one relationship points at another object", false),
    (.oneSided, "the other side of the one-to-one relationship is NULL", true),
  ]

  func check(weight: Double) -> StoreCheck {
    StoreCheck(name: name, weight: weight) { try run(on: $0) }
  }

  private func run(on connection: StoreConnection) throws -> CheckFindings {
    var tallies = Self.faults.map { _ in KeyTally() }
    try connection.rows(sql) { row in
      guard let fault = Int(exactly: row.integer(2) - 1), tallies.indices.contains(fault) else { return }
      tallies[fault].add(row.integerIfAny(0), destination: row.integerIfAny(1))
    }
    var findings = CheckFindings()
    for (fault, tally) in zip(Self.faults, tallies) {
      findings.add(
        Violation(
          kind: fault.kind, entity: property.entity, property: property.name, table: table.schema.name,
          message: isLink ? "in \(name), \(fault.message)" : fault.message, count: tally.count,
          examples: tally.examples), asWarning: fault.isWarning)
    }
    return findings
  }

  /// The number of the first rule that the row breaks, from 1; 0 when it breaks none.
  private func fault(owner: String, helper: String?) -> String {
    let entity = "d.\(StoreConnection.quoted(target.entityColumn))"
    var text = "CASE WHEN d.\(target.table.rowid) IS NULL THEN 1"
    if let allowed = target.allowed {
      text += " WHEN ifnull(\(entity), 0) NOT IN (\(allowed.map(String.init).joined(separator: ", "))) THEN 2"
    }
    if let helper { text += " WHEN \(helper) IS NOT \(entity) THEN 3" }
    if let back {
      let column = "d.\(StoreConnection.quoted(back))"
      text += " WHEN \(column) IS NULL THEN 5 WHEN \(column) IS NOT \(owner) THEN 4"
    }
    return text + " ELSE 0 END"
  }

  private var sql: String {
    // An index with the helper in it does not exist, and one without it would lead to rows at random.
    let index = helper == nil ? table.indexes.first { $0.columns.first == column } : nil
    return index.map(merged) ?? sorted
  }

  private var names: (owner: String, destination: String, key: String) {
    let q = StoreConnection.quoted
    return (q(ownerColumn), q(destinationColumn), q(column))
  }

  private func merged(by index: SweptIndex) -> String {
    let (owner, destination, key) = names
    let fault = fault(owner: "o.\(owner)", helper: nil)
    return "SELECT o.\(owner), o.\(destination), \(fault) "
      + "FROM \(table.quoted) o INDEXED BY \(StoreConnection.quoted(index.name)) "
      + "LEFT JOIN \(target.table.quoted) d NOT INDEXED ON d.\(target.table.rowid) = o.\(key) "
      + "WHERE \(isLink ? "" : "o.\(key) IS NOT NULL AND ")(\(fault)) <> 0"
  }

  /// Materialized and joined by a subquery: SQLite would move the sorting of a joined table after the join.
  private var sorted: String {
    let (owner, destination, key) = names
    let other = helper.map { ", \(StoreConnection.quoted($0)) h" } ?? ""
    let found =
      "SELECT \(fault(owner: "o.k", helper: helper.map { _ in "o.h" })) FROM \(target.table.quoted) d NOT INDEXED "
      + "WHERE d.\(target.table.rowid) = o.f"
    return "WITH o AS MATERIALIZED (SELECT \(owner) k, \(destination) e, \(key) f\(other) "
      + "FROM \(table.quoted) NOT INDEXED\(isLink ? "" : " WHERE \(key) IS NOT NULL") ORDER BY \(key)) "
      + "SELECT o.k, o.e, ifnull((\(found)), 1) FROM o WHERE ifnull((\(found)), 1) <> 0"
  }
}
