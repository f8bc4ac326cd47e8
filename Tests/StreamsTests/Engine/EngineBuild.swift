import Streams

/// Builds a database anew from what the engine reads of another: tables, and their indexes by sorting.
struct EngineBuild {
  private let schema: RandomSchema
  private let source: MemoryDatabase
  private let snapshot: DatabaseSnapshot
  private let entries: [DatabaseBuilder.SchemaEntry]
  private let copiesRecords: Bool
  /// Values that go from file to file without a record that holds them.
  private let longValuesFrom: Int?
  private let encoder = RecordEncoder()

  init(_ schema: RandomSchema, _ source: MemoryDatabase, _ snapshot: DatabaseSnapshot, _ random: inout SeededGenerator)
    throws
  {
    (self.schema, self.source, self.snapshot) = (schema, source, snapshot)
    copiesRecords = random.below(2) == 0
    longValuesFrom = random.below(2) == 0 ? 64 + random.below(600) : nil
    var entries: [DatabaseBuilder.SchemaEntry] = []
    let rows = try source.statement("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE tbl_name <> 'w'")
    while try rows.step() {
      let texts = (0..<4).map { rows.value($0).text }
      entries.append(.init(type: texts[0] ?? "", name: texts[1] ?? "", tableName: texts[2] ?? "", sql: texts[3]))
    }
    self.entries = entries
  }

  func build(_ file: MemoryFile) throws {
    let header = DatabaseHeader(
      pageSize: schema.pageSize, reserved: schema.reserved, autoVacuum: schema.autoVacuum, version: .rollback)
    let database = try DatabaseBuilder(file: file, header: header, schema: entries)
    let tables = schema.tables.filter { !$0.isWithoutRowid }
    for table in tables { try build(table, database) }
    try database.writer.flush()
    let built = try DatabaseSnapshot.building(
      path: file.path, fileSystem: SingleFileSystem(file: file), header: header, pageCount: database.writer.nextPage - 1
    )
    for table in tables { for index in table.indexes { try build(index, of: table, database, built) } }
    try database.finish()
  }

  private func build(_ table: RandomSchema.Table, _ database: DatabaseBuilder) throws {
    let root = try source.statement("SELECT rootpage FROM sqlite_schema WHERE name = '\(table.name)'")
    guard try root.step(), let target = database.root(of: table.name) else { return }
    let builder = TableBuilder(root: target, writer: database.writer)
    let scan = TableScan(
      snapshot: snapshot, root: UInt32(root.integer(0)), rowLimit: 1 << 24, longValuesFrom: longValuesFrom)
    let columns = table.columns + (table.later.map { [$0] } ?? [])
    let longValues = LongValueReader(snapshot: snapshot, limit: 1 << 24)
    let (page, decoder) = (RowPage(), RecordDecoder(longValues: longValues))
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    while try scan.next(into: page) {
      for row in 0..<page.count {
        guard decoder.decode(page.record(row)) else { throw EngineCase.Difference(description: "a record is damaged") }
        if copiesRecords, decoder.columnCount == columns.count {
          try builder.append(rowid: page.rowid(row), record: page.record(row), longValues: longValues)
          continue
        }
        encoder.reset()
        for (position, column) in columns.enumerated() {
          let isThere = position < decoder.columnCount
          encoder.append(isThere ? try decoder.value(position) : column.defaultValue ?? .null)
        }
        if bytes.count < encoder.length { bytes = [UInt8](repeating: 0, count: encoder.length) }
        try bytes.withUnsafeMutableBytes {
          encoder.write(to: $0.baseAddress!)
          try builder.append(rowid: page.rowid(row), record: UnsafeRawBufferPointer(rebasing: $0[0..<encoder.length]))
        }
      }
    }
    try builder.finish()
  }

  private func build(
    _ index: RandomSchema.Index, of table: RandomSchema.Table, _ database: DatabaseBuilder, _ built: DatabaseSnapshot
  ) throws {
    guard let root = database.root(of: table.name), let target = database.root(of: index.name) else {
      throw EngineCase.Difference(description: "no root for \(index.name)")
    }
    let wanted = try rowids(index, table)
    let sorter = IndexSorter(
      columns: index.columns, rowidColumn: table.alias, isUnique: false, memory: SortMemory(byteCount: 1 << 22),
      path: "none", fileSystem: ScratchFileSystem())
    let keys = TableKeys([sorter])
    let scan = TableScan(snapshot: built, root: root, rowLimit: 1 << 24)
    let page = RowPage()
    while try scan.next(into: page) {
      for row in 0..<page.count where wanted?.contains(page.rowid(row)) ?? true {
        guard try keys.add(rowid: page.rowid(row), record: page.record(row)) else {
          throw EngineCase.Difference(description: "no key for \(index.name)")
        }
      }
      guard try keys.flush() == nil else { throw EngineCase.Difference(description: "no key for \(index.name)") }
    }
    let builder = IndexBuilder(root: target, writer: database.writer)
    let rest = try sorter.drain(
      into: IndexCells(), onEqual: { _, _ in },
      onFull: {
        try builder.append($0)
        $0.reset()
        return $0
      })
    try builder.append(rest)
    try builder.finish()
  }

  /// Rows that a partial index holds; nil for all.
  private func rowids(_ index: RandomSchema.Index, _ table: RandomSchema.Table) throws -> Set<Int64>? {
    guard let filter = index.filter else { return nil }
    let rows = try source.statement("SELECT rowid FROM \(table.name) NOT INDEXED WHERE \(filter)")
    var found: Set<Int64> = []
    while try rows.step() { found.insert(rows.integer(0)) }
    return found
  }
}

extension Value {
  /// The text, for a text.
  var text: String? { if case .text(let text) = self { text } else { nil } }
}
