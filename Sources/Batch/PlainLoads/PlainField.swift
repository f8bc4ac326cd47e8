import LoadTables
import Streams

/// A column of an ordinary table: what it holds and where that comes from.
struct PlainField: Sendable {
  var kind: PlainKind
  var place: LoadPlace
  var isRequired: Bool
  var isExternal: Bool
  /// The value of rows of the source that end before it.
  var standard: Value

  /// The columns of a table, in order.
  static func all(_ table: LoadTable, store: LoadStore, rules: PlainRules) -> [PlainField] {
    zip(table.columns, zip(store.places(of: table), store.defaults(of: table))).map { column, found in
      PlainField(
        kind: PlainKind(column.type, dates: rules.dates), place: found.0, isRequired: column.isRequired,
        isExternal: column.isExternal, standard: found.1)
    }
  }
}
