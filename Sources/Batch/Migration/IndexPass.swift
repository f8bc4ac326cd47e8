import Streams

/// Builds the indexes of a store, one after the other, from the tables that are already there.
///
/// A crash within an index begins that index again; its pages lie behind the last checkpoint's length.
struct IndexPass {
  private struct Index {
    var name: String
    var table: String
    var columns: [SortColumn]
    var rowidColumn: Int?
    var isUnique: Bool
  }

  private let database: DatabaseBuilder
  private let header: DatabaseHeader
  private let files: StepFiles
  private let indexes: [Index]

  /// Prepares the indexes of a layout. `header` is the one that the database was begun with.
  init(layout: StoreLayout, database: DatabaseBuilder, header: DatabaseHeader, files: StepFiles) {
    self.database = database
    self.header = header
    self.files = files
    let joins = layout.joinTables.map { join in
      Index(
        name: StoreSchemaText.automaticIndex(join), table: join.name,
        columns: [join.firstColumn, join.secondColumn].compactMap { join.columns.firstIndex(of: $0) }.map { SortColumn($0) },
        rowidColumn: nil, isUnique: true)
    }
    var columns: [String: [String]] = [:]
    for table in layout.entityTables { columns[table.name] = table.columns.map(\.name) }
    for join in layout.joinTables { columns[join.name] = join.columns }
    let isEntityTable = Set(layout.entityTables.map(\.name))
    indexes =
      joins
      + layout.indexes.map { index in
        let names = columns[index.table] ?? []
        return Index(
          name: index.name, table: index.table,
          columns: index.columns.compactMap { column in
            names.firstIndex(of: column.name).map { SortColumn($0, isDescending: column.isDescending) }
          },
          rowidColumn: isEntityTable.contains(index.table) ? 0 : nil, isUnique: index.isUnique)
      }
  }

  /// The number of indexes.
  var count: Int { indexes.count }

  /// The name of an index.
  func name(_ position: Int) -> String { indexes[position].name }

  /// Reads the index's table, sorts the keys within the memory budget, and writes the index.
  func build(_ position: Int) throws {
    let index = indexes[position]
    let writer = database.writer
    guard let tableRoot = database.root(of: index.table), let root = database.root(of: index.name) else {
      throw BatchError(.failed, "the schema lacks \(index.name)")
    }
    try writer.flush()
    let snapshot = try DatabaseSnapshot.building(
      path: writer.file.path, fileSystem: files.fileSystem, header: header, pageCount: writer.nextPage - 1)
    defer { snapshot.close() }
    let sorter = ExternalSorter(
      memoryBytes: files.budget.sortBytes, path: files.path("sort"), fileSystem: files.fileSystem)
    try collect(index, TableScan(snapshot: snapshot, root: tableRoot, rowLimit: .max), into: sorter)
    let builder = IndexBuilder(root: root, writer: writer)
    let encoder = RecordEncoder()
    var buffer = [UInt8](repeating: 0, count: 1 << 10)
    var previous: [UInt8] = []
    try sorter.drain { key in
      if index.isUnique {
        try check(key, against: previous, index)
        previous.replaceSubrange(0..<previous.count, with: key)
      }
      guard SortKey.decode(key, columns: index.columns, into: encoder) else {
        throw BatchError(.failed, "a sorted key of \(index.name) is damaged", path: files.path("sort"))
      }
      if buffer.count < encoder.length { buffer = [UInt8](repeating: 0, count: encoder.length * 2) }
      try buffer.withUnsafeMutableBytes { bytes in
        encoder.write(to: bytes.baseAddress!)
        try builder.append(UnsafeRawBufferPointer(rebasing: bytes[0..<encoder.length]))
      }
    }
    try builder.finish()
  }

  private func collect(_ index: Index, _ scan: TableScan, into sorter: ExternalSorter) throws {
    let (page, row) = (RowPage(), RecordDecoder())
    var key: [UInt8] = []
    while try scan.next(into: page) {
      for number in 0..<page.count {
        key.removeAll(keepingCapacity: true)
        guard row.decode(page.record(number)),
          SortKey.encode(
            columns: index.columns, of: row, rowidColumn: index.rowidColumn, rowid: page.rowid(number), to: &key)
        else { throw BatchError(.failed, "a row of \(index.table) cannot be indexed", key: page.rowid(number)) }
        try key.withUnsafeBytes { try sorter.add($0) }
      }
    }
  }

  private func check(_ key: UnsafeRawBufferPointer, against previous: [UInt8], _ index: Index) throws {
    let count = index.columns.count
    let isSame = previous.withUnsafeBytes { SortKey.isSameValue($0, key, columnCount: count) }
    // NULL differs from NULL in a unique index; its key is the tag alone.
    guard isSame, !SortKey.hasNull(key, columns: index.columns) else { return }
    let rows = [previous.withUnsafeBytes { SortKey.rowid($0, columnCount: count) }, SortKey.rowid(key, columnCount: count)]
    throw BatchError(
      .policyFailed, "rows \(rows[0]) and \(rows[1]) of \(index.table) have equal values under the unique index \(index.name)",
      hint: "Make the values distinct in a policy; the source is untouched")
  }
}
