import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import Streams

/// The schema of an excerpt: tables, columns and indexes of the source's model as the source has them. What else the
/// source has is left out.
struct ExcerptSchema {
  let layout: StoreLayout
  let binding: StoreBinding
  /// Triggers that the excerpt has, too.
  let triggers: [SchemaRow]
  /// What a person should know.
  let notes: [String]

  init(_ reader: StoreReader, model: ManagedObjectModel) throws {
    let (own, schema) = (try StoreBinding(reader, model: model), reader.schema)
    if let root = schema.sharedRoots.min() {
      throw BatchError(
        .badStore, "several tables or indexes begin at page \(root), so none of them can be believed",
        hint: "Restore the store from a backup", path: reader.path)
    }
    for table in own.tables where !table.schema.clauseIndexes.isEmpty {
      throw BatchError(
        .refused, "the table \(table.schema.name) has a PRIMARY KEY or UNIQUE clause that Core Data never makes",
        hint: "Remove it with the application that made it", effect: .nothingWritten, path: reader.path)
    }
    let layout = try own.layout.adopting(own, schema: schema, makingMissing: false)
    self.layout = layout
    binding = try StoreBinding(layout: layout, schema: schema, modelName: model.name, path: reader.path)
    let extras = binding.extras
    let tables = extras.history + extras.cloudKit + extras.tables.filter { !Self.isOwn($0, layout) }
    let gone = tables.map(NameOrder.folded)
    let triggers = schema.triggers.map(\.row).filter { row in
      let text = NameOrder.folded(row.sql ?? "")
      return !gone.contains { text.contains($0) }
    }
    self.triggers = triggers
    notes = Self.notes(schema, layout, tables: tables, triggers: triggers)
  }

  /// Whether a table is SQLite's own or an R-tree's.
  private static func isOwn(_ name: String, _ layout: StoreLayout) -> Bool {
    let folded = NameOrder.folded(name)
    return folded.hasPrefix("sqlite_") || layout.rtrees.flatMap(\.tableNames).map(NameOrder.folded).contains(folded)
  }

  private static func notes(
    _ schema: StoreSchema, _ layout: StoreLayout, tables: [String], triggers: [SchemaRow]
  ) -> [String] {
    let kept = Set((layout.entityTables.map(\.name) + layout.joinTables.map(\.name)).map(NameOrder.folded))
    let built = Set(layout.indexes.map { NameOrder.folded($0.name) })
    let indexes = schema.rows.filter { row in
      row.type == "index" && row.sql != nil && kept.contains(NameOrder.folded(row.tableName))
        && !built.contains(NameOrder.folded(row.name))
    }
    let trees = schema.virtualTables.map(\.row.name).filter { !isOwn($0, layout) }
    let texts = schema.triggers.map(\.row).filter { !triggers.contains($0) } + schema.views.map(\.row)
    let found = [
      ("tables that are not the model's", tables), ("virtual tables that are not the model's", trees),
      ("indexes that are not over plain columns", indexes.map(\.name)),
      ("views, and triggers on what is left out", texts.map(\.name)),
    ]
    return found.filter { !$0.1.isEmpty }.map { "\($0.0) are left out: \($0.1.joined(separator: ", "))" }
  }

  /// The entries of the excerpt's schema.
  func entries(hasModelCache: Bool) -> [DatabaseBuilder.SchemaEntry] {
    StoreSchemaText.entries(
      layout, hasIndexes: true, hasModelCache: hasModelCache,
      carried: triggers.map {
        .init(type: $0.type, name: $0.name, tableName: $0.tableName, sql: $0.sql, hasRoot: false)
      })
  }

  /// Z_PRIMARYKEY, Z_METADATA and Z_MODELCACHE: the source's own, for the model's entities.
  func fixedTables(of reader: StoreReader, largestKeys: [Int64], modelCache: [UInt8]?) -> FixedTables {
    let maxima = Dictionary(reader.primaryKeys.map { ($0.entityNumber, $0.maximum) }, uniquingKeysWith: max)
    let largest = zip(layout.entityTables, largestKeys).map { table, key in
      max(key, layout.entityNumbers[table.rootEntity].flatMap { maxima[Int64($0)] } ?? 0)
    }
    let names = Dictionary(reader.primaryKeys.map { ($0.entityNumber, $0.name) }) { first, _ in first }
    return FixedTables(
      layout: layout, metadata: reader.metadata, largestKeys: largest, names: names, modelCache: modelCache)
  }

  /// What Z_MODELCACHE holds; nil in a store without that table.
  static func modelCache(of reader: StoreReader) throws -> [UInt8]? {
    guard let table = reader.schema.table("Z_MODELCACHE"), let place = table.position(of: "Z_CONTENT") else {
      return nil
    }
    var content: [UInt8]?
    try StoreReader.rows(reader.snapshot, root: table.rootPage) { _, decoder in
      if content == nil, case .blob(let bytes) = try decoder.value(place) { content = bytes }
    }
    return content ?? []
  }
}
