import CoreDataStore
import RunSupport
import Streams

/// An index of a store that is made from its table's rows. All hold all rows: those with a predicate in the model are
/// written whole, and partial ones of other tools are copied as trees.
package struct StoreIndex {
  var name: String
  var table: String
  var columns: [SortColumn]
  var rowidColumn: Int?
  var isUnique: Bool

  /// The indexes of a layout, nil for none, those of join tables first, and then those of carried tables: the order in
  /// which they are written.
  package static func all(_ layout: StoreLayout?, carried: [CarriedObjects.Index] = []) -> [StoreIndex] {
    (layout.map { joins($0) + planned($0) } ?? [])
      + carried.map { index in
        StoreIndex(
          name: index.row.name, table: index.row.tableName, columns: index.columns, rowidColumn: index.rowidColumn,
          isUnique: index.isUnique)
      }
  }

  private static func joins(_ layout: StoreLayout) -> [StoreIndex] {
    layout.joinTables.map { join in
      StoreIndex(
        name: StoreSchemaText.automaticIndex(join), table: join.name,
        columns: [join.firstColumn, join.secondColumn].compactMap { join.columns.firstIndex(of: $0) }.map {
          SortColumn($0)
        },
        rowidColumn: nil, isUnique: true)
    }
  }

  private static func planned(_ layout: StoreLayout) -> [StoreIndex] {
    var columns: [String: [(name: String, holds: SortColumn.Holding)]] = [:]
    for table in layout.entityTables {
      columns[table.name] = table.columns.map { ($0.name, ColumnSchema.Affinity(declaredType: $0.type).holds) }
    }
    for join in layout.joinTables { columns[join.name] = join.columns.map { ($0, .integers) } }
    let isEntityTable = Set(layout.entityTables.map(\.name))
    return layout.indexes.map { index in
      let all = columns[index.table] ?? []
      return StoreIndex(
        name: index.name, table: index.table,
        columns: index.columns.compactMap { column in
          all.firstIndex { $0.name == column.name }.map {
            SortColumn($0, isDescending: column.isDescending, holds: all[$0].holds)
          }
        },
        rowidColumn: isEntityTable.contains(index.table) ? 0 : nil, isUnique: index.isUnique)
    }
  }
}
