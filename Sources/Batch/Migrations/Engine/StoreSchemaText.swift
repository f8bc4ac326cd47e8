import CoreDataStore
import Streams

/// The schema of a store in Core Data's order: entity tables with their join tables, indexes, R-trees, fixed tables.
package enum StoreSchemaText {
  package static func entries(
    _ layout: StoreLayout, hasIndexes: Bool, hasModelCache: Bool, carried: [DatabaseBuilder.SchemaEntry] = []
  ) -> [DatabaseBuilder.SchemaEntry] {
    var entries: [DatabaseBuilder.SchemaEntry] = []
    func table(_ name: String, _ sql: String) {
      entries.append(.init(type: "table", name: name, tableName: name, sql: sql))
    }
    for entityTable in layout.entityTables {
      table(entityTable.name, entityTable.sql)
      for join in layout.joinTables where layout.model.root(of: join.relationship.entity) == entityTable.rootEntity {
        table(join.name, join.sql)
        guard hasIndexes else { continue }
        entries.append(.init(type: "index", name: automaticIndex(join), tableName: join.name, sql: nil))
      }
    }
    if hasIndexes {
      entries += layout.indexes.map { .init(type: "index", name: $0.name, tableName: $0.table, sql: $0.sql) }
      for tree in layout.rtrees {
        entries.append(.init(type: "table", name: tree.name, tableName: tree.name, sql: tree.sql, hasRoot: false))
        for (name, sql) in tree.shadowTables { table(name, sql) }
      }
    }
    for (name, sql) in StoreLayout.fixedTables where hasModelCache || name != "Z_MODELCACHE" { table(name, sql) }
    return entries + carried
  }

  /// SQLite's name for the index behind a join table's primary key.
  static func automaticIndex(_ join: JoinTable) -> String { "sqlite_autoindex_\(join.name)_1" }
}
