import CoreDataStore
import Streams

/// What a step takes over from the source's schema beyond its model: tables, indexes and texts that other code made,
/// and Core Data's own tables of history and of CloudKit (B.7-B.9). Records are copied as they are, entity numbers in
/// them excepted.
package struct CarriedObjects {
  /// A table whose rows are copied, in rowid order.
  package struct Table {
    package var row: SchemaRow
    /// The column with entity numbers that change, and the new number of each.
    var numbers: (column: Int, map: [Int64: Int64])?
    /// Entity numbers in that column whose rows go with their entities.
    var removed: Set<Int64> = []
    /// Whether the table stays, but without its rows.
    var isEmptied = false
  }

  /// An index of a table whose rows change: its keys are rebuilt.
  package struct Index {
    var row: SchemaRow
    var columns: [SortColumn]
    /// The column that is another name of the rowid.
    var rowidColumn: Int?
    var isUnique: Bool
  }

  package var tables: [Table] = []
  /// Indexes and WITHOUT ROWID tables whose records are copied in their order.
  var trees: [SchemaRow] = []
  var indexes: [Index] = []
  /// Triggers, views and virtual tables.
  package var texts: [SchemaRow] = []
  /// Triggers of the source whose text is rewritten, with their new names.
  var renewedTriggers: [String: String] = [:]
  /// Rows of Z_PRIMARYKEY that are not the model's, as those of history.
  var primaryKeys: [StoreReader.PrimaryKey] = []
  /// Z_NAME by Z_ENT in an identity migration: after a rename it is an old name (B.3), which stays.
  var entityNames: [Int64: String] = [:]
  /// What Z_MODELCACHE holds in the new store: the new version's model where the source has that table (B.2). Nil
  /// without one, and in an identity migration, which keeps the table.
  var modelCache: [UInt8]?
  /// What the step does to the objects that history names; nil in an identity migration, which changes none.
  package var fates: HistoryFates?
  /// What the rows of history name that are kept; nil without history.
  package var history: HistoryRows?
  /// What a person should know.
  package var notes: [String] = []

  /// The entries of the new store's schema, after those of the model.
  var schema: [DatabaseBuilder.SchemaEntry] {
    func entry(_ row: SchemaRow, hasRoot: Bool) -> DatabaseBuilder.SchemaEntry {
      .init(type: row.type, name: row.name, tableName: row.tableName, sql: row.sql, hasRoot: hasRoot)
    }
    let withRoots = tables.map(\.row) + trees + indexes.map(\.row)
    return withRoots.filter { $0.type == "table" }.map { entry($0, hasRoot: true) }
      + withRoots.filter { $0.type != "table" }.map { entry($0, hasRoot: true) }
      + texts.filter { $0.type == "table" }.map { entry($0, hasRoot: false) }
      + texts.filter { $0.type != "table" }.map { entry($0, hasRoot: false) }
  }
}
