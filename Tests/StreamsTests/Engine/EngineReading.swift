import Streams

/// What the engine's readers find in a table and its indexes, against SQLite's own reading.
struct EngineReading {
  private let source: MemoryDatabase
  private let snapshot: DatabaseSnapshot
  private let table: RandomSchema.Table

  init(_ source: MemoryDatabase, _ snapshot: DatabaseSnapshot, _ table: RandomSchema.Table) {
    (self.source, self.snapshot, self.table) = (source, snapshot, table)
  }

  private var columns: [RandomSchema.Column] { table.columns + (table.later.map { [$0] } ?? []) }

  func check(_ random: inout SeededGenerator) throws {
    let root = try root(table.name)
    guard !table.isWithoutRowid else {
      let rest = columns.indices.filter { !table.key.contains($0) }
      let order = table.key.map { columns[$0].name }.joined(separator: ", ")
      return try checkIndex(root, table.key + rest, hasRowid: false, "FROM \(table.name) ORDER BY \(order)")
    }
    try checkRows(root, after: nil)
    let rowids = try source.statement(
      "SELECT rowid FROM \(table.name) ORDER BY rowid LIMIT 1 OFFSET \(random.below(40))")
    if try rowids.step() {
      try checkRows(root, after: rowids.integer(0))
      try checkLookup(root, rowids.integer(0))
    }
    for index in table.indexes {
      let filter = index.filter.map { " WHERE \($0)" } ?? ""
      let order = table.list(index.columns, direction: true)
      try checkIndex(
        try self.root(index.name), index.columns.map(\.column), hasRowid: true,
        "FROM \(table.name) INDEXED BY \(index.name)\(filter) ORDER BY \(order), rowid")
    }
  }

  private func root(_ name: String) throws -> UInt32 {
    let statement = try source.statement("SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'")
    guard try statement.step() else { throw EngineCase.Difference(description: "no \(name) in the schema") }
    return UInt32(statement.integer(0))
  }

  private func checkRows(_ root: UInt32, after: Int64?) throws {
    let names = columns.map(\.name).joined(separator: ", ")
    let place = after.map { " WHERE rowid > \($0)" } ?? ""
    let expected = try source.statement("SELECT rowid, \(names) FROM \(table.name)\(place) ORDER BY rowid")
    let scan = TableScan(snapshot: snapshot, root: root, after: after, rowLimit: 1 << 24)
    let (page, decoder) = (RowPage(), RecordDecoder())
    while try scan.next(into: page) {
      for row in 0..<page.count {
        guard try expected.step(), expected.integer(0) == page.rowid(row), decoder.decode(page.record(row)) else {
          throw EngineCase.Difference(description: "read: row \(page.rowid(row)) of \(table.name)")
        }
        for column in columns.indices { try expect(column, at: column + 1, expected, decoder, page.rowid(row)) }
      }
    }
    guard try !expected.step() else {
      throw EngineCase.Difference(description: "read: rows of \(table.name) are missing")
    }
  }

  private func expect(_ column: Int, at place: Int, _ expected: Statement, _ decoder: RecordDecoder, _ rowid: Int64)
    throws
  {
    let described = columns[column]
    if described.isAlias, expected.integer(place) == rowid { return }
    if column >= decoder.columnCount, expected.value(place) == described.defaultValue ?? .null { return }
    guard
      expected.equals(place, type: decoder.type(column), body: decoder.body(column), isReal: described.isReal)
    else { throw EngineCase.Difference(description: "read: \(table.name).\(described.name) of row \(rowid)") }
  }

  private func checkLookup(_ root: UInt32, _ rowid: Int64) throws {
    let lookup = RowLookup(snapshot: snapshot, root: root, cacheBytes: 1 << 14, rowLimit: 1 << 24)
    let decoder = RecordDecoder()
    let expected = try source.statement("SELECT \(columns[0].name) FROM \(table.name) WHERE rowid = \(rowid)")
    guard try expected.step() else { return }
    let isFound: Void? = try lookup.withRecord(rowid) { record in
      guard decoder.decode(record) else { throw EngineCase.Difference(description: "looked up: row \(rowid)") }
      try expect(0, at: 0, expected, decoder, rowid)
    }
    guard isFound != nil else {
      throw EngineCase.Difference(description: "looked up: no row \(rowid) of \(table.name)")
    }
  }

  /// Records of an index, or of a table without rowid.
  private func checkIndex(_ root: UInt32, _ positions: [Int], hasRowid: Bool, _ query: String) throws {
    let names = positions.map { columns[$0].name } + (hasRowid ? ["rowid"] : [])
    let expected = try source.statement("SELECT \(names.joined(separator: ", ")) \(query)")
    let scan = try IndexScan(snapshot: snapshot, root: root, rowLimit: 1 << 24)
    let (page, decoder) = (RowPage(), RecordDecoder())
    while try scan.next(into: page) {
      for row in 0..<page.count {
        let isComplete = decoder.decode(page.record(row)) && decoder.columnCount == names.count
        guard try expected.step(), isComplete else { throw EngineCase.Difference(description: "read: \(query)") }
        for place in names.indices {
          let isReal = place < positions.count && columns[positions[place]].isReal
          guard expected.equals(place, type: decoder.type(place), body: decoder.body(place), isReal: isReal) else {
            throw EngineCase.Difference(description: "read: value \(place) of record \(page.rowid(row)), \(query)")
          }
        }
      }
    }
    guard try !expected.step() else { throw EngineCase.Difference(description: "read: records are missing, \(query)") }
  }
}
