import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// Sorts what a source has beyond its model into what is carried, what is left out with a note, and what is refused.
struct CarriedObjectsFinder {
  let drafts: StepDraft
  let reader: StoreReader
  /// The store's own version, and where its tables are.
  let binding: StoreBinding
  let options: ExtrasOptions

  private var schema: StoreSchema { reader.schema }
  private var isIdentity: Bool { drafts.step.isIdentity }

  func find() throws -> CarriedObjects {
    var found = CarriedObjects()
    if let root = schema.sharedRoots.min() {
      throw BatchError(
        .badStore, "several tables or indexes begin at page \(root), so none of them can be believed",
        hint: "Restore the store from a backup", effect: .nothingWritten, path: reader.path)
    }
    let left = leftOut()
    for row in extraTables() where !left.contains(NameOrder.folded(row.name)) { try add(row, to: &found) }
    try checkNames(found, leaving: left)
    try HistoryCarrier(drafts: drafts, reader: reader, options: options).apply(to: &found)
    try addIndexes(to: &found)
    addTexts(leaving: left, to: &found)
    found.primaryKeys = reader.primaryKeys.filter { $0.entityNumber >= StoreReader.firstForeignNumber }
    guard Set(found.primaryKeys.map(\.entityNumber)).count == found.primaryKeys.count else {
      throw BatchError(
        .badStore, "Z_PRIMARYKEY has several rows for one entity number",
        hint: "Restore the store from a backup", effect: .nothingWritten,
        path: reader.path)
    }
    if !isIdentity, schema.table("Z_MODELCACHE") != nil { addModelCache(to: &found) }
    if isIdentity { for key in reader.primaryKeys { found.entityNames[key.entityNumber] = key.name } }
    addStrangers(to: &found)
    addNotes(&found)
    return found
  }

  /// Rows of Z_PRIMARYKEY that neither the model nor Core Data itself has; their numbers may be another entity's soon.
  private func addStrangers(to found: inout CarriedObjects) {
    let own = 1...Int64(max(1, binding.layout.entityNames.count))
    let strangers = reader.primaryKeys.filter {
      $0.entityNumber < StoreReader.firstForeignNumber && !own.contains($0.entityNumber)
    }
    guard !strangers.isEmpty else { return }
    let names = strangers.prefix(10).map { "\($0.entityNumber) (\($0.name))" }.joined(separator: ", ")
    found.notes.append(
      "rows of Z_PRIMARYKEY that are not entities of the model are dropped: \(names)\(strangers.count > 10 ? ", …" : "")"
    )
  }

  private func addModelCache(to found: inout CarriedObjects) {
    do {
      let (content, leftOut) = try ModelCache.encode(drafts.step.destination)
      found.modelCache = content
      if !leftOut.isEmpty { found.notes.append("the model cache lacks \(leftOut.joined(separator: ", "))") }
    } catch {
      // Core Data opens a store whose cache is empty, and writes it again.
      found.modelCache = []
      found.notes.append("the model cache is left empty: \(error)")
    }
  }

  /// Tables with a b-tree that the model does not ask for, those that SQLite's parser was not shown included.
  private func extraTables() -> [SchemaRow] {
    var taken = Set(StoreLayout.fixedTables.map { NameOrder.folded($0.name) })
    taken.formUnion(binding.tables.map { NameOrder.folded($0.schema.name) })
    taken.formUnion(binding.joins.map { NameOrder.folded($0.schema.name) })
    // The model of an identity migration is the source's own, so its cache stays true.
    if isIdentity { taken.remove("z_modelcache") }
    return schema.rows.filter { $0.type == "table" && $0.rootPage > 0 && !taken.contains(NameOrder.folded($0.name)) }
  }

  /// Folded names of tables that are rebuilt, R-trees with their shadow tables, or that a changed model makes
  /// worthless: other R-trees, and SQLite's statistics.
  private func leftOut() -> Set<String> {
    guard !isIdentity else { return Set(drafts.layout.rtrees.flatMap(\.tableNames).map(NameOrder.folded)) }
    let names = schema.rows.filter { $0.type == "table" }.map { NameOrder.folded($0.name) }
    let trees = schema.virtualTables.map { NameOrder.folded($0.row.name) }.filter { $0.hasPrefix("z_rt_") }
    let shadows = trees.flatMap { tree in ["_node", "_parent", "_rowid"].map { tree + $0 } }
    return Set(trees + shadows + names.filter { $0.hasPrefix("sqlite_stat") })
  }

  private func add(_ row: SchemaRow, to found: inout CarriedObjects) throws {
    if FrameworkTables.isCloudKit(NameOrder.folded(row.name)), !isIdentity, !options.allowsCloudKit {
      throw BatchError(
        .refused, "the store is mirrored with CloudKit (\(row.name)), which keeps entity numbers and hashes of its own",
        hint: "Allow it with --allow-cloudkit, or let the application migrate it", effect: .nothingWritten,
        path: reader.path)
    }
    if try TreeKind.isTable(root: row.rootPage, in: reader.snapshot) {
      found.tables.append(.init(row: row))
    } else if isUTF16 {
      throw BatchError(
        .refused, "the table \(row.name) is kept in the order of UTF-16 text, which is another than UTF-8's",
        hint: "Convert the store with sqlite3's .dump", effect: .nothingWritten, path: reader.path)
    } else {
      found.trees.append(row)
    }
  }

  /// Texts become UTF-8, whose order is another where characters beyond the basic plane or bytes decide.
  private var isUTF16: Bool { reader.snapshot.header.encoding != .utf8 }

  /// A table that other code made must not stand where the new version puts one of its own.
  private func checkNames(_ found: CarriedObjects, leaving left: Set<String>) throws {
    let layout = drafts.layout
    let names = layout.entityTables.map(\.name) + layout.joinTables.map(\.name) + layout.rtrees.flatMap(\.tableNames)
    let own = Set(names.map(NameOrder.folded)).subtracting(left)
    let rows = found.tables.map(\.row) + found.trees + schema.virtualTables.map(\.row) + schema.views.map(\.row)
    for row in rows where own.contains(NameOrder.folded(row.name)) {
      throw BatchError(
        .refused,
        "the store has a table \(row.name) of its own, where \(drafts.step.destination.name) puts one of the model's",
        hint: "Rename the table with the application that made it", effect: .nothingWritten, path: reader.path)
    }
  }

  /// Indexes of carried tables; in an identity migration also those of the model's tables that only the file knows.
  private func addIndexes(to found: inout CarriedObjects) throws {
    let changed = Set(found.tables.filter { $0.isEmptied || $0.numbers != nil }.map { NameOrder.folded($0.row.name) })
    var owners = Set((found.tables.map(\.row) + found.trees).map { NameOrder.folded($0.name) })
    let built = Set(drafts.layout.indexes.map { NameOrder.folded($0.name) })
    if isIdentity { owners.formUnion(binding.tables.map { NameOrder.folded($0.schema.name) }) }
    if isIdentity { owners.formUnion(binding.joins.map { NameOrder.folded($0.schema.name) }) }
    let joins = Set(binding.joins.map { NameOrder.folded($0.schema.name) })
    for row in schema.rows where row.type == "index" && row.rootPage > 0 {
      let owner = NameOrder.folded(row.tableName)
      guard owners.contains(owner) else { continue }
      if built.contains(NameOrder.folded(row.name)) {
        if !isIdentity { found.notes.append("the index \(row.name) is dropped: the new version has one of that name") }
        continue
      }
      // The primary key's index of a join table is the layout's.
      if row.sql == nil, joins.contains(owner) { continue }
      if changed.contains(owner) || isUTF16 {
        found.indexes.append(try rebuilt(row))
      } else {
        found.trees.append(row)
      }
    }
  }

  /// An index whose keys are rebuilt: one over plain columns of all rows, in an order of SQLite's own.
  private func rebuilt(_ row: SchemaRow) throws -> CarriedObjects.Index {
    guard let index = schema.indexes.first(where: { $0.name == row.name }), let table = schema.table(row.tableName),
      index.columns.allSatisfy({ Collation(rawValue: $0.collation.uppercased()) != nil })
    else {
      throw BatchError(
        .refused, "the index \(row.name) of \(row.tableName) cannot be made anew: it is not over plain columns",
        hint: "Remove it with the application that made it", effect: .nothingWritten, path: reader.path)
    }
    let columns = index.columns.compactMap { key in
      key.column.flatMap(table.position).map {
        SortColumn(
          $0, isDescending: key.isDescending, collation: Collation(rawValue: key.collation.uppercased()) ?? .binary,
          holds: table.columns[$0].affinity.holds)
      }
    }
    return CarriedObjects.Index(
      row: row, columns: columns, rowidColumn: table.columns.firstIndex(where: \.isRowidAlias), isUnique: index.isUnique
    )
  }

  private func addTexts(leaving left: Set<String>, to found: inout CarriedObjects) {
    found.texts += schema.virtualTables.map(\.row).filter { !left.contains(NameOrder.folded($0.name)) }
    found.texts += schema.views.map(\.row)
    let triggers = schema.triggers.map(\.row)
    guard !isIdentity else {
      found.texts += triggers
      return
    }
    let derived = DerivedAttributes(drafts: drafts, origin: binding.layout, triggers: triggers)
    let others = triggers.filter { derived.renewed[$0.name] == nil }
    let fit = others.isEmpty ? nil : TriggerFit(drafts, origin: binding)
    let misfits = others.map { (row: $0, misfit: fit?.misfit($0)) }
    found.texts += misfits.filter { $0.misfit == nil }.map(\.row)
    found.texts += derived.triggers
    found.renewedTriggers = derived.renewed
    for misfit in TriggerFit.Misfit.allCases {
      let dropped = misfits.filter { $0.misfit == misfit }.map(\.row.name)
      guard !dropped.isEmpty else { continue }
      found.notes.append("\(misfit.rawValue) are dropped: \(dropped.joined(separator: ", "))")
    }
    found.notes += derived.notes(kept: found.texts)
  }

  private func addNotes(_ found: inout CarriedObjects) {
    guard !isIdentity else {
      found.notes += drafts.layout.indexes.filter(\.isMissing).map {
        "the \($0.isUnique ? "uniqueness constraint" : "index") \($0.name) of the model, which the store lacks, is made"
      }
      return
    }
    let columns = binding.extras.columns.map { "\($0.table).\($0.column)" }
    if !columns.isEmpty {
      found.notes.append("columns that the model does not know are dropped: \(columns.joined(separator: ", "))")
    }
    let made = Set(drafts.layout.rtrees.map { NameOrder.folded($0.name) })
    let trees = schema.virtualTables.map(\.row.name)
      .filter { NameOrder.folded($0).hasPrefix("z_rt_") && !made.contains(NameOrder.folded($0)) }
    if !trees.isEmpty { found.notes.append("R-tree indexes are dropped: \(trees.joined(separator: ", "))") }
    let history = Set(binding.extras.history.map(NameOrder.folded))
    let others = (found.tables.map(\.row) + found.trees.filter { $0.type == "table" }).map(\.name)
      .filter { !history.contains(NameOrder.folded($0)) && !NameOrder.folded($0).hasPrefix("sqlite_") }
    if !others.isEmpty {
      found.notes.append("tables that the model does not know are kept as they are: \(others.joined(separator: ", "))")
    }
  }
}
