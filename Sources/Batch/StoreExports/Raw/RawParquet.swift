import CoreDataStore

/// Writes rows of a table without a model to a Parquet file. Types are those that the columns are declared with.
final class RawParquet: RawRowWriter {
  private let file: ParquetFile
  private let columns: [RawColumn]
  private let ends: [RawSchema.End]
  private let uuid: String
  private let blobs: BlobReader
  private let first: Int

  init(
    _ file: ParquetFile, columns: [RawColumn], of table: RawSchema.Table, uuid: String, blobs: BlobReader
  ) {
    (self.file, self.columns, self.uuid, self.blobs) = (file, columns, uuid, blobs)
    first = table.firstColumns.count
    if case .links(let ends) = table.content { self.ends = ends } else { ends = [] }
  }

  /// The columns of the file.
  static func columns(
    _ columns: [RawColumn], of table: RawSchema.Table, _ options: ExportOptions
  ) -> [ParquetColumn] {
    let before: [ParquetColumn] =
      switch table.content {
      case .objects:
        zip(table.firstColumns, [ParquetType.text, .int64, .text]).map {
          ParquetColumn($0, $1, isOptional: $1 == .text)
        }
      case .links, .rows:
        table.firstColumns.enumerated().map { ParquetColumn($1, $0 == 0 ? .text : .int64, isOptional: $0 > 0) }
      }
    return before + columns.map { ParquetColumn($0.column.name, ParquetType($0, options)) }
  }

  func write(_ row: RawRow) throws {
    switch row.table.content {
    case .objects:
      if let entity = row.entity {
        file.columns[0].append(entity)
        file.columns[2].append("x-coredata://\(uuid)/\(entity)/p\(row.key)")
      } else {
        file.columns[0].appendNull()
        file.columns[2].appendNull()
      }
      file.columns[1].append(row.key)
    case .links, .rows: file.columns[0].append(row.table.schema.name)
    }
    for (end, column) in zip(ends, file.columns[1...]) { row.cell(end.column) { column.append($0) } }
    for (column, target) in zip(columns, file.columns[first...]) {
      row.cell(column.column) { blobs.write($0, to: target) }
    }
    try file.endRow()
  }
}

extension ParquetType {
  /// The type for a column that is declared as Core Data declares it (B.4); text for any other, which also holds
  /// numbers.
  init(_ column: RawColumn, _ options: ExportOptions) {
    switch column.kind {
    case .date: self = .timestamp
    case .double: self = .double
    case .stored, .boolean, .float, .uuid, .external:
      switch column.column.type.uppercased() {
      case "INTEGER": self = .int64
      case "BLOB": self = options.decodings.isEmpty ? .bytes : .text
      default: self = .text
      }
    }
  }
}
