import LoadTables
import Streams

/// Whether a row of an ordinary table has the values of a row of the store. One thread at a time.
struct PlainRowComparison {
  private let table: LoadTable
  private let fields: [PlainField]
  private let kinds: RowKinds
  private let values: PlainComparison
  /// Links are counted; objects have their keys.
  let isOfLinks: Bool

  init(_ table: LoadTable, of store: LoadStore, rules: PlainRules, _ written: DatabaseSnapshot) {
    self.table = table
    fields = PlainField.all(table, store: store, rules: rules)
    kinds = RowKinds(table, store)
    values = PlainComparison(store, written)
    if case .links = table.rows { isOfLinks = true } else { isOfLinks = false }
  }

  /// The number of a row's entity; nil for a row that belongs into another table.
  func entity(_ source: RecordDecoder) throws -> Int? { try kinds.number(source) }

  /// The first column that differs; nil if none does.
  func difference(_ written: RecordDecoder, _ source: RecordDecoder, entity: Int) throws -> String? {
    guard written.columnCount == fields.count else { return table.columns[0].name }
    for (column, field) in fields.enumerated() {
      let isSame: Bool
      switch field.place {
      case .key: isSame = written.type(column) == SerialType.null
      case .entityName: isSame = written.body(column).elementsEqual(kinds.name(entity) ?? [])
      case .record(let position):
        isSame = try values.isSame(
          SourceValue(written, at: column), SourceValue(source, at: position, standard: field.standard), in: field)
      }
      if !isSame { return table.columns[column].name }
    }
    return nil
  }
}
