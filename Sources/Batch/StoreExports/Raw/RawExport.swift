import CoreDataStore
import RunSupport
import Streams

/// Writes the rows of a store without a model: entities by Z_PRIMARYKEY, values by the declared types of their columns,
/// join tables as links. Names are those of the columns; nothing is read that the file does not say.
public struct RawExport: Sendable {
  private let reader: StoreReader
  private let schema: RawSchema
  private let options: ExportOptions
  private let tables: [RawSchema.Table]
  /// Z_ENT of the rows that are wanted; nil for all.
  private let numbers: Set<Int64>?

  /// Prepares an export. The entity of the options may be a table, too.
  ///
  /// - Throws: ``BatchError`` (`refused`) if there is no such entity, table or column.
  public init(_ reader: StoreReader, options: ExportOptions) throws {
    self.reader = reader
    self.options = options
    schema = RawSchema(reader)
    if let name = options.entity {
      let found = try schema.find(name, in: reader)
      (tables, numbers) = ([found.table], found.numbers)
    } else {
      (tables, numbers) = (schema.tables, nil)
    }
    try checkColumns()
  }

  private func checkColumns() throws {
    let known = Set(tables.flatMap(\.columns).map { NameOrder.folded($0.name) })
    for column in options.columns where !known.contains(NameOrder.folded(column)) {
      let names = Set(tables.flatMap(\.columns).map(\.name)).sorted(by: NameOrder.codeUnits)
      throw BatchError(
        .refused, "there is no column \(column)\(NearName.question(column, in: names))",
        hint: tables.count == 1
          ? "\(tables[0].schema.name) has \(names.joined(separator: ", "))" : "Name the entity, too",
        path: reader.path)
    }
  }

  /// Writes everything as one text or file; the rest is as for ``StoreExport/run(to:progress:)``.
  ///
  /// - Throws: ``BatchError``: `refused` for CSV and Parquet without an entity; and what `sink` throws.
  public func run(
    to sink: @escaping (UnsafeRawBufferPointer) throws -> Void, progress: (UInt64, Double) -> Void = { _, _ in }
  ) throws -> ExportSummary {
    guard options.format == .jsonLines || tables.count == 1 else { throw options.format.refusal(path: reader.path) }
    return try write([tables], to: { _ in sink }, progress)
  }

  /// Writes each table as a text or file of its own, which bears the root entity's or the table's name.
  ///
  /// - Throws: ``BatchError``, and what `parts` and its results throw.
  public func run(
    toEach parts: @escaping ExportParts, progress: (UInt64, Double) -> Void = { _, _ in }
  ) throws -> ExportSummary {
    try write(tables.map { [$0] }, to: parts, progress)
  }

  private func write(
    _ groups: [[RawSchema.Table]], to parts: @escaping ExportParts, _ progress: (UInt64, Double) -> Void
  ) throws -> ExportSummary {
    try BatchError.borderOfCaller {
      var run = try begin()
      for group in groups {
        let given = try CallersError.marking { try parts(group.first?.name ?? "") }
        let sink = { (bytes: UnsafeRawBufferPointer) in try CallersError.marking { try given(bytes) } }
        guard let format = options.format.text else {
          for table in group { try writeParquet(table, to: sink, run: &run, progress) }
          continue
        }
        let text = ExportText(format: format, sink: sink)
        for table in group {
          let rows = RawText(columns(table), of: table, schema: schema, uuid: reader.metadata.uuid, run.values(text))
          if format == .csv { rows.writeHeader() }
          try write(table, with: rows, run: &run, progress)
        }
        try text.flush()
        run.repairedTexts += text.repairedTexts
      }
      return run.summary
    }
  }

  private func begin() throws -> ExportRun {
    var run = ExportRun(options: options, externalSize: { _ in nil })
    run.pages = try ExportRun.pages(reader.snapshot, tables.map(\.schema.rootPage))
    run.notes = RawGuesses(tables: tables, others: options.entity == nil ? schema.others : []).notes
    return run
  }

  private func columns(_ table: RawSchema.Table) -> [RawColumn] {
    let wanted = Set(options.columns.map(NameOrder.folded))
    return table.columns.filter { wanted.isEmpty || wanted.contains(NameOrder.folded($0.name)) }
      .map { RawColumn(column: $0, dates: options.dates) }
  }

  private func writeParquet(
    _ table: RawSchema.Table, to sink: @escaping (UnsafeRawBufferPointer) throws -> Void, run: inout ExportRun,
    _ progress: (UInt64, Double) -> Void
  ) throws {
    let columns = columns(table)
    let file = try ParquetFile(
      RawParquet.columns(columns, of: table, options), groupBytes: options.memory.rowGroupBytes, sink: sink)
    let rows = RawParquet(file, columns: columns, of: table, uuid: reader.metadata.uuid, blobs: run.blobs)
    try write(table, with: rows, run: &run, progress)
    try run.finish(file, name: table.name)
  }

  private func write(
    _ table: RawSchema.Table, with writer: any RawRowWriter, run: inout ExportRun,
    _ progress: (UInt64, Double) -> Void
  ) throws {
    let rows = try RawRows(
      table, schema: schema, reader: reader, options: options, numbers: numbers, writer: writer)
    try run.write(
      rows, root: table.schema.rootPage, isWithoutRowid: table.schema.isWithoutRowid, of: reader.snapshot,
      progress: progress)
    if rows.strangers > 0 {
      run.notes.append(
        "\(rows.strangers.counted("row")) of \(table.schema.name) \(rows.strangers.verb("has", "have")) an entity number that "
          + "Z_PRIMARYKEY does not list; \(rows.strangers.verb("its", "their")) entity is null"
      )
    }
  }
}
