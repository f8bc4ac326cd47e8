import CoreDataStore

/// A to-one relationship whose key is in the row itself, so that a line's target can be written there at once.
///
/// What the other side says of the same link is compared when tables are built.
struct ImportToOne {
  private let column: Int
  private let entityColumn: Int?
  private let orderColumn: Int?
  /// Entities that it may lead to.
  private let targets: [(name: [UInt8], number: Int)]
  /// The only one of them, if the line need not name it.
  private let only: Int?

  /// Nil if more than this row says where the link is.
  init?(_ relationship: ImportPlan.Relationship, _ plan: ImportPlan) {
    // A key that may lead to no object is noted when its line is read.
    guard !relationship.isToMany, relationship.back == nil, !plan.allowsDangling,
      case .ownKey(_, let column, let entityColumn, let orderColumn) = relationship.storage
    else { return nil }
    (self.column, self.entityColumn, self.orderColumn) = (column, entityColumn, orderColumn)
    targets = plan.layout.entityNames.filter { plan.layout.model.isKind($0, of: relationship.destination) }.compactMap {
      guard let number = plan.entities[$0]?.number else { return nil }
      return (Array($0.utf8), number)
    }
    only = plan.hasFamily(relationship.destination) ? nil : plan.entities[relationship.destination]?.number
  }

  /// Sets the target in a row; false if the line does not say enough. `own` is the row's key, if it is given.
  func set(_ key: Int64, of entity: UnsafeRawBufferPointer?, in row: ImportRow, own: Int64?) -> Bool {
    let number = entity.map { name in targets.first { $0.name.elementsEqual(name) }?.number } ?? only
    guard let number, key > 0 else { return false }
    row.set(column, .integer(key))
    if let entityColumn { row.set(entityColumn, .integer(Int64(number))) }
    guard let orderColumn else { return true }
    // Where nobody says the order, it is that of the keys.
    guard let own else { return false }
    row.set(orderColumn, .integer(own &* 1024))
    return true
  }

  /// Reads the target from JSON as `export` writes it.
  func read(_ scanner: inout ImportScanner, into row: ImportRow, own: Int64?) -> Bool {
    if scanner.next == 0x6E { return scanner.passes("null") }
    guard scanner.passes("{\"entity\":\"") else {
      guard let key = scanner.integer() else { return false }
      return set(key, of: nil, in: row, own: own)
    }
    guard let entity = scanner.text(), scanner.passes(",\"key\":"), let key = scanner.integer(), scanner.passes(0x7D)
    else { return false }
    return set(key, of: entity, in: row, own: own)
  }
}
