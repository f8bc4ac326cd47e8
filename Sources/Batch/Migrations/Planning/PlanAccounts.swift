import CoreDataModel
import CoreDataStore
import Streams

/// What a plan says of everything in the versions of its path, before a row is migrated.
package struct PlanAccounts {
  /// For each version but the last one, in the order of the path.
  package private(set) var accounts: [VersionAccount]
  /// Objects of the store by entity; empty if nothing is counted.
  private(set) var rows: [MigrationPlan.EntityRows] = []

  /// Looks at the steps; with `counts` reads the whole store. What later versions hold is said as far as inferred steps
  /// leave no doubt.
  package init(_ steps: [MigrationStep], reader: StoreReader, binding: StoreBinding, counts: Bool) throws {
    let stages = steps.flatMap { $0.passed + [$0] }
    let lines = stages.map { $0.lines() }
    accounts = lines.map(\.account)
    guard counts else { return }
    let tally = try ContentTally(
      reader, binding: binding, tables: binding.tables.indices, conversions: lines.first?.conversions ?? [])
    rows = binding.layout.entityNames.enumerated().map { index, name in
      MigrationPlan.EntityRows(entity: name, number: index + 1, rows: tally.rows.objects(index + 1))
    }
    guard !stages.isEmpty else { return }
    accounts[0] = try accounts[0].counted(tally, binding, to: stages[0].destination)
    for index in stages.indices.dropFirst() where stages[index - 1].isInferred {
      accounts[index] = accounts[index].following(accounts[index - 1], in: stages[index].source)
    }
  }
}

extension VersionAccount {
  /// The account with the counts that follow from those of the version before, where that step was inferred.
  fileprivate func following(_ before: VersionAccount, in model: ManagedObjectModel) -> VersionAccount {
    var (account, objects) = (self, [String: UInt64?]())
    for index in lines.indices where lines[index].holdsData {
      let line = lines[index]
      let sources = before.lines.filter { $0.kind == line.kind && $0.to.contains(line.path) }
      let sum = sources.reduce(UInt64?(0)) { sum, source in
        before.count(of: source).flatMap { count in sum.map { $0 + count } }
      }
      var count = sum
      if line.kind == .entity { objects[line.entity] = sum }
      // A value that is required, or one that is new, comes from the model.
      if line.kind == .attribute, let attribute = model.attribute(line.name ?? "", of: line.entity),
        attribute.defaultValue != nil,
        sources.isEmpty || !attribute.isOptional
      {
        count = objects[line.entity] ?? nil
      }
      account.lines[index].count = count
    }
    return account
  }

  /// The count of a line, or of the line that counts for it.
  private func count(of line: AccountLine) -> UInt64? {
    var (line, hops) = (line, 0)
    while let other = line.countedAs, hops < 3 {
      guard let next = lines.first(where: { $0.path == other && $0.kind == line.kind }) else { return nil }
      (line, hops) = (next, hops + 1)
    }
    return line.count
  }
}
