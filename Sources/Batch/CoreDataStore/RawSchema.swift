import RunSupport
import Streams

/// What can be said of a store without its model: entities by Z_PRIMARYKEY, columns by their declared types, join
/// tables by their names.
///
/// Names of properties, UUIDs, Booleans and which integers are keys cannot be told. The ends of a join table are a
/// guess: the number in a column's name may be that of an earlier version (B.6).
public struct RawSchema: Sendable {
  /// A column of a table.
  public struct Column: Sendable, Hashable {
    /// The name, as ZTITLE.
    public let name: String
    /// The declared type, possibly empty.
    public let type: String
    /// The position in a record.
    public let position: Int
    /// Whether it is another name of the rowid, which the record does not hold.
    public let isRowid: Bool
    /// Whether it is declared as Core Data declares dates (B.4).
    public var isDate: Bool { type.uppercased() == "TIMESTAMP" }
    /// Whether it is declared as Core Data declares Double and Float.
    public var isFloat: Bool { type.uppercased() == "FLOAT" }
  }

  /// An end of a join table.
  public struct End: Sendable, Hashable {
    /// The column with the object's key.
    public let column: Column
    /// The entity that the number in the column's name stands for; nil if Z_PRIMARYKEY has no such number.
    public let entity: String?
  }

  /// What the rows of a table are.
  public enum Content: Sendable, Hashable {
    /// Objects of a root entity and its sub-entities. `number` is the position of Z_ENT.
    case objects(number: Int)
    /// Links of a many-to-many relationship.
    case links([End])
    /// Rows of any other table.
    case rows
  }

  /// A table.
  public struct Table: Sendable {
    /// The root entity's name, or the table's if no entity has such a table.
    public let name: String
    /// What its rows are.
    public let content: Content
    /// The columns with values: all but the rowid, Z_ENT and the ends of links.
    public let columns: [Column]
    /// The table as it was made.
    public let schema: TableSchema
  }

  /// Entity names by Z_ENT, without Core Data's own.
  public let entities: [Int64: String]
  /// The tables with objects, then those with links, each by name.
  public let tables: [Table]
  /// Every other ordinary table, by name.
  public let others: [Table]

  /// Looks at a store's schema. Reads no rows.
  public init(_ reader: StoreReader) {
    let own = reader.primaryKeys.filter { $0.entityNumber < StoreReader.firstForeignNumber }
    let entities = Dictionary(own.map { ($0.entityNumber, $0.name) }, uniquingKeysWith: { first, _ in first })
    let roots = Dictionary(
      own.map { (NameOrder.folded("Z" + $0.name.uppercased()), $0.name) }, uniquingKeysWith: { first, _ in first })
    let fixed = Set(StoreLayout.fixedTables.map { NameOrder.folded($0.name) })
    var (objects, links, others): ([Table], [Table], [Table]) = ([], [], [])
    for schema in reader.schema.tables {
      let folded = NameOrder.folded(schema.name)
      if Self.hasObjects(schema) {
        objects.append(Self.objects(schema, name: roots[folded] ?? schema.name))
      } else if let ends = Self.ends(schema, entities) {
        let columns = Self.columns(schema).filter { column in !ends.contains { $0.column == column } }
        links.append(Table(name: schema.name, content: .links(ends), columns: columns, schema: schema))
      } else if !fixed.contains(folded) {
        others.append(Table(name: schema.name, content: .rows, columns: Self.columns(schema), schema: schema))
      }
    }
    let byName = { (left: Table, right: Table) in NameOrder.codeUnits(left.name, right.name) }
    self.entities = entities
    tables = objects.sorted(by: byName) + links.sorted(by: byName)
    self.others = others.sorted(by: byName)
  }

  private static func columns(_ schema: TableSchema) -> [Column] {
    schema.columns.enumerated().map {
      Column(name: $1.name, type: $1.declaredType, position: $0, isRowid: $1.isRowidAlias)
    }
  }

  /// Z_PK, Z_ENT and Z_OPT, in a table of the model: Core Data's own have names that begin with another letter.
  private static func hasObjects(_ schema: TableSchema) -> Bool {
    guard NameOrder.folded(schema.name).hasPrefix("z"), !schema.isWithoutRowid else { return false }
    return schema.position(of: "Z_PK").map { schema.columns[$0].isRowidAlias } == true
      && schema.position(of: "Z_ENT") != nil && schema.position(of: "Z_OPT") != nil
  }

  private static func objects(_ schema: TableSchema, name: String) -> Table {
    let number = schema.position(of: "Z_ENT") ?? 1
    let columns = columns(schema).filter { !$0.isRowid && $0.position != number }
    return Table(name: name, content: .objects(number: number), columns: columns, schema: schema)
  }

  /// The two columns of a join table that hold keys; nil for any other table (B.6).
  private static func ends(_ schema: TableSchema, _ entities: [Int64: String]) -> [End]? {
    guard NumberedName(schema.name)?.prefix == "z_", schema.position(of: "Z_ENT") == nil else { return nil }
    let found = columns(schema).compactMap { column -> End? in
      guard let name = NumberedName(column.name), name.prefix == "z_" else { return nil }
      return End(column: column, entity: Int64(name.number).flatMap { entities[$0] })
    }
    return found.count == 2 ? found : nil
  }
}

extension RawSchema {
  /// The tables of an entity, or the one of that name; names are compared as SQLite does.
  ///
  /// `numbers` are the entity's own and those of its sub-entities; nil if all rows are meant.
  ///
  /// - Throws: ``BatchError`` (`refused`) if nothing bears the name.
  package func find(_ name: String, in reader: StoreReader) throws -> (table: Table, numbers: Set<Int64>?) {
    let wanted = NameOrder.folded(name)
    if let key = reader.primaryKeys.first(where: {
      NameOrder.folded($0.name) == wanted && entities[$0.entityNumber] != nil
    }
    ) {
      let chain = Self.chain(key, reader)
      let table = tables.first { table in
        chain.contains { NameOrder.folded("Z" + $0.name.uppercased()) == NameOrder.folded(table.schema.name) }
      }
      if let table { return (table, key.superNumber == 0 ? nil : Self.family(key.entityNumber, reader)) }
    }
    if let table = (tables + others).first(where: { NameOrder.folded($0.schema.name) == wanted }) {
      return (table, nil)
    }
    if let own = StoreLayout.fixedTables.first(where: { NameOrder.folded($0.name) == wanted })?.name,
      reader.schema.table(own) != nil
    {
      throw BatchError(
        .refused, "the table \(own) is Core Data's own bookkeeping, and is not exported",
        hint: "\(ProgramName.command("inspect", reader.path)) shows the entities and the model, and "
          + "\(ProgramName.command("metadata", reader.path)) the metadata", path: reader.path)
    }
    let names = Set(entities.values).sorted(by: NameOrder.codeUnits)
    throw BatchError(
      .refused, "the store has no entity or table \(name)\(NearName.question(name, in: names))",
      hint: "Its entities are \(names.joined(separator: ", "))", path: reader.path)
  }

  /// An entity and those above it. Numbers may form a ring in a damaged store.
  private static func chain(_ key: StoreReader.PrimaryKey, _ reader: StoreReader) -> [StoreReader.PrimaryKey] {
    var chain = [key]
    while chain.count < 256, let last = chain.last, last.superNumber != 0,
      let parent = reader.primaryKeys.first(where: { $0.entityNumber == last.superNumber })
    {
      chain.append(parent)
    }
    return chain
  }

  /// An entity's number and those of its sub-entities.
  package static func family(_ number: Int64, _ reader: StoreReader) -> Set<Int64> {
    var found: Set<Int64> = [number]
    var before = 0
    while found.count != before {
      before = found.count
      for key in reader.primaryKeys where found.contains(key.superNumber) { found.insert(key.entityNumber) }
    }
    return found
  }
}
