import CoreDataStore
import RunSupport
import Streams

/// What the rows of a table of history name: entities by number, each with the first row that does, and the first with
/// a bitmap.
package struct HistoryRows {
  let table: String
  let path: String
  private(set) var first: [Int64: Int64] = [:]
  private(set) var firstBitmap: [Int64: Int64] = [:]
  /// Rows by entity number, in the table itself.
  private var counts: [Int64: Int] = [:]

  init(of table: TableSchema, entity: Int, in reader: StoreReader) throws {
    (self.table, path) = (table.name, reader.path)
    let bitmaps = table.columns.indices.filter { index in
      let name = NameOrder.folded(table.columns[index].name)
      return name == "zcolumns" || name.hasPrefix("ztombstone")
    }
    let (scan, page, row) = (
      TableScan(snapshot: reader.snapshot, root: table.rootPage, rowLimit: StoreReader.fixedRowLimit), RowPage(),
      RecordDecoder()
    )
    while try scan.next(into: page) {
      for index in 0..<page.count {
        guard row.decode(page.record(index)) else {
          throw BatchError(.badStore, "a row of \(table.name) is damaged", path: reader.path, key: page.rowid(index))
        }
        guard let number = row.integer(entity) else { continue }
        counts[number, default: 0] += 1
        if first[number] == nil { first[number] = page.rowid(index) }
        guard firstBitmap[number] == nil, bitmaps.contains(where: { $0 < row.columnCount && row.type($0) != 0 }) else {
          continue
        }
        firstBitmap[number] = page.rowid(index)
      }
    }
  }

  /// Forgets the rows of these entities; how many there were.
  mutating func remove(_ numbers: Set<Int64>) -> Int {
    let count = numbers.reduce(0) { $0 + (counts[$1] ?? 0) }
    for number in numbers { (first[number], firstBitmap[number], counts[number]) = (nil, nil, nil) }
    return count
  }

  /// The same rows with other numbers.
  func renumbered(_ numbers: [Int64: Int64]) -> HistoryRows {
    func changed(_ rows: [Int64: Int64]) -> [Int64: Int64] {
      Dictionary(rows.compactMap { number, row in numbers[number].map { ($0, row) } }, uniquingKeysWith: min)
    }
    var result = self
    (result.first, result.firstBitmap) = (changed(first), changed(firstBitmap))
    return result
  }
}
