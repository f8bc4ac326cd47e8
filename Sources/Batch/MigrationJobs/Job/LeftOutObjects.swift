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
    let entities = Set(account.lines.filter { $0.kind == .entity && isConcerned($0) }.map(\.entity))
    guard !entities.isEmpty else { return account }
    let found: FilterCount
    do {
      found = try FilterCount(
        entities, step: step, reader: reader, policies: policies, now: Date().timeIntervalSinceReferenceDate,
        memory: memory)
    } catch let error as StreamsError where error.code == .diskFull { return account }
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
