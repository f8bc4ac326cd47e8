import CoreDataStore
import RunSupport
import Streams

/// A version between two steps of one pass. No file holds its rows: they are made of the store's rows as those are
/// read.
///
/// Tables are named by their roots in the version's ``StoreBinding``. For the transforming thread alone.
package protocol PassedVersion: AnyObject {
  /// The store's table whose rows become a table's; nil for a table that has none.
  func origin(_ root: UInt32) -> (root: UInt32, isWithoutRowid: Bool)?
  /// Makes rows of a table of some rows of its origin, in their order; `rows` is emptied first.
  func make(_ page: RowPage, of root: UInt32, into rows: RowPage) throws
  /// Makes one row of a table; nil if no mapping takes the origin's row. The record is valid until the next call.
  func make(_ key: Int64, _ record: UnsafeRawBufferPointer, of root: UInt32) throws -> UnsafeRawBufferPointer?
  /// The largest key that the entity table may have given out.
  func largestKey(_ root: UInt32) throws -> Int64
}

extension SourceGraph {
  /// Where the rows of a table are read from: the store's own table; nil if the version at hand begins without rows.
  func origin(_ root: UInt32, isWithoutRowid: Bool) -> (root: UInt32, isWithoutRowid: Bool)? {
    guard let passed else { return (root, isWithoutRowid) }
    return passed.origin(root)
  }

  /// Reads all rows of a table, a page of rows at a time.
  func forEachPage(_ root: UInt32, isWithoutRowid: Bool, _ body: (RowPage) throws -> Void) throws {
    guard let origin = origin(root, isWithoutRowid: isWithoutRowid) else { return }
    let scan = try RowScan(
      snapshot: reader.snapshot, root: origin.root, isWithoutRowid: origin.isWithoutRowid, rowLimit: rowLimit,
      longValuesFrom: MemoryBudget.longValueBytes)
    let (page, made) = (RowPage(), passed.map { _ in RowPage() })
    while try scan.next(into: page) {
      guard let passed, let made else {
        try body(page)
        continue
      }
      try passed.make(page, of: root, into: made)
      try body(made)
    }
  }

  /// The largest key that an entity table may have given out: the larger of Z_MAX and the last key that is really
  /// there, as neither is trusted alone.
  package func largestKey(_ table: Int) throws -> Int64 {
    let bound = binding.tables[table]
    if let passed { return try passed.largestKey(bound.schema.rootPage) }
    let number = Int64(binding.layout.entityNumbers[bound.layout.rootEntity] ?? 0)
    let claimed = reader.primaryKeys.first { $0.entityNumber == number }?.maximum ?? 0
    let lookup = RowLookup(snapshot: reader.snapshot, root: bound.schema.rootPage, cacheBytes: 1 << 16, rowLimit: .max)
    let last = try lookup.lastRowid() ?? 0
    return max(claimed, last, 0)
  }
}
