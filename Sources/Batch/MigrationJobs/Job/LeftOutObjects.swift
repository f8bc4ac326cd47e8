import CoreDataStore
import Foundation
import Migrations
import RunSupport
import Streams

/// Counts the objects of a store that a step's filters and removals leave out, before any is migrated.
struct LeftOutObjects {
  let step: MigrationStep
  let reader: StoreReader
  let policies: PolicyRegistry
  let memory: MemoryBudget

  /// The account of the step with how many objects of those lines are left out, and how many values these have. Without
  /// these counts where what filters look up does not fit into memory: the run counts then, and is judged before its
  /// cut-over.
  func count(_ account: VersionAccount, where isConcerned: (AccountLine) -> Bool) throws -> VersionAccount {
    guard let found = try find(account, isConcerned) else { return account }
    return told(account, found, where: isConcerned)
  }

  /// The account with all that filters and removals leave out, links as well, and what a plan says of these.
  func foretold(_ account: VersionAccount) throws -> (account: VersionAccount, notes: [String]) {
    func isConcerned(_ line: AccountLine) -> Bool { line.leftOutBy == .filter || line.leftOutBy == .removal }
    guard let found = try find(account, links: telling(account), isConcerned) else { return (account, []) }
    let counted = told(account, found, where: isConcerned)
    let (whole, isWhole) = try found.withLinks(counted)
    guard isWhole else {
      return (whole, ["links to objects that are left out are cleared; there are too many to count them here"])
    }
    return (whole, whole.lines.compactMap(\.clearing))
  }

  /// Nil where nothing is to be counted, or too much would be looked up.
  private func find(
    _ account: VersionAccount, links: Bool = false, _ isConcerned: (AccountLine) -> Bool
  ) throws -> FilterCount? {
    let entities = entities(account, isConcerned)
    guard !entities.isEmpty || links else { return nil }
    do {
      return try FilterCount(
        entities, links: links ? account : nil, step: step, reader: reader, policies: policies,
        now: Date().timeIntervalSinceReferenceDate,
        memory: memory)
    } catch let error as StreamsError where error.code == .diskFull { return nil }
  }

  /// Whether links of one relationship may go or stay by the entity of their objects.
  private func telling(_ account: VersionAccount) -> Bool {
    if account.lines.contains(where: { $0.narrowed != nil && $0.count != 0 }) { return true }
    let lines = account.lines.filter { $0.kind == .entity && step.source.entity($0.entity)?.isAbstract == false }
    let kinds = Dictionary(grouping: lines) { step.source.ancestors(of: $0.entity).last?.name ?? $0.entity }
    return kinds.values.contains { kind in
      kind.contains { !$0.isGone } && kind.contains { $0.isGone && $0.count != 0 }
    }
  }

  private func entities(_ account: VersionAccount, _ isConcerned: (AccountLine) -> Bool) -> Set<String> {
    Set(account.lines.filter { $0.kind == .entity && isConcerned($0) }.map(\.entity))
  }

  private func told(_ account: VersionAccount, _ found: FilterCount, where isConcerned: (AccountLine) -> Bool)
    -> VersionAccount
  {
    let entities = entities(account, isConcerned)
    var counted = account
    for index in counted.lines.indices where entities.contains(counted.lines[index].entity) {
      let line = counted.lines[index]
      switch line.kind {
      case .entity: counted.lines[index].leftOut = found.leftOut[line.entity] ?? 0
      case .attribute: counted.lines[index].leftOut = found.values[line.entity]?[line.name ?? ""]
      case .relationship, .index, .constraint, .trigger: break
      }
    }
    return counted
  }
}
