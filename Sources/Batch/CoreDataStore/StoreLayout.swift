import CoreDataModel
import RunSupport

/// The tables, columns and indexes that a model has in a fresh SQLite store, predicted from the model alone (B.3–B.7).
///
/// A store that was migrated in place may differ in the order of its columns, in quoted, stale or renumbered names:
/// bind to it with ``StoreBinding``, never by position.
public struct StoreLayout: Sendable {
  /// What the layout is for.
  public enum Purpose: Sendable {
    /// To build a store: every index must be one that can be written.
    case writing
    /// To read a store that exists: its indexes do not matter, and ``StoreLayout/indexes`` is empty.
    case reading
  }

  /// The model.
  public let model: ManagedObjectModel
  /// Z_ENT by entity name.
  public let entityNumbers: [String: Int]
  /// All entity names in Z_ENT order: the entity of number n is at n - 1.
  public let entityNames: [String]
  /// One table per root entity, in the model's order.
  public let entityTables: [EntityTable]
  /// One table per many-to-many pair, by the number of the entity that names it, then by name.
  public let joinTables: [JoinTable]
  /// All indexes, in the order in which they are to be created.
  public let indexes: [IndexLayout]
  /// All R-trees, in the order in which they are to be created. A layout for reading has them, too.
  public private(set) var rtrees: [RTreeLayout] = []

  private let directory: PropertyDirectory
  private let tablePositions: [String: Int]

  /// Text of the tables that every store has: Z_PRIMARYKEY, Z_METADATA, Z_MODELCACHE, in the order of their creation.
  public static let fixedTables: [(name: String, sql: String)] = [
    ("Z_PRIMARYKEY", SQLText.primaryKey), ("Z_METADATA", SQLText.metadata), ("Z_MODELCACHE", SQLText.modelCache),
  ]

  /// Lays out a model.
  ///
  /// - Throws: ``BatchError`` (`badModel`, `refused`), naming entity and property, when a part of the model cannot be
  ///   stored, when two tables or indexes would bear one name, or, for writing, when SQLite cannot hold an R-tree.
  public init(model: ManagedObjectModel, purpose: Purpose = .writing) throws {
    self = try model.remembered(purpose == .writing ? ModelFacts.layout : ModelFacts.layoutForReading) {
      try StoreLayout(model: model.forFacts, purpose: purpose, numbering: EntityNumbering(model: model))
    }
  }

  /// The same, where a store numbers the entities.
  package init(model: ManagedObjectModel, purpose: Purpose, numbering: EntityNumbering) throws {
    try ModelNameCheck(model: model).run()
    let owners = Self.inverselessOwners(model, numbering)
    let roots = numbering.names.filter { model.superentity(of: $0) == nil }
    let families = Dictionary(grouping: numbering.names, by: model.root)
    let tables = try roots.map {
      try ColumnPlanner.table(root: $0, names: families[$0] ?? [], model: model, numbering: numbering, owners: owners)
    }
    let joins = try JoinTablePlanner.tables(model: model, numbering: numbering)
    try Self.checkNames(tables, joins)
    let directory = PropertyDirectory(model: model, tables: tables, joins: joins)
    var planner = IndexPlanner(model: model, numbering: numbering, columnName: directory.indexable)
    if purpose == .writing {
      for table in tables {
        try planner.add(table, joins: joins.filter { model.root(of: $0.relationship.entity) == table.rootEntity })
      }
    }
    let rootPositions = Dictionary(roots.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let positions = numbering.names.compactMap { name in rootPositions[model.root(of: name)].map { (name, $0) } }
    self.model = model
    entityNumbers = numbering.numbers
    entityNames = numbering.numberedNames
    entityTables = tables
    joinTables = joins
    indexes = planner.indexes
    self.directory = directory
    tablePositions = Dictionary(positions, uniquingKeysWith: { first, _ in first })
    rtrees = RTreeLayout.all(in: self)
  }

  /// The same model in tables of other names; what a name stands for is in its column's role. Of its R-trees those that
  /// a schema has.
  init(_ layout: StoreLayout, tables: [EntityTable], joins: [JoinTable], indexes: [IndexLayout], schema: StoreSchema) {
    model = layout.model
    entityNumbers = layout.entityNumbers
    entityNames = layout.entityNames
    entityTables = tables
    joinTables = joins
    self.indexes = indexes
    directory = PropertyDirectory(model: layout.model, tables: tables, joins: joins)
    tablePositions = layout.tablePositions
    rtrees = RTreeLayout.all(in: self).compactMap { tree in
      schema.virtualTables.first { tree.isMade(by: $0.row) }.map { tree.adopting($0.row) }
    }
  }

  /// To-manys whose links are kept in a column of the destination's table, by destination entity, in owner order (B.5).
  private static func inverselessOwners(
    _ model: ManagedObjectModel, _ numbering: EntityNumbering
  ) -> [String: [PropertyReference]] {
    let shape = RelationshipShape(model: model)
    var owners: [String: [PropertyReference]] = [:]
    for name in numbering.names {
      let relationships = model.entity(name)?.relationships.sorted { NameOrder.codeUnits($0.name, $1.name) } ?? []
      for relationship in relationships where relationship.isToMany && !relationship.isTransient {
        guard shape.mutualInverse(of: relationship) == nil, !shape.isInherited(relationship.name, by: name) else {
          continue
        }
        owners[relationship.destinationEntity, default: []].append(
          PropertyReference(entity: name, name: relationship.name))
      }
    }
    return owners
  }

  /// SQLite compares names without case, so entities `Foo` and `FOO` cannot share a store.
  private static func checkNames(_ tables: [EntityTable], _ joins: [JoinTable]) throws {
    var owners = Dictionary(uniqueKeysWithValues: fixedTables.map { (NameOrder.folded($0.name), "Core Data itself") })
    let named = tables.map { ($0.name, $0.rootEntity) } + joins.map { ($0.name, $0.relationship.description) }
    for (name, owner) in named {
      guard let other = owners.updateValue(owner, forKey: NameOrder.folded(name)) else { continue }
      throw BatchError(
        .refused, "\(owner) and \(other) would share the table \(name)", hint: "Rename one of them in the model")
    }
  }
}

extension StoreLayout {
  /// The table that holds the entity's rows.
  public func table(ofEntity name: String) -> EntityTable? { tablePositions[name].map { entityTables[$0] } }

  /// The position in ``entityTables`` of the table that holds the entity's rows.
  public func tablePosition(ofEntity name: String) -> Int? { tablePositions[name] }

  /// Positions of a role's table in ``entityTables`` and of its column in that table. Not for the three fixed columns.
  public func position(of role: ColumnRole) -> (table: Int, column: Int)? { directory.position(of: role) }

  /// The column of an attribute, own or inherited; `composite.element` for an element of a composite attribute.
  public func column(forAttribute name: String, ofEntity entity: String) -> Column? {
    directory.column(name, entity: entity) { .attribute(entity: $0, name: $1) }
  }

  /// The key column of a to-one relationship, own or inherited.
  public func column(forToOne name: String, ofEntity entity: String) -> Column? {
    directory.column(name, entity: entity) { .toOne(entity: $0, name: $1) }
  }

  /// The column with the Z_ENT of a to-one's destination; nil when the destination has no sub-entities.
  public func entityColumn(forToOne name: String, ofEntity entity: String) -> Column? {
    directory.column(name, entity: entity) { .toOneEntity(entity: $0, name: $1) }
  }

  /// The `Z_FOK_` column of a to-one; nil when its inverse is not ordered.
  public func orderColumn(forToOne name: String, ofEntity entity: String) -> Column? {
    directory.column(name, entity: entity) { .orderingKey(entity: $0, name: $1) }
  }

  /// The join table of a many-to-many relationship, own or inherited, from either side.
  public func joinTable(for relationship: String, entity: String) -> JoinTable? {
    directory.join(relationship, entity).map { joinTables[$0] }
  }

  /// Where the links of a relationship, own or inherited, are stored; nil for a transient or unknown one.
  public func storage(of relationship: String, entity: String) -> RelationshipStorage? {
    directory.storage(of: relationship, entity: entity)
  }
}

extension ModelFacts {
  fileprivate static let layout = Key<StoreLayout>("layout")
  fileprivate static let layoutForReading = Key<StoreLayout>("layout for reading")
}
