import Streams

/// Builds the indexes of a store, one after the other, from the tables that are already there. All hold all rows: those with a
/// predicate in the model are written whole, and partial ones of other tools are copied as trees.
///
/// A crash within an index begins that index again; its pages lie behind the last checkpoint's length.
final class IndexPass: @unchecked Sendable {
  // Sendable: nothing changes after init but the database, which the writing thread alone touches.
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

  /// Prepares the indexes of a layout, nil for none, and those of carried tables. `header` is the one that the database was
  /// begun with.
  init(
    layout: StoreLayout?, carried: [CarriedObjects.Index] = [], database: DatabaseBuilder, header: DatabaseHeader,
    files: StepFiles
  ) {
    self.database = database
    self.header = header
    self.files = files
    let carried = carried.map { index in
      Index(
        name: index.row.name, table: index.row.tableName, columns: index.columns, rowidColumn: index.rowidColumn,
        isUnique: index.isUnique)
    }
    indexes = (layout.map(Self.indexes) ?? []) + carried
  }

  private static func indexes(_ layout: StoreLayout) -> [Index] {
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
    return joins
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

  /// Writes all indexes without keys, for SQLite to fill.
  func writeEmpty() throws {
    for index in indexes {
      guard let root = database.root(of: index.name) else { throw BatchError(.failed, "the schema lacks \(index.name)") }
      try IndexBuilder(root: root, writer: database.writer).finish()
    }
  }

  /// The name of an index.
  func name(_ position: Int) -> String { indexes[position].name }

  /// Builds all indexes from one on: while one is written, the keys of the next are sorted on a thread of their own.
  ///
  /// `body` is called after every index with the number of those that are written; when it throws, the pass ends.
  func run(from first: Int, _ body: (Int) throws -> Void) throws {
    guard first < count else { return }
    try database.writer.flush()
    let pageCount = database.writer.nextPage - 1
    var ready = try prepare(first, pageCount: pageCount)
    for position in first..<count {
      let box = PreparedBox()
      let worker =
        position + 1 < count
        ? try Worker { [self] in box.prepared = try prepare(position + 1, pageCount: pageCount) } : nil
      var failure: (any Error)?
      do {
        try write(ready)
        try body(position + 1)
      } catch {
        failure = error
      }
      if let error = failure ?? worker?.join() {
        _ = worker?.join()
        throw error
      }
      if let next = box.prepared { ready = next }
    }
  }

  private final class PreparedBox: @unchecked Sendable {
    // Sendable: written before the thread ends, read after it was joined.
    var prepared: Prepared?
  }

  /// An index whose keys are ready to be written: sorted, or found in order in the table itself.
  private struct Prepared {
    let position: Int
    let scan: TableScan
    let snapshot: DatabaseSnapshot
    let sorter: ExternalSorter?
  }

  /// Reads the index's table and sorts the keys, within half of the memory for sorting: the index before may be written
  /// meanwhile. Nothing of this touches the file's pages, so their numbers do not depend on it (I8).
  private func prepare(_ position: Int, pageCount: UInt32) throws -> Prepared {
    let index = indexes[position]
    guard let root = database.root(of: index.table) else { throw BatchError(.failed, "the schema lacks \(index.table)") }
    let snapshot = try DatabaseSnapshot.building(
      path: database.writer.file.path, fileSystem: files.fileSystem, header: header, pageCount: pageCount)
    let scan = {
      TableScan(snapshot: snapshot, root: root, rowLimit: .max, longValuesFrom: MemoryBudget.longValueBytes)
    }
    if try isOrdered(index, scan(), snapshot) {
      return Prepared(position: position, scan: scan(), snapshot: snapshot, sorter: nil)
    }
    let sorter = ExternalSorter(
      memoryBytes: files.budget.sortBytes / 2, path: files.path("sort.\(position % 2)"), fileSystem: files.fileSystem)
    try forEachKey(index, scan(), snapshot) { try sorter.add($0) }
    return Prepared(position: position, scan: scan(), snapshot: snapshot, sorter: sorter)
  }

  /// Writes an index.
  private func write(_ prepared: Prepared) throws {
    defer { prepared.snapshot.close() }
    let index = indexes[prepared.position]
    guard let root = database.root(of: index.name) else { throw BatchError(.failed, "the schema lacks \(index.name)") }
    let write = IndexWriter(builder: IndexBuilder(root: root, writer: database.writer), index: index)
    if let sorter = prepared.sorter {
      try sorter.drain { try write.append($0) }
    } else {
      try forEachKey(index, prepared.scan, prepared.snapshot) { try write.append($0) }
    }
    try write.builder.finish()
  }

  /// Do the table's rows already stand in the index's order? Links and objects made in the order of their owners do; where
  /// they do not, the first rows tell.
  private func isOrdered(_ index: Index, _ scan: TableScan, _ snapshot: DatabaseSnapshot) throws -> Bool {
    var previous: [UInt8] = []
    do {
      try forEachKey(index, scan, snapshot) { key in
        guard SortKey.precedes(previous, key) else { throw Disorder() }
        previous.replaceSubrange(0..<previous.count, with: key)
      }
      return true
    } catch is Disorder {
      return false
    }
  }

  private struct Disorder: Error {}

  private func forEachKey(
    _ index: Index, _ scan: TableScan, _ snapshot: DatabaseSnapshot, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let (page, row) = (RowPage(), RecordDecoder())
    let longValues = LongValueReader(snapshot: snapshot, limit: files.budget.rowLimit)
    var key: [UInt8] = []
    while try scan.next(into: page) {
      for number in 0..<page.count {
        key.removeAll(keepingCapacity: true)
        guard row.decode(page.record(number)),
          try encode(index, row, page.rowid(number), longValues, to: &key)
        else { throw BatchError(.failed, "a row of \(index.table) cannot be indexed", key: page.rowid(number)) }
        try key.withUnsafeBytes(body)
      }
    }
  }

  private func encode(
    _ index: Index, _ row: RecordDecoder, _ rowid: Int64, _ longValues: LongValueReader, to key: inout [UInt8]
  ) throws -> Bool {
    do {
      return try SortKey.encode(
        columns: index.columns, of: row, rowidColumn: index.rowidColumn, rowid: rowid, longValues: longValues, to: &key)
    } catch let error as StreamsError where error.code == .tooLarge {
      throw BatchError(
        .refused, "\(index.name) cannot be built over row \(rowid) of \(index.table): \(error.message)", hint: error.hint)
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
    let columns = index.columns
    let isSame = previous.withUnsafeBytes { SortKey.isSameValue($0, key, columns: columns) }
    // NULL differs from NULL in a unique index; its key is the tag alone.
    guard isSame, !SortKey.hasNull(key, columns: columns) else { return }
    let rows = [previous.withUnsafeBytes { SortKey.rowid($0, columns: columns) }, SortKey.rowid(key, columns: columns)]
    throw BatchError(
      .policyFailed, "rows \(rows[0]) and \(rows[1]) of \(index.table) have equal values under the unique index \(index.name)",
      hint: "Make the values distinct in a policy; the source is untouched")
  }
}
