import CoreDataStore
import RunSupport

// Objects that do not fit together.
extension ImportTables {
  /// A relationship of another object that leads to a row that is not there.
  func nowhere(_ table: Int, _ address: ImportAddress, by patch: ImportSpool.Patch) -> ImportNowhere {
    let owner = plan.byNumber[patch.entity]
    let relationship = owner?.relationships.values.first { $0.sets(patch.column, of: table) }
    return ImportNowhere(
      entity: owner?.name ?? root(patch.table), relationship: relationship?.name ?? property(patch.column, of: table),
      destination: relationship?.destination ?? root(table),
      target: .init(table: table, key: address.key(after: spool.largestKeys[table])), isKept: patch.isWeak,
      line: patch.line)
  }

  /// A required property without value; `number` is the entity's.
  func missing(_ name: String, _ number: Int, line: Int) -> BatchError {
    lines.refusal(
      "\(name) is required and has no value; --validate none writes such objects as they are", at: line,
      entity: plan.byNumber[number]?.name)
  }

  /// Two objects say that a row leads to them.
  func contradiction(_ patch: ImportSpool.Patch, of row: Int64, in table: Int, keys: [Int64]) -> BatchError {
    let shown = keys.sorted().map { "\($0)" }.joined(separator: " and ")
    return lines.refusal(
      "\(root(table)) \(row), relationship \(property(patch.column, of: table)): the two sides of the relationship "
        + "lead to different objects, with the keys \(shown)", at: patch.line)
  }

  private func property(_ column: Int, of table: Int) -> String {
    let found = plan.layout.entityTables[table].columns[column]
    return switch found.role {
    case .toOne(_, let name), .inverselessOwner(_, let name): name
    default: found.name
    }
  }
}

extension ImportPlan.Relationship {
  /// Whether it is a column of the other object's row that says where it leads.
  fileprivate func sets(_ column: Int, of table: Int) -> Bool {
    switch storage {
    case .inverseKey(table, column, _), .ownerKey(table, column, _): return true
    default: break
    }
    if case .ownKey(table, column, _, _)? = back { return true }
    return false
  }
}
