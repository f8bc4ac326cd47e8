import CoreDataStore
import RunSupport
import Streams

/// Writes the rows of one table without a model.
final class RawRows: ExportRowWriter {
  private let table: RawSchema.Table
  private let reader: StoreReader
  private let numbers: Set<Int64>?
  private let writer: any RawRowWriter
  private let filter: ExportFilter?
  private let names: [Int64: String]
  private let decoder = RecordDecoder()
  private(set) var counts: [String: UInt64] = [:]
  var kind: ExportRowKind {
    switch table.content {
    case .objects: .objects
    case .links: .links
    case .rows: .rows
    }
  }
  /// Rows with a number that is no entity's.
  private(set) var strangers: UInt64 = 0

  init(
    _ table: RawSchema.Table, schema: RawSchema, reader: StoreReader, options: ExportOptions,
    numbers: Set<Int64>?, writer: any RawRowWriter
  ) throws {
    (self.table, self.reader, self.numbers, self.writer) = (table, reader, numbers, writer)
    names = schema.entities
    let ends: [RawSchema.End] = if case .links(let ends) = table.content { ends } else { [] }
    let all = table.columns + ends.map(\.column)
    filter = try ExportFilter(options, dates: all.filter(\.isDate).map(\.position)) { name in
      guard let column = all.first(where: { NameOrder.folded($0.name) == NameOrder.folded(name) }), !column.isRowid
      else { return nil }
      return .init(
        position: column.position, kind: RawColumn.kind(column), isText: column.type.uppercased() == "VARCHAR",
        isKey: column.type.uppercased() == "INTEGER")
    }
  }

  func write(_ page: RowPage, limit: UInt64) throws -> UInt64 {
    var written: UInt64 = 0
    for place in 0..<page.count where written < limit {
      let key = page.rowid(place)
      guard decoder.decode(page.record(place)) else {
        throw BatchError(
          .badStore, "a row of \(table.schema.name) is damaged",
          hint: "Restore the store from a backup, or export the other entities one by one", path: reader.path, key: key)
      }
      let row = row(key)
      guard try takes(row) else { continue }
      if case .objects = table.content, row.entity == nil { strangers += 1 }
      counts[row.entity ?? table.name, default: 0] += 1
      try writer.write(row)
      written += 1
    }
    return written
  }

  private func row(_ key: Int64) -> RawRow {
    var name: String?
    if case .objects(let position) = table.content { name = decoder.integer(position).flatMap { names[$0] } }
    return RawRow(key: key, entity: name, table: table, decoder: decoder)
  }

  private func takes(_ row: RawRow) throws -> Bool {
    if let numbers, case .objects(let position) = table.content, !numbers.contains(decoder.integer(position) ?? 0) {
      return false
    }
    return try filter?.takes(decoder, key: row.key, missing: row.missing) ?? true
  }
}
