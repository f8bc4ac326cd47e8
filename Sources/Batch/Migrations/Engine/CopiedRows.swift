import CoreDataStore
import RunSupport
import Streams

// Rows that are made without objects: of join tables, and of tables that the model does not know.
extension RowTransformer {
  func links(_ page: RowPage, _ unit: LinkUnit) throws {
    let source = plan.binding.joins.firstIndex { $0.schema.rootPage == unit.scan.root }
    var carried: UInt64 = 0
    defer { if let source { state.tallies[0].add(carriedLinks: carried, of: source) } }
    for index in 0..<page.count {
      let rowid = page.rowid(index)
      guard row.decode(page.record(index)) else {
        throw BatchError(
          .badStore, "a row with links of \(unit.name) is damaged", path: plan.graph.reader.path, key: rowid)
      }
      guard let owner = unit.scan.owner.read(row, rowid), let other = unit.scan.other.read(row, rowid) else { continue }
      guard let from = try unit.carriedOwner(owner), let to = try unit.carriedOther(other) else {
        if try unit.isFirst && passesOn(owner, to: other, unit, of: source) { carried += 1 }
        continue
      }
      if unit.isFirst { state.links[unit.join].read += 1 }
      if unit.isFirstOfPairs { carried += 1 }
      state.links[unit.join].kept += 1
      let (order, inverse) = (unit.order.flatMap { row.integer($0) }, unit.inverseOrder.flatMap { row.integer($0) })
      try manager.link(
        unit.join, source: unit.ownerIsSource ? from : to, destination: unit.ownerIsSource ? to : from,
        sourceOrder: unit.ownerIsSource ? inverse : order, destinationOrder: unit.ownerIsSource ? order : inverse)
    }
  }

  /// Counts a pair that the unit does not carry, and is the first to read for its table; whether it is the first of all,
  /// and another one carries it.
  private func passesOn(_ owner: Int64, to other: Int64, _ unit: LinkUnit, of source: Int?) throws -> Bool {
    let taken = try unit.peers.filter { try $0.carries(owner: owner, other: other) }
    if taken.contains(where: \.isInTable) || (taken.isEmpty && unit.isFirstOfPairs) {
      state.links[unit.join].read += 1
    }
    guard unit.isFirstOfPairs, taken.isEmpty else { return unit.isFirstOfPairs }
    state.links[unit.join].dropped += 1
    // Of a join table, those that are carried are counted.
    if source == nil { state.tallies[0].add(cleared: 1, at: plan.place(ofJoin: unit.join)) }
    return false
  }

  /// Copies records as they are; where entity numbers changed, theirs is replaced.
  func carry(_ page: RowPage, _ table: CarriedObjects.Table, to number: Int) throws {
    for index in 0..<page.count {
      guard let (column, map) = table.numbers else {
        manager.output.append(table: number, rowid: page.rowid(index), record: page.record(index))
        continue
      }
      guard row.decode(page.record(index)) else {
        throw BatchError(
          .badStore, "a row of \(table.row.name) is damaged", path: plan.graph.reader.path, key: page.rowid(index))
      }
      if !table.removed.isEmpty, let number = row.integer(column), table.removed.contains(number) { continue }
      encoder.reset()
      for position in 0..<row.columnCount {
        if position == column, let old = row.integer(position) {
          encoder.append(.integer(map[old] ?? old))
        } else {
          encoder.append(type: row.type(position), body: row.body(position))
        }
      }
      manager.output.append(table: number, rowid: page.rowid(index), encoder)
    }
  }
}
