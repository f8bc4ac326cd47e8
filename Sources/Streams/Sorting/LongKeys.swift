extension SortKey {
  /// Appends the key of a row's columns to `key`, as the plain function does, also where columns refer to long values:
  /// those are read through `longValues`.
  ///
  /// - Throws: ``StreamsError``: `tooLarge` for a value beyond the reader's limit.
  public static func encode(
    columns: [SortColumn], of row: RecordDecoder, rowidColumn: Int?, rowid: Int64, longValues: LongValueReader?,
    to key: inout [UInt8]
  ) throws -> Bool {
    guard let longValues, row.refers, columns.contains(where: { row.type($0.column) == LongValue.serialType }) else {
      return encode(columns: columns, of: row, rowidColumn: rowidColumn, rowid: rowid, to: &key)
    }
    let record = try longValues.filled(row) { column in columns.contains { $0.column == column } }
    return record.withUnsafeBytes { bytes in
      let whole = RecordDecoder()
      return whole.decode(bytes)
        && encode(columns: columns, of: whole, rowidColumn: rowidColumn, rowid: rowid, to: &key)
    }
  }
}
