import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// Counts the rows of one table as they go by.
final class TableTally {
  private struct Conversion {
    var path: String
    var position: Int
    var types: [AttributeType]
  }

  private let nulls: NullTally
  /// Of rows that no mapping took: for each group first those that were left out, then those that were rejected; nil as
  /// long as all were taken.
  private var untaken: NullTally?
  private let isNullByDefault: [Bool]
  private let name: String
  private let entityPosition: Int
  private let columnCount: Int
  /// By Z_ENT: the group in ``nulls``; 0 for an entity that the table does not hold. Read for every row.
  private let groups: UnsafeMutableBufferPointer<Int32>
  private var numbers: [Int] = []
  /// By Z_ENT; empty where no entity of the table has one.
  private let conversions: [[Conversion]]
  /// Whether somebody must look into values, for which `row` is needed. Read for every row.
  let looksIntoValues: Bool
  private var changed: [String: UInt64] = [:]
  /// By Z_ENT; empty where no entity of the table has one.
  private let goneTargets: [Int: [GoneTarget]]
  private var cleared: [KeyPlace: UInt64] = [:]

  /// Prepares for a table of a store. Conversions of entities in other tables are none of its business.
  init(
    _ binding: StoreBinding, table: Int, _ conversions: [AccountLines.Conversion], goneTargets: [GoneTarget] = []
  ) throws {
    let (bound, names) = (binding.tables[table], binding.layout.entityNames)
    isNullByDefault = bound.schema.columns.map { ($0.defaultValue ?? .null) == .null }
    (name, entityPosition, columnCount) = (bound.schema.name, bound.positions[1], bound.schema.columns.count)
    groups = .allocate(capacity: names.count + 1)
    groups.initialize(repeating: 0)
    for (index, name) in names.enumerated() where binding.layout.tablePosition(ofEntity: name) == table {
      numbers.append(index + 1)
      groups[index + 1] = Int32(numbers.count)
    }
    nulls = NullTally(groups: numbers.count + 1, columns: columnCount)
    var found: [[Conversion]] = []
    for conversion in conversions where binding.layout.tablePosition(ofEntity: conversion.entity) == table {
      let entity = try SourceEntity(name: conversion.entity, binding: binding)
      guard let position = entity.attributes[conversion.attribute]?.position else { continue }
      if found.isEmpty { found = Array(repeating: [], count: binding.layout.entityNames.count + 1) }
      found[entity.number].append(
        Conversion(path: "\(conversion.entity).\(conversion.attribute)", position: position, types: conversion.types))
    }
    self.goneTargets = Dictionary(grouping: goneTargets.filter { $0.table == table }, by: \.number)
    self.conversions = found
    looksIntoValues = !found.isEmpty || !self.goneTargets.isEmpty
  }

  deinit { groups.deallocate() }

  /// Counts a row whose columns were located.
  @inline(__always)
  func add(_ locator: RecordLocator, _ number: Int64) { nulls.add(locator, to: Int(groups[Int(number)])) }

  /// Counts a row that was decoded.
  func add(_ row: RecordDecoder, _ number: Int64) {
    nulls.add(row, to: Int(groups[Int(number)])) { isNullByDefault[$0] }
  }

  /// Counts what converting a decoded row changes, and what of it is cleared, or takes that back.
  func look(_ row: RecordDecoder, _ number: Int64, takesBack: Bool = false) throws {
    guard looksIntoValues else { return }
    for target in goneTargets[Int(number)] ?? [] where try target.isCleared(in: row) {
      cleared[target.place, default: 0] &+= takesBack ? .max : 1
    }
    guard !conversions.isEmpty else { return }
    for conversion in conversions[Int(number)] where conversion.position < row.columnCount {
      let value = try row.value(conversion.position)
      guard value != .null, let converted = conversion.types.converted(value) else { continue }
      if !converted.isSameNumber(as: value) { changed[conversion.path, default: 0] &+= takesBack ? .max : 1 }
    }
  }

  /// Counts a decoded row that no mapping took, after it was counted with all others.
  func leave(_ row: RecordDecoder, isRejected: Bool) throws {
    guard let number = row.integer(entityPosition), number > 0, number < Int64(groups.count) else { return }
    let untaken = untaken ?? NullTally(groups: 2 * (numbers.count + 1), columns: columnCount)
    self.untaken = untaken
    untaken.add(row, to: 2 * Int(groups[Int(number)]) + (isRejected ? 1 : 0)) { isNullByDefault[$0] }
    try look(row, number, takesBack: true)
  }

  /// Adds what was counted since the last call.
  func take(into tally: inout ContentTally) {
    nulls.take { group, found in tally.add(group == 0 ? 0 : numbers[group - 1], found) }
    untaken?.take { group, found in
      let number = group < 2 ? 0 : numbers[group / 2 - 1]
      if group % 2 == 0 { tally.add(leftOut: number, found) } else { tally.add(rejected: number, found) }
    }
    if !changed.isEmpty { tally.add(changed: changed) }
    for (place, count) in cleared where count != 0 { tally.add(cleared: count, at: place) }
    (changed, cleared) = ([:], [:])
  }

  /// Counts a page of rows. Throws `badStore` for a row that cannot be read, or whose entity the table does not hold.
  func count(_ page: RowPage, into tally: inout ContentTally, path: String?) throws {
    let (locator, row) = (RecordLocator(columnCount: columnCount), RecordDecoder())
    for index in 0..<page.count {
      let isLocated = locator.locate(page.record(index))
      if isLocated { locator.lend(to: row) }
      guard isLocated || row.decode(page.record(index)), let number = row.integer(entityPosition), number > 0,
        number < Int64(groups.count)
      else {
        throw BatchError(
          .badStore, "a row of \(name) is damaged, or has an entity number that its table does not hold", path: path,
          key: page.rowid(index))
      }
      if isLocated { add(locator, number) } else { add(row, number) }
      try look(row, number)
    }
    take(into: &tally)
  }
}

extension Value {
  fileprivate func isSameNumber(as other: Value) -> Bool {
    switch (self, other) {
    case (.integer(let left), .real(let right)): Double(left) == right && Int64(exactly: right) == left
    case (.real(let left), .integer(let right)): Double(right) == left && Int64(exactly: left) == right
    default: self == other
    }
  }
}
