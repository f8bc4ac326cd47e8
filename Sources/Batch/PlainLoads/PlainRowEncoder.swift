import CoreDataStore
import LoadTables
import RunSupport
import Streams

/// Encodes rows of a store's table as rows of an ordinary one. One thread at a time.
///
/// A value that its column cannot hold ends the load with an error that names object and property: nothing is cut or
/// left out.
final class PlainRowEncoder {
  private let table: LoadTable
  private let store: LoadStore
  private let fields: [PlainField]
  private let kinds: RowKinds
  private let decoder = RecordDecoder(columns: 64)
  private let encoder = RecordEncoder()
  private let values: PlainValues
  private let advice: PlainAdvice
  /// The last row of a table of links, which have no keys of their own.
  private var links: Int64 = 0

  init(_ table: LoadTable, of store: LoadStore, _ rules: PlainRules) {
    (self.table, self.store, advice) = (table, store, rules.advice)
    fields = PlainField.all(table, store: store, rules: rules)
    kinds = RowKinds(table, store)
    values = PlainValues(store, encoder)
  }

  /// Appends the rows of a page that belong into the table.
  func encode(_ page: RowPage, to target: PlainPage) throws {
    for row in 0..<page.count {
      let key = page.rowid(row)
      guard decoder.decode(page.record(row)) else { throw damage("a row is damaged", key) }
      do {
        guard let entity = try kinds.number(decoder) else { continue }
        try encode(key, entity: entity, to: target)
      } catch let unknown as RowKinds.Unknown {
        throw damage("a row has the number \(unknown.number), which is no entity of its table", key)
      }
    }
  }

  private func encode(_ key: Int64, entity: Int, to target: PlainPage) throws {
    encoder.reset()
    var outside: [PlainPage.Insertion] = []
    for column in fields.indices {
      do {
        guard let remark = try encode(column, entity: entity, &outside) else { continue }
        target.remarks.note(remark, column)
        if remark == .rounded { target.remarks.lose(seconds: rounding(column), column) }
      } catch let fault as PlainFault { throw refusal(fault, column, key: key, entity: entity) }
    }
    guard case .links = table.rows else { return target.append(key, encoder, outside: outside) }
    links += 1
    target.append(links, encoder, outside: outside)
  }

  @inline(__always)
  private func encode(_ column: Int, entity: Int, _ outside: inout [PlainPage.Insertion]) throws -> PlainRemarks.Remark?
  {
    let field = fields[column]
    switch field.place {
    // An INTEGER PRIMARY KEY is the row's own number (SQLite, "Database File Format", 2.3).
    case .key: encoder.appendNull()
    case .entityName:
      kinds.name(entity)?.withUnsafeBytes { encoder.append(type: SerialType.text(length: $0.count), body: $0) }
    case .record(let position):
      guard position < decoder.columnCount else { return try values.append(field, outside: &outside) }
      return try values.append(decoder, position: position, field: field, outside: &outside)
    }
    return nil
  }

  /// By how much the time of a column is rounded.
  private func rounding(_ column: Int) -> Double {
    let field = fields[column]
    guard case .record(let position) = field.place, case .date(let dates) = field.kind else { return 0 }
    let value = SourceValue(decoder, at: position, standard: field.standard).number?.double ?? 0
    return dates == .unix ? PlainValues.rounding(value).magnitude : 0
  }

  private func damage(_ what: String, _ key: Int64) -> BatchError {
    BatchError(
      .badStore, what, hint: "Restore the store from a backup", path: store.path, entity: table.subject, key: key)
  }

  private func refusal(_ fault: PlainFault, _ column: Int, key: Int64, entity: Int) -> BatchError {
    let name = entity > 0 ? store.binding.layout.entityNames[entity - 1] : table.subject
    let again = fault.fitsSeconds ? advice.again(dates: .unix) : nil
    let mend = "Correct the value in the store, or by a mapping or policy"
    let why = fault.fitsSeconds ? "ISO 8601 does not name" : "\(fields[column].kind.declaration) cannot hold"
    return BatchError(
      .failed, "\(table.columns[column].property) \(fault.what), which \(why)",
      hint: fault.fitsSeconds
        ? "Seconds hold it: load with \(again.map(\.description) ?? "--dates unix")" : mend,
      next: again.map { [$0.line] } ?? [], path: store.path, entity: name, key: key)
  }
}
