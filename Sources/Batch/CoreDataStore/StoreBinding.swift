import CoreDataModel
import RunSupport

/// Ties the tables and columns that a model asks for to those that a store has, by name: a store that was migrated in
/// place keeps new columns at the end, old numbers in names and quoted texts (B.4, B.6).
public struct StoreBinding: Sendable {
  /// An entity table and where its columns are.
  public struct Table: Sendable {
    /// What the model asks for.
    public let layout: EntityTable
    /// What the store has.
    public let schema: TableSchema
    /// For every column of ``layout``, in its order: the position in a record.
    public let positions: [Int]
  }

  /// A join table and where its columns are.
  public struct Join: Sendable {
    /// What the model asks for. The store's names may differ.
    public let layout: JoinTable
    /// What the store has.
    public let schema: TableSchema
    /// Position of the column with the owner of ``JoinTable/relationship``.
    public let sourcePosition: Int
    /// Position of the column with its destination.
    public let destinationPosition: Int
    /// Position of ``JoinTable/sourceOrderColumn``, if there is one.
    public let sourceOrderPosition: Int?
    /// Position of ``JoinTable/destinationOrderColumn``, if there is one.
    public let destinationOrderPosition: Int?
  }

  /// What the store has and the model does not ask for.
  public struct Extras: Sendable, Hashable {
    /// A column beyond the model's, as left by a deferred migration.
    public struct Column: Sendable, Hashable {
      /// The table.
      public let table: String
      /// The column.
      public let column: String
    }
    /// ACHANGE, ATRANSACTION and ATRANSACTIONSTRING, as far as they exist.
    public var history: [String] = []
    /// CloudKit's own tables (`ANSCK…`).
    public var cloudKit: [String] = []
    /// All other tables.
    public var tables: [String] = []
    /// Columns of bound tables.
    public var columns: [Column] = []
  }

  /// The model's layout.
  public let layout: StoreLayout
  /// One per entity table of the layout, in its order.
  public let tables: [Table]
  /// One per join table of the layout, in its order.
  public let joins: [Join]
  /// What is left over.
  public let extras: Extras
  private let facts = ModelFacts()

  /// Binds a layout to a store.
  ///
  /// `modelName` and `path` are for messages.
  ///
  /// - Throws: ``BatchError`` (`badStore`) naming entity, table and column that are missing.
  public init(layout: StoreLayout, schema: StoreSchema, modelName: String, path: String?) throws {
    let claim = StoreClaim(modelName: modelName, path: path)
    for name in ["Z_METADATA", "Z_PRIMARYKEY"] where schema.table(name) == nil {
      throw BatchError(
        .badStore, "the file has no table \(name)", hint: "Check that it is a Core Data store", path: path)
    }
    self.layout = layout
    tables = try layout.entityTables.map { try Self.bind($0, schema: schema, claim: claim) }
    let taken = Set(layout.entityTables.map { NameOrder.folded($0.name) })
    var binder = JoinBinder(
      candidates: schema.tables.filter { !taken.contains(NameOrder.folded($0.name)) }, claim: claim)
    joins = try binder.bind(layout.joinTables)
    extras = Self.extras(schema, tables: tables, joins: joins)
  }

  /// What follows from model and tables, made once for all stores that are bound alike.
  package func remembered<Fact: Sendable>(_ key: ModelFacts.Key<Fact>, make: () throws -> Fact) rethrows -> Fact {
    try facts.value(key, make: make)
  }

  private static func bind(_ table: EntityTable, schema: StoreSchema, claim: StoreClaim) throws -> Table {
    guard let found = schema.table(table.name) else {
      throw claim.error("has no table \(table.name)", entity: table.rootEntity)
    }
    guard !found.isWithoutRowid else {
      throw claim.error("has table \(table.name) without rowids, which Core Data never makes", entity: table.rootEntity)
    }
    let positions = try table.columns.map { column in
      if let position = found.position(of: column.name) { return position }
      if let position = renumbered(column, found, claimed: table) { return position }
      throw claim.error("has no column \(column.name) in table \(table.name)", entity: table.rootEntity)
    }
    return Table(layout: table, schema: found, positions: positions)
  }

  /// Columns that carry an entity number keep the old one when a store was renumbered around them. Such a one is taken
  /// if it is the only column of that shape which the model does not claim under its own name.
  private static func renumbered(_ column: Column, _ found: TableSchema, claimed table: EntityTable) -> Int? {
    switch column.role {
    case .toOneEntity, .inverselessOwner, .inverselessOrder: break
    default: return nil
    }
    guard let shape = NumberedName(column.name) else { return nil }
    let claimed = Set(table.columns.map { NameOrder.folded($0.name) })
    let matches = found.columns.indices.filter { position in
      let name = found.columns[position].name
      return NumberedName(name)?.hasShape(of: shape) == true && !claimed.contains(NameOrder.folded(name))
    }
    return matches.count == 1 ? matches[0] : nil
  }

  private static func extras(_ schema: StoreSchema, tables: [Table], joins: [Join]) -> Extras {
    var extras = Extras()
    var used: [String: Set<Int>] = ["z_metadata": [0, 1, 2], "z_primarykey": [0, 1, 2, 3], "z_modelcache": [0]]
    for table in tables { used[NameOrder.folded(table.schema.name)] = Set(table.positions) }
    for join in joins {
      let positions = [
        join.sourcePosition, join.destinationPosition, join.sourceOrderPosition, join.destinationOrderPosition,
      ]
      used[NameOrder.folded(join.schema.name)] = Set(positions.compactMap { $0 })
    }
    for table in schema.tables {
      let name = NameOrder.folded(table.name)
      if let positions = used[name] {
        let left = table.columns.indices.filter { !positions.contains($0) }
        extras.columns += left.map { .init(table: table.name, column: table.columns[$0].name) }
      } else if FrameworkTables.isHistory(name) {
        extras.history.append(table.name)
      } else if FrameworkTables.isCloudKit(name) {
        extras.cloudKit.append(table.name)
      } else {
        extras.tables.append(table.name)
      }
    }
    return extras
  }
}

/// What a store's metadata says it is; words the errors of a binding.
package struct StoreClaim {
  package let modelName: String
  package let path: String?

  package init(modelName: String, path: String?) {
    self.modelName = modelName
    self.path = path
  }

  func error(_ what: String, entity: String) -> BatchError {
    let raw = path.map { ". \(ProgramName.command("export", "--raw", $0)) reads its tables as they are" } ?? ""
    return BatchError(
      .badStore, "the store's metadata claims model \(modelName), but the store \(what)",
      hint: "Its -wal file may be lost, or the file may come from another version of the application\(raw)", path: path,
      entity: entity)
  }
}

/// A name with an entity number in it: `Z_12USERS`, `Z4_MESSAGE`, `Z_FOK_3ITEMS`.
package struct NumberedName: Hashable {
  /// Before the number, folded.
  package let prefix: String
  package let number: String
  /// After it, folded.
  let base: String

  package init?(_ name: String) {
    let folded = NameOrder.folded(name)
    guard let prefix = ["z_fok_", "z_", "z"].first(where: { folded.hasPrefix($0) }) else { return nil }
    let rest = folded.dropFirst(prefix.count)
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty, digits.count < rest.count else { return nil }
    self.prefix = prefix
    number = String(digits)
    base = String(rest.dropFirst(digits.count))
  }

  package func hasShape(of other: NumberedName) -> Bool { prefix == other.prefix && base == other.base }
}
