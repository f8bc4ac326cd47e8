import RunSupport

extension StoreLayout {
  /// The layout of a real store, for a migration that changes nothing but the file: tables, columns and indexes keep
  /// their names, texts and order, and columns that the model does not know are among them. Indexes that the store lacks
  /// are in it where they are to be made.
  ///
  /// Throws ``BatchError`` (`refused`) when a table does not begin with Core Data's three columns, or when a join table
  /// has a column that does not follow from its model.
  package func adopting(
    _ binding: StoreBinding, schema: StoreSchema, makingMissing: Bool = true
  ) throws -> StoreLayout {
    let tables = try binding.tables.map(Self.adopted)
    let joins = binding.joins.map { bound in
      let columns = bound.schema.columns.map(\.name)
      return JoinTable(
        name: bound.schema.name, relationship: bound.layout.relationship, inverse: bound.layout.inverse,
        sourceColumn: columns[bound.sourcePosition], destinationColumn: columns[bound.destinationPosition],
        sourceOrderColumn: bound.sourceOrderPosition.map { columns[$0] },
        destinationOrderColumn: bound.destinationOrderPosition.map { columns[$0] },
        isSelfReferencing: bound.layout.isSelfReferencing, otherName: bound.layout.otherName)
    }
    let joined = Set(joins.map { NameOrder.folded($0.name) })
    if let strange = binding.extras.columns.first(where: { joined.contains(NameOrder.folded($0.table)) }) {
      throw BatchError(
        .refused, "the join table \(strange.table) has the column \(strange.column), which Core Data never makes",
        effect: .nothingWritten)
    }
    let indexes = Self.indexes(schema, tables: tables, joins: joined)
    let directory = PropertyDirectory(model: model, tables: tables, joins: joins)
    let lacking = makingMissing ? missing(tables, directory, in: schema) : []
    return StoreLayout(self, tables: tables, joins: joins, indexes: indexes + lacking, schema: schema)
  }

  /// Indexes and constraints that the model declares and the store lacks: SwiftData gives a store that exists none of
  /// those that a model has got since. They have no text yet.
  private func missing(_ tables: [EntityTable], _ directory: PropertyDirectory, in schema: StoreSchema) -> [IndexLayout]
  {
    // A model whose indexes cannot be planned leaves the store as it is.
    guard let numbering = try? EntityNumbering(model: model) else { return [] }
    var planner = IndexPlanner(
      model: model, numbering: numbering, hasRTrees: true, columnName: directory.indexable)
    guard (try? tables.forEach({ try planner.add($0, joins: []) })) != nil else { return [] }
    let names = Set(schema.rows.filter { $0.type == "index" }.map { NameOrder.folded($0.name) })
    return planner.indexes.filter { wanted in
      wanted.isDeclared && !names.contains(NameOrder.folded(wanted.name))
        && !schema.indexes.contains { wanted.isMade(by: $0) }
    }
  }

  private static func adopted(_ bound: StoreBinding.Table) throws -> EntityTable {
    guard bound.positions.prefix(3).elementsEqual(0..<3) else {
      throw BatchError(
        .refused, "the table \(bound.schema.name) does not begin with Z_PK, Z_ENT and Z_OPT, as all of Core Data's do",
        effect: .nothingWritten, entity: bound.layout.rootEntity)
    }
    let known = Dictionary(zip(bound.positions, bound.layout.columns), uniquingKeysWith: { first, _ in first })
    let columns = bound.schema.columns.enumerated().map { position, column in
      Column(
        name: column.name, type: known[position]?.type ?? column.declaredType,
        role: known[position]?.role ?? .unknown(name: column.name))
    }
    return EntityTable(
      name: bound.schema.name, rootEntity: bound.layout.rootEntity, columns: columns, text: bound.schema.sql)
  }

  /// The indexes that are no more than columns in SQLite's plain order: their keys are made of the rows.
  private static func indexes(_ schema: StoreSchema, tables: [EntityTable], joins: Set<String>) -> [IndexLayout] {
    let names = joins.union(tables.map { NameOrder.folded($0.name) })
    return schema.indexes.compactMap { index in
      guard let sql = index.sql, names.contains(NameOrder.folded(index.table)) else { return nil }
      guard index.columns.allSatisfy({ $0.column != nil && $0.collation == "BINARY" }) else { return nil }
      let columns = index.columns.map {
        IndexLayout.Column(name: $0.column ?? "", isDescending: $0.isDescending, collation: nil)
      }
      return IndexLayout(
        name: index.name, table: index.table, columns: columns, isUnique: index.isUnique, partialPredicate: nil,
        text: sql)
    }
  }
}
