import CoreDataStore

/// Writes rows of a table without a model as text.
final class RawText: RawRowWriter {
  private let table: RawSchema.Table
  private let values: ExportValueWriter
  private let columns: [RawColumn]
  private let labels: [[UInt8]]
  private let ends: [RawSchema.End]
  /// The names of entities as they are written.
  private let entities: [String: [UInt8]]
  private let uuid: String

  private var text: ExportText { values.text }

  init(
    _ columns: [RawColumn], of table: RawSchema.Table, schema: RawSchema, uuid: String, _ values: ExportValueWriter
  ) {
    (self.table, self.values, self.columns, self.uuid) = (table, values, columns, uuid)
    let format = values.text.format
    let names = schema.entities.values.map { ($0, ExportText.prepared($0, format)) }
    entities = Dictionary(names, uniquingKeysWith: { first, _ in first })
    if case .links(let ends) = table.content { self.ends = ends } else { ends = [] }
    labels = columns.enumerated().map { place, column in
      let name = ExportText.prepared(column.column.name, format)
      return format == .csv ? [0x2C] : (place == 0 ? [] : [0x2C]) + name + [0x3A]
    }
  }

  /// The first line of CSV.
  func writeHeader() {
    let names = table.firstColumns + columns.map(\.column.name)
    text.append(Array(names.map { ExportText.prepared($0, text.format) }.joined(separator: [0x2C])) + [0x0D, 0x0A])
  }

  func write(_ row: RawRow) throws {
    let isLines = text.format == .jsonLines
    switch table.content {
    case .objects: writeObject(row)
    case .links: writeLink(row)
    case .rows: writePlace("{\"table\":")
    }
    if isLines { text.append(",\"columns\":{") }
    for (label, column) in zip(labels, columns) {
      text.append(label)
      row.cell(column.column) { values.write($0, as: column.kind) }
    }
    if isLines { text.append("}}\n") } else { text.append("\r\n") }
    try text.flushIfLarge()
  }

  private func writeObject(_ row: RawRow) {
    let isLines = text.format == .jsonLines
    if isLines { text.append("{\"entity\":") }
    if let entity = row.entity.flatMap({ entities[$0] }) { text.append(entity) } else { text.appendNull() }
    text.append(isLines ? ",\"key\":" : ",")
    text.append(row.key)
    text.append(isLines ? ",\"uri\":" : ",")
    guard let name = row.entity else { return text.appendNull() }
    var uri = "x-coredata://\(uuid)/\(name)/p\(row.key)"
    uri.withUTF8 { text.appendText(UnsafeRawBufferPointer($0)) }
  }

  /// What stands before the columns of a row that is no object.
  private func writePlace(_ start: StaticString) {
    if text.format == .jsonLines { text.append(start) }
    text.append(ExportText.prepared(table.schema.name, text.format))
  }

  private func writeLink(_ row: RawRow) {
    let isLines = text.format == .jsonLines
    writePlace("{\"link\":")
    if isLines { text.append(",\"ends\":[") }
    for (place, end) in ends.enumerated() {
      guard isLines else {
        text.append(",")
        row.cell(end.column) { values.write($0, as: .stored) }
        continue
      }
      text.append(place == 0 ? "{\"column\":" : ",{\"column\":")
      text.append(ExportText.prepared(end.column.name, text.format))
      text.append(",\"entity\":")
      if let entity = end.entity { text.append(ExportText.prepared(entity, text.format)) } else { text.appendNull() }
      text.append(",\"key\":")
      row.cell(end.column) { values.write($0, as: .stored) }
      text.append("}")
    }
    if isLines { text.append("]") }
  }
}

extension RawSchema.Table {
  /// Columns of a file before those of the table's values.
  var firstColumns: [String] {
    switch content {
    case .objects: ExportColumn.first
    case .links(let ends): ["@table"] + ends.map(\.column.name)
    case .rows: ["@table"]
    }
  }
}
