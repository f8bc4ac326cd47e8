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
    var columns: [String: [(name: String, holdsReals: Bool)]] = [:]
    for table in layout.entityTables {
      columns[table.name] = table.columns.map { ($0.name, ColumnSchema.Affinity(declaredType: $0.type).holdsReals) }
    }
    for join in layout.joinTables { columns[join.name] = join.columns.map { ($0, false) } }
    let isEntityTable = Set(layout.entityTables.map(\.name))
    return layout.indexes.map { index in
      let all = columns[index.table] ?? []
      return StoreIndex(
        name: index.name, table: index.table,
        columns: index.columns.compactMap { column in
          all.firstIndex { $0.name == column.name }.map {
            SortColumn($0, isDescending: column.isDescending, holdsReals: all[$0].holdsReals)
          }
        },
        rowidColumn: isEntityTable.contains(index.table) ? 0 : nil, isUnique: index.isUnique)
    }
  }
}

/// The entries of a step's indexes on their way from tables to indexes: a sorter each, all in one memory.
///
/// Not thread-safe: one thread at a time takes rows or drains a sorter.
package struct IndexEntries {
  let indexes: [StoreIndex]
  private let memory: SortMemory
  private let files: StepFiles
  private var sorters: [Int: IndexSorter] = [:]

  init(_ indexes: [StoreIndex], files: StepFiles) {
    (self.indexes, self.files) = (indexes, files)
    memory = SortMemory(byteCount: files.budget.sortBytes)
  }

  /// Begins those of a table's indexes that are not before `first`; nil if there are none.
  mutating func begin(table: String, from first: Int = 0) -> TableKeys? {
    let found = indexes.indices.filter { $0 >= first && indexes[$0].table == table }
    for position in found {
      let index = indexes[position]
      sorters[position] = IndexSorter(
        columns: index.columns, rowidColumn: index.rowidColumn, isUnique: index.isUnique, memory: memory,
        path: files.path("sort.\(position)"), fileSystem: files.fileSystem)
    }
    return found.isEmpty ? nil : TableKeys(found.compactMap { sorters[$0] })
  }

  /// Forgets the entries of a table.
  mutating func forget(table: String) {
    for position in indexes.indices where indexes[position].table == table { sorters[position] = nil }
  }

  /// Takes out the entries of an index; nil when its table was not begun.
  mutating func take(_ position: Int) -> IndexSorter? { sorters.removeValue(forKey: position) }
}
