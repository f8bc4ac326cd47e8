import CoreDataStore
import Streams

/// Writes rows of a table without a model in one format.
protocol RawRowWriter: AnyObject {
  /// Writes one row.
  ///
  /// - Throws: what its sink throws.
  func write(_ row: RawRow) throws
}

/// A row of a table without a model, decoded.
struct RawRow {
  let key: Int64
  /// The entity by Z_ENT; nil if the row is no object, or Z_PRIMARYKEY has no such number.
  let entity: String?
  let table: RawSchema.Table
  let decoder: RecordDecoder

  /// Calls `body` with a column's value.
  func cell(_ column: RawSchema.Column, _ body: (ExportCell) -> Void) {
    guard !column.isRowid else { return body(.integer(key)) }
    ExportCell.with(decoder, at: column.position, missing: missing, body)
  }

  /// What a column has that was added after the row was written.
  func missing(_ position: Int) -> Value {
    position < table.schema.columns.count ? table.schema.columns[position].defaultValue ?? .null : .null
  }
}
