import CoreDataStore
import RunSupport
import Streams

/// Counts objects without a value, each table read once.
struct ValueCount {
  /// Of which objects, and where the value is in their records: at one of these positions; without one none has it.
  struct Sought {
    var entity: SourceEntity
    var positions: [Int]
  }

  /// Objects without a value, in the order of what was sought.
  private(set) var missing: [UInt64]

  /// Reads the tables of the entities concerned.
  init(_ sought: [Sought], reader: StoreReader, binding: StoreBinding) throws {
    missing = Array(repeating: 0, count: sought.count)
    for table in binding.tables.indices {
      let concerned = sought.indices.filter { sought[$0].entity.table == table }
      guard !concerned.isEmpty else { continue }
      try count(concerned.map { ($0, sought[$0]) }, table: binding.tables[table], reader: reader)
    }
  }

  private mutating func count(
    _ concerned: [(index: Int, sought: Sought)], table: StoreBinding.Table, reader: StoreReader
  )
    throws
  {
    let scan = TableScan(
      snapshot: reader.snapshot, root: table.schema.rootPage, rowLimit: .max,
      longValuesFrom: MemoryBudget.longValueBytes)
    let isNullByDefault = table.schema.columns.map { ($0.defaultValue ?? .null) == .null }
    let (page, row) = (RowPage(), RecordDecoder())
    while try scan.next(into: page) {
      for index in 0..<page.count where row.decode(page.record(index)) {
        let number = row.integer(table.positions[1])
        for (place, sought) in concerned where number == Int64(sought.entity.number) {
          let isMissing = sought.positions.allSatisfy {
            $0 < row.columnCount ? row.type($0) == SerialType.null : isNullByDefault[$0]
          }
          if isMissing { missing[place] += 1 }
        }
      }
    }
  }
}
