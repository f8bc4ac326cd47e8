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
    let otherSides = linksOfOtherSides(before)
    for index in lines.indices where lines[index].holdsData {
      let line = lines[index]
      let sources = before.lines.filter { $0.kind == line.kind && $0.to.contains(line.path) }
      let sum = before.sum(of: sources + otherSides[line.path, default: []])
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

  /// By the path of a line: the lines of the version before whose links come to the other side of its relationship, where
  /// the line that counts them comes to none that counts.
  private func linksOfOtherSides(_ before: VersionAccount) -> [String: [AccountLine]] {
    let (sides, counting) = (lines.filter { $0.countedAs != nil }, Set(lines.filter(\.holdsData).map(\.path)))
    let ends = Dictionary(sides.map { ($0.path, self.counting($0)?.path) }) { first, _ in first }
    var found: [String: [AccountLine]] = [:]
    for line in before.lines where line.kind == .relationship {
      guard before.counting(line)?.to.contains(where: counting.contains) == false else { continue }
      for end in Set(line.to.compactMap { ends[$0] ?? nil }) { found[end, default: []].append(line) }
    }
    return found
  }

  /// What lines count together. Links are counted once, though both of their sides are asked for.
  private func sum(of lines: [AccountLine]) -> UInt64? {
    var known: Set<String> = []
    return lines.reduce(UInt64?(0)) { sum, line in
      guard let line = counting(line) else { return nil }
      guard known.insert(line.path).inserted else { return sum }
      return line.count.flatMap { count in sum.map { $0 + count } }
    }
  }

  /// The line that counts for a line, which may be itself.
  private func counting(_ line: AccountLine) -> AccountLine? {
    var (line, hops) = (line, 0)
    while let other = line.countedAs, hops < 3 {
      guard let next = lines.first(where: { $0.path == other && $0.kind == line.kind }) else { return nil }
      (line, hops) = (next, hops + 1)
    }
    return line
  }
}
