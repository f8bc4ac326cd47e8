import Streams

/// Builds the indexes of a store, one after the other, from the tables that are already there.
///
/// A crash within an index begins that index again; its pages lie behind the last checkpoint's length.
struct IndexPass {
  fileprivate struct Index {
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
    let write = IndexWriter(builder: IndexBuilder(root: root, writer: writer), index: index)
    let scan = { TableScan(snapshot: snapshot, root: tableRoot, rowLimit: .max) }
    if try isOrdered(index, scan()) {
      try forEachKey(index, scan()) { try write.append($0) }
    } else {
      let sorter = ExternalSorter(
        memoryBytes: files.budget.sortBytes, path: files.path("sort"), fileSystem: files.fileSystem)
      try forEachKey(index, scan()) { try sorter.add($0) }
      try sorter.drain { try write.append($0) }
    }
    try write.builder.finish()
  }

  /// Do the table's rows already stand in the index's order? Links and objects made in the order of their owners do; where
  /// they do not, the first rows tell.
  private func isOrdered(_ index: Index, _ scan: TableScan) throws -> Bool {
    var previous: [UInt8] = []
    do {
      try forEachKey(index, scan) { key in
        guard SortKey.precedes(previous, key) else { throw Disorder() }
        previous.replaceSubrange(0..<previous.count, with: key)
      }
      return true
    } catch is Disorder {
      return false
    }
  }

  private struct Disorder: Error {}

  private func forEachKey(_ index: Index, _ scan: TableScan, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let (page, row) = (RowPage(), RecordDecoder())
    var key: [UInt8] = []
    while try scan.next(into: page) {
      for number in 0..<page.count {
        key.removeAll(keepingCapacity: true)
        guard row.decode(page.record(number)),
          SortKey.encode(
            columns: index.columns, of: row, rowidColumn: index.rowidColumn, rowid: page.rowid(number), to: &key)
        else { throw BatchError(.failed, "a row of \(index.table) cannot be indexed", key: page.rowid(number)) }
        try key.withUnsafeBytes(body)
      }
    }
  }
}

/// Writes sorted keys into an index and finds equal ones where there must be none.
private final class IndexWriter {
  let builder: IndexBuilder
  private let index: IndexPass.Index
  private let encoder = RecordEncoder()
  private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 8)
  private var previous: [UInt8] = []

  init(builder: IndexBuilder, index: IndexPass.Index) {
    self.builder = builder
    self.index = index
  }

  deinit { buffer.deallocate() }

  func append(_ key: UnsafeRawBufferPointer) throws {
    if index.isUnique {
      try check(key)
      previous.replaceSubrange(0..<previous.count, with: key)
    }
    guard SortKey.decode(key, columns: index.columns, into: encoder) else {
      throw BatchError(.failed, "a sorted key of \(index.name) is damaged")
    }
    let length = encoder.length
    if buffer.count < length {
      buffer.deallocate()
      buffer = .allocate(byteCount: length * 2, alignment: 8)
    }
    guard let base = buffer.baseAddress else { return }
    encoder.write(to: base)
    try builder.append(UnsafeRawBufferPointer(start: base, count: length))
  }

  private func check(_ key: UnsafeRawBufferPointer) throws {
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
