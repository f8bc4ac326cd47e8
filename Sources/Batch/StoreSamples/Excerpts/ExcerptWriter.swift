import CoreDataStore
import Migrations
import RunSupport
import Streams

/// Writes the file of an excerpt: rows as the source has them, then links, the fixed tables and indexes.
struct ExcerptWriter {
  private let schema: ExcerptSchema
  private let shape: ExcerptShape
  private let taken: [KeySet]
  private let files: StepFiles
  private let external: ExcerptFiles
  private let longValues: LongValueReader
  private let decoder = RecordDecoder()
  private let encoder = RecordEncoder()
  private var buffer = [UInt8](repeating: 0, count: 4096)
  private(set) var count: ExcerptCount
  private var written: UInt64 = 0
  /// Objects, by Z_ENT.
  private(set) var objects: [Int64: UInt64] = [:]
  /// Links of join tables.
  private(set) var links: UInt64 = 0
  /// To-ones that lead nowhere in the source.
  private(set) var dangling: UInt64 = 0
  private(set) var firstDangling: (name: String, key: Int64)?

  private static let rowsPerReport: UInt64 = 1 << 12

  /// The file is the prefix of `files` itself; `count` has what is left out already.
  init(
    _ schema: ExcerptSchema, shape: ExcerptShape, taken: [KeySet], count: ExcerptCount, files: StepFiles,
    external: ExcerptFiles
  ) {
    (self.schema, self.shape, self.taken, self.count) = (schema, shape, taken, count)
    (self.files, self.external) = (files, external)
    longValues = LongValueReader(snapshot: shape.reader.snapshot, limit: files.budget.rowLimit)
  }

  /// Page size, vacuum mode and journal mode are the source's.
  private var header: DatabaseHeader {
    let source = shape.reader.snapshot.header
    var header = DatabaseHeader(pageSize: source.pageSize, autoVacuum: source.autoVacuum, version: source.version)
    (header.userVersion, header.applicationID) = (source.userVersion, source.applicationID)
    return header
  }

  mutating func write(progress: (UInt64) -> Void) throws {
    let file = try files.fileSystem.open(files.prefix, .create)
    defer { file.close() }
    let header = header
    let layout = schema.layout
    let modelCache = try ExcerptSchema.modelCache(of: shape.reader)
    let database = try DatabaseBuilder(
      file: file, header: header, schema: schema.entries(hasModelCache: modelCache != nil))
    var largest: [Int64] = []
    for table in shape.tables.indices {
      let builder = try builder(layout.entityTables[table].name, database)
      try writeObjects(table, to: builder, progress: progress)
      try builder.finish()
      largest.append(builder.lastRowid ?? 0)
    }
    for join in layout.joinTables.indices {
      let builder = try builder(layout.joinTables[join].name, database)
      try writeLinks(join, to: builder)
      try builder.finish()
    }
    try schema.fixedTables(of: shape.reader, largestKeys: largest, modelCache: modelCache).write(to: database)
    try buildIndexes(database, header)
    try database.finish()
  }

  private func buildIndexes(_ database: DatabaseBuilder, _ header: DatabaseHeader) throws {
    let (layout, path) = (schema.layout, shape.reader.path)
    try IndexPass(StoreIndex.all(layout), database: database, header: header, files: files) { rows in
      BatchError(
        .badStore,
        "rows \(rows.first) and \(rows.second) of \(rows.table) are equal under the unique index \(rows.index)",
        hint: "Restore the store from a backup, or make the values distinct with its application", path: path)
    }.run(from: 0) { _ in }
    try RTreePass(layout.rtrees, layout: layout, database: database, header: header, files: files).run { _, _ in }
  }

  private func builder(_ name: String, _ database: DatabaseBuilder) throws -> TableBuilder {
    guard let root = database.root(of: name) else { throw BatchError(.failed, "the schema lacks \(name)") }
    return TableBuilder(root: root, writer: database.writer)
  }

  // MARK: Objects

  private mutating func writeObjects(_ table: Int, to builder: TableBuilder, progress: (UInt64) -> Void) throws {
    let lookup = shape.lookup(table)
    try taken[table].forEach { key in
      let isThere = try lookup.withRecord(key) { record in
        let number = try shape.decode(record, key: key, table: table, into: decoder)
        objects[number, default: 0] += 1
        noteDangling(number, key: key)
        for position in shape.files(number) where position < decoder.columnCount {
          try external.take(decoder, position)
        }
        try write(record, key: key, table: table, to: builder)
        return true
      }
      guard isThere != nil else {
        throw BatchError(
          .badStore, "a row of \(shape.tables[table].schema.name) is found in one way only, so a page is damaged",
          hint: "Restore the store from a backup", path: shape.reader.path, key: key)
      }
      written += 1
      if written % Self.rowsPerReport == 0 { progress(written) }
    }
  }

  private mutating func noteDangling(_ number: Int64, key: Int64) {
    for toOne in shape.toOnes(number) {
      guard let target = decoder.integer(toOne.position), !taken[toOne.table].contains(target) else { continue }
      dangling += 1
      if firstDangling == nil { firstDangling = (toOne.name, key) }
    }
  }

  /// Writes a row as it is, but for the keys of owners that are not in the excerpt.
  private mutating func write(
    _ record: UnsafeRawBufferPointer, key: Int64, table: Int, to builder: TableBuilder
  ) throws {
    let gone = shape.owners[table].filter { owner in
      decoder.integer(owner.positions[0]).map { !taken[owner.table].contains($0) } ?? false
    }
    guard !gone.isEmpty else { return try builder.append(rowid: key, record: record, longValues: longValues) }
    for owner in gone { count.leaveOut(owner.list) }
    let cleared = Set(gone.flatMap(\.positions))
    encoder.reset()
    for position in 0..<decoder.columnCount {
      if cleared.contains(position) {
        encoder.appendNull()
      } else {
        encoder.append(type: decoder.type(position), body: decoder.body(position))
      }
    }
    try append(key, to: builder)
  }

  private mutating func append(_ key: Int64, to builder: TableBuilder) throws {
    let (encoder, longValues, length) = (encoder, longValues, encoder.length)
    if buffer.count < length { buffer = [UInt8](repeating: 0, count: length * 2) }
    try buffer.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      encoder.write(to: base)
      try builder.append(
        rowid: key, record: UnsafeRawBufferPointer(rebasing: bytes[..<length]), longValues: longValues)
    }
  }

  // MARK: Links

  private mutating func writeLinks(_ number: Int, to builder: TableBuilder) throws {
    let (bound, join) = (schema.binding.joins[number], schema.layout.joinTables[number])
    guard let sources = schema.layout.tablePosition(ofEntity: join.relationship.entity),
      let destinations = schema.layout.tablePosition(ofEntity: join.inverse.entity)
    else { return }
    let positions = join.columns.map { position(of: $0, in: join, bound) }
    let scan = try RowScan(
      snapshot: shape.reader.snapshot, root: bound.schema.rootPage, isWithoutRowid: bound.schema.isWithoutRowid,
      rowLimit: files.budget.rowLimit)
    let page = RowPage()
    while try scan.next(into: page) {
      for row in 0..<page.count {
        guard decoder.decode(page.record(row)) else { throw damagedLink(join, page.rowid(row)) }
        guard let source = decoder.integer(bound.sourcePosition),
          let other = decoder.integer(bound.destinationPosition)
        else { continue }
        switch (taken[sources].contains(source), taken[destinations].contains(other)) {
        case (true, true): try writeLink(page.rowid(row), positions, to: builder)
        case (false, false): break
        default: count.leaveOut(join.relationship.description)
        }
      }
    }
  }

  private func damagedLink(_ join: JoinTable, _ row: Int64) -> BatchError {
    BatchError(
      .badStore, "a row with links of \(join.relationship) is damaged", hint: "Restore the store from a backup",
      path: shape.reader.path, key: row)
  }

  private func position(of column: String, in join: JoinTable, _ bound: StoreBinding.Join) -> Int {
    if column == join.sourceColumn { return bound.sourcePosition }
    if column == join.destinationColumn { return bound.destinationPosition }
    let order = column == join.sourceOrderColumn ? bound.sourceOrderPosition : bound.destinationOrderPosition
    return order ?? .max
  }

  private mutating func writeLink(_ key: Int64, _ positions: [Int], to builder: TableBuilder) throws {
    encoder.reset()
    for position in positions { encoder.append(type: decoder.type(position), body: decoder.body(position)) }
    try append(key, to: builder)
    links += 1
  }
}
