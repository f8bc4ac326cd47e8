import CoreDataModel
import CoreDataStore

/// Makes indexes of a database of those that the store has.
struct LoadIndexPlanner {
  let layout: StoreLayout
  let tables: [LoadTable]
  var names: LoadNameBook
  private(set) var indexes: [LoadIndex] = []
  private(set) var notes: [String] = []

  init(layout: StoreLayout, tables: [LoadTable], names: LoadNameBook) {
    (self.layout, self.tables, self.names) = (layout, tables, names)
  }

  /// The model without its R-trees, which have no counterpart; each becomes a note.
  static func withoutTrees(_ model: ManagedObjectModel, _ notes: inout [String]) -> ManagedObjectModel {
    var model = model
    model.entities = model.entities.map { entity in
      let trees = entity.indexes.filter(\.isRTree)
      guard !trees.isEmpty else { return entity }
      notes += trees.map { "\($0.name) of \(entity.name) is not created: it is an R-tree" }
      var entity = entity
      entity.indexes.removeAll { index in trees.contains(index) }
      return entity
    }
    return model
  }

  mutating func add() {
    for index in layout.indexes { add(index) }
  }

  private mutating func add(_ index: IndexLayout) {
    let candidates = tables.indices.lazy.compactMap { [self] table in columns(index, in: table).map { (table, $0) } }
    guard let (table, columns) = candidates.first else {
      notes.append("\(index.name) is not created: its columns are not all in one table")
      return
    }
    let name = ([tables[table].name] + columns.map { tables[table].columns[$0].name }).joined(separator: "_")
    // A store has one for every relationship and one for every index of the model: they may be over the same columns.
    let made = LoadIndex(
      name: "", table: table, columns: columns, descending: index.columns.map(\.isDescending), isUnique: index.isUnique)
    guard !indexes.contains(where: { $0.covers(made) }) else { return }
    indexes.append(made)
    indexes[indexes.count - 1].name = names.take(name + (index.isUnique ? "_key" : "_idx"))
  }

  /// The places of an index's columns in a table; nil if one of them is not there.
  private func columns(_ index: IndexLayout, in place: Int) -> [Int]? {
    let table = tables[place]
    let found: [Int?]
    switch table.rows {
    case .objects(let entityTable, _):
      let original = layout.entityTables[entityTable]
      guard original.name == index.table else { return nil }
      found = index.columns.map { column in
        table.columns.firstIndex { candidate in
          switch candidate.source {
          case .column(let position, _): original.columns[position].name == column.name
          case .entityName, .entityNumber: column.name == "Z_ENT"
          case .key: column.name == "Z_PK"
          case .link: false
          }
        }
      }
    case .links(let join):
      guard layout.joinTables[join].name == index.table else { return nil }
      found = index.columns.map { column in table.columns.firstIndex { $0.source == .link(column.name) } }
      // The primary key leads from the first column to the second: the index is the way back. Where a relationship is
      // its own inverse the store has the two the other way round.
      if found == [0, 1] { return [1, 0] }
    }
    return found.contains(nil) ? nil : found.compactMap(\.self)
  }
}

extension LoadIndex {
  fileprivate func covers(_ other: LoadIndex) -> Bool {
    table == other.table && columns == other.columns && descending == other.descending && isUnique == other.isUnique
  }
}
