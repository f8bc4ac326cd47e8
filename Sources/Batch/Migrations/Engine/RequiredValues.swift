import CoreDataStore
import RunSupport
import Streams

extension StepEnding {
  /// Looks for required values that are still missing when all is written. Throws `policyFailed` with the first object.
  func checkRequired() throws {
    // A sample lacks what would set them.
    guard job.rehearsal == nil, !job.isExcerpt else { return }
    var sought: [Int: [Int64: [ObjectRules.Column]]] = [:]
    for (number, rules) in job.plan.rules.enumerated() {
      guard let rules else { continue }
      let entity = job.plan.entities[number - 1]
      let columns = rules.columns.filter { isOpen($0, in: entity, state.lost) }
      if !columns.isEmpty { sought[entity.table, default: [:]][Int64(number)] = columns }
    }
    guard !sought.isEmpty else { return }
    let snapshot = try output.finishedTables()
    defer { snapshot.close() }
    for (table, columns) in sought.sorted(by: { $0.key < $1.key }) {
      try check(table, columns: columns, snapshot: snapshot)
    }
  }

  /// Whether it is not known yet if a required value is there. Links to rejected objects are counted, and are no
  /// errors.
  private func isOpen(_ rule: ObjectRules.Column, in entity: DestinationEntity, _ lost: [String: UInt64]) -> Bool {
    guard rule.required != nil else { return false }
    guard case .toOne(let owner, let name) = job.plan.layout.entityTables[entity.table].columns[rule.column].role,
      lost["\(owner).\(name)"] != nil
    else { return rule.required == .end }
    return job.rejects == nil
  }

  private func check(_ table: Int, columns: [Int64: [ObjectRules.Column]], snapshot: DatabaseSnapshot) throws {
    guard let root = output.database.root(of: job.plan.layout.entityTables[table].name) else { return }
    let (scan, page, row) = (try RowScan.whole(root, snapshot), RowPage(), RecordDecoder())
    while try scan.next(into: page) {
      try job.monitor.throwIfStopRequested()
      for index in 0..<page.count where row.decode(page.record(index)) {
        guard let number = row.integer(1) else { continue }
        for rule in columns[number] ?? [] where row.type(rule.column) == SerialType.null {
          var error = ObjectRules.missing(rule.property, isLate: true)
          (error.entity, error.key) = (job.plan.layout.entityNames[Int(number) - 1], page.rowid(index))
          throw error
        }
      }
    }
  }
}
