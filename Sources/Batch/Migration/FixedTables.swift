import Streams

/// Writes Z_PRIMARYKEY and Z_METADATA of a finished store.
struct FixedTables {
  let layout: StoreLayout
  let metadata: StoreMetadata
  /// Rows and the largest key of every entity table.
  let totals: [(rows: UInt64, largest: Int64)]
  let keys: KeyAssignment

  func write(to database: DatabaseBuilder) throws {
    var maxima: [String: Int64] = [:]
    for (table, total) in totals.enumerated() {
      // Z_MAX may be larger than any key: keys of deleted objects are not given out again.
      maxima[layout.entityTables[table].rootEntity] = max(total.largest, keys.firstNewKeys[table] - 1)
    }
    let rows = PrimaryKeyTable(layout: layout, maxima: maxima).rows
    try table("Z_PRIMARYKEY", in: database) { append in
      for row in rows {
        try append(
          Int64(row.entityNumber), [.null, .text(row.name), .integer(Int64(row.superNumber)), .integer(row.maximum)])
      }
    }
    try table("Z_METADATA", in: database) { append in
      try append(1, [.null, .text(metadata.uuid), .blob(metadata.encoded())])
    }
  }

  private func table(
    _ name: String, in database: DatabaseBuilder, _ body: (_ append: (Int64, [Value]) throws -> Void) throws -> Void
  ) throws {
    guard let root = database.root(of: name) else { throw BatchError(.failed, "the schema lacks \(name)") }
    let builder = TableBuilder(root: root, writer: database.writer)
    let encoder = RecordEncoder()
    try body { rowid, values in
      encoder.reset()
      for value in values { encoder.append(value) }
      try withUnsafeTemporaryAllocation(byteCount: encoder.length, alignment: 8) { bytes in
        guard let base = bytes.baseAddress else { return }
        encoder.write(to: base)
        try builder.append(rowid: rowid, record: UnsafeRawBufferPointer(bytes))
      }
    }
    try builder.finish()
  }
}
