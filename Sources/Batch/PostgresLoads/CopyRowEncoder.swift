import CoreDataModel
import CoreDataStore
import LoadTables
import RunSupport
import Streams

/// Encodes rows of a store's table as rows of binary COPY. One thread at a time.
///
/// A value that its column cannot hold ends the load with an error that names object and property: nothing is cut or
/// left out. Times are rounded to whole microseconds, which is all that PostgreSQL knows, and counted.
final class CopyRowEncoder {
  /// What a value's way depends on: nothing that is counted, for this is looked at for every value.
  struct Field {
    var type: PostgresType
    var place: LoadPlace
    var isRequired: Bool
    var isExternal: Bool
    /// Its place among the table's columns.
    var column: Int
  }

  private let fields: UnsafeMutableBufferPointer<Field>
  /// Values of rows that end before a column.
  private let defaults: [Value]
  private let table: LoadTable
  private let store: LoadStore
  private let decoder: RecordDecoder
  private let kinds: RowKinds
  private let values: CopyValues

  init(_ table: LoadTable, _ store: LoadStore) {
    (self.table, self.store) = (table, store)
    let fields = zip(table.columns, store.places(of: table)).enumerated().map { index, field in
      let (column, place) = field
      return Field(
        type: PostgresType(column.type), place: place, isRequired: column.isRequired, isExternal: column.isExternal,
        column: index)
    }
    self.fields = .allocate(capacity: fields.count)
    _ = self.fields.initialize(from: fields)
    defaults = store.defaults(of: table)
    kinds = RowKinds(table, store)
    decoder = RecordDecoder(columns: 64)
    values = CopyValues(store: store)
  }

  deinit { fields.deallocate() }

  /// Appends the rows of a page that belong into the table.
  func encode(_ page: RowPage, to buffer: CopyBuffer) throws {
    for row in 0..<page.count {
      let (key, record) = (page.rowid(row), page.record(row))
      guard decoder.decode(record) else { throw damage("a row is damaged", key) }
      do {
        guard let entity = try kinds.number(decoder) else { continue }
        try encode(key, entity: entity, buffer: buffer)
      } catch let unknown as RowKinds.Unknown {
        throw damage("a row has the number \(unknown.number), which is no entity of its table", key)
      }
    }
    if page.count > 0 { buffer.lastRow = page.rowid(page.count - 1) }
  }

  private func encode(_ key: Int64, entity: Int, buffer: CopyBuffer) throws {
    let (start, outside) = (buffer.count, buffer.insertions.count)
    buffer.beginRow(fields.count)
    for index in 0..<fields.count {
      let (before, insertions) = (buffer.count, buffer.insertions.count)
      do { try encode(index, key: key, entity: entity, buffer: buffer) } catch let fault as CopyFault {
        throw refusal(fault, column: table.columns[index], key: key, entity: entity)
      }
      if fields[index].isRequired, buffer.count == before &+ 4, buffer.isNull(at: before) {
        buffer.remarks.missing[index, default: 0] += 1
      }
      if buffer.insertions.count > insertions { buffer.remarks.long.insert(index) }
    }
    buffer.endRow(from: start, firstInsertion: outside, .init(entity: name(entity), key: key))
  }

  @inline(__always)
  private func encode(_ index: Int, key: Int64, entity: Int, buffer: CopyBuffer) throws {
    let field = fields[index]
    switch field.place {
    case .key:
      buffer.appendField(key)
    case .entityName:
      kinds.name(entity)?.withUnsafeBytes { buffer.appendField($0) }
    case .record(let position):
      guard position < decoder.columnCount else {
        return try values.append(defaults[index], field: field, buffer: buffer)
      }
      try values.append(decoder, position: position, field: field, buffer: buffer)
    }
  }

  private func damage(_ what: String, _ key: Int64) -> BatchError {
    BatchError(
      .badStore, "\(what); what was loaded so far stays, unfinished", hint: "Restore the store from a backup",
      path: store.path,
      entity: table.subject, key: key)
  }

  private func name(_ entity: Int) -> String {
    entity > 0 ? store.binding.layout.entityNames[entity - 1] : table.subject
  }

  private func refusal(_ fault: CopyFault, column: LoadColumn, key: Int64, entity: Int) -> BatchError {
    fault.error(
      "\(column.property) \(fault.what), which \(PostgresType(column.type).rawValue) cannot hold", path: store.path,
      entity: name(entity), key: key)
  }
}

/// Why a value does not fit into its column.
struct CopyFault: Error {
  var what: String

  func error(_ message: String, path: String, entity: String, key: Int64) -> BatchError {
    BatchError(
      .failed, "\(message); the rows that were loaded so far stay, unfinished", path: path, entity: entity, key: key)
  }
}
