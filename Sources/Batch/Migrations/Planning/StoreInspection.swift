import Streams

/// What a store says of itself: what its metadata and tables say, and with its model what they mean. Read-only (trap
/// 1).
public struct StoreInspection: Sendable, Codable {
  /// An entity as Z_PRIMARYKEY and its table show it.
  public struct Entity: Sendable, Codable {
    /// The name.
    public var name: String
    /// Z_ENT.
    public var number: Int64
    /// Z_SUPER, 0 for none.
    public var parent: Int64
    /// Objects of exactly this entity; nil when its table is missing or damaged.
    public var rows: UInt64?
    /// Whether ``rows`` is an estimate from a sample of pages.
    public var isEstimate = false
    /// Z_MAX.
    public var largestKey: Int64
    /// The version hash in hexadecimal; nil when the metadata has none.
    public var versionHash: String?
    /// Whether it has no objects of its own. Nil if no model says so.
    public var isAbstract: Bool?
    /// Own properties and where they are; empty when no model says so.
    public var properties: [Property] = []
  }

  /// A property of an entity and where its values are.
  public struct Property: Sendable, Codable, Equatable {
    /// The name.
    public var name: String
    /// `attribute` or `relationship`.
    public var kind: String
    /// The attribute's type, or the relationship's destination entity.
    public var type: String
    /// The column, `TABLE.COLUMN`, or the join table; nil for what is not stored.
    public var place: String?
  }

  /// A table that is not an entity's.
  public struct Table: Sendable, Codable {
    /// What a table is for.
    public enum Kind: String, Sendable, Codable {
      /// The links of a many-to-many relationship.
      case join
      /// Persistent history.
      case history
      /// CloudKit's mirroring.
      case cloudKit = "cloud-kit"
      /// Of an application or of SQLite itself.
      case other
      /// A virtual table: its rows are in tables of its module.
      case virtual
    }
    /// The name.
    public var name: String
    /// What it is for.
    public var kind: Kind
    /// The relationship, of a join table.
    public var relationship: String?
    /// Its rows; nil if they cannot be counted.
    public var rows: UInt64?
    /// Whether ``rows`` is an estimate from a sample of pages.
    public var isEstimate = false
  }

  /// Where a model came from.
  public enum ModelSource: String, Sendable, Codable {
    /// The models that were given.
    case given
    /// The store's own model cache.
    case cached
  }

  /// Bytes of a store up to which its rows are counted without being asked for.
  public static let mostCounted: UInt64 = 64 << 20

  /// The path.
  public var path: String
  /// The version that fits, when models were given and one does; the store's own model has no name.
  public var version: String?
  /// Where the model came from that says what tables mean; nil without one.
  public var modelSource: ModelSource?
  /// Why no version fits, when models were given.
  public var versionProblem: String?
  /// The store's UUID.
  public var uuid: String
  /// NSPersistenceFrameworkVersion.
  public var frameworkVersion: Int64?
  /// NSStoreModelVersionIdentifiers.
  public var versionIdentifiers: [String]
  /// The checksum of the version hashes (A.6), by which staged migrations find a version.
  public var versionChecksum: String
  /// Keys of the metadata that are not Core Data's own.
  public var applicationKeys: [String]
  /// `none`, `usable`, or why the cached model cannot be used.
  public var modelCache: String
  /// Entities by Z_ENT.
  public var entities: [Entity]
  /// All other tables.
  public var tables: [Table]
  /// Tables of objects and links by their schema, if no model says more; nil if one does.
  public var rawTables: [RawTable]?
  /// Number of indexes.
  public var indexes: Int
  /// Names of triggers.
  public var triggers: [String]
  /// Columns that the model does not know, as `ZBOOK.ZOLD`.
  public var unknownColumns: [String]
  /// Values outside the store; nil if the model has none or there is no model.
  public var externalData: ExternalDataSurvey?
  /// Whether values outside the store were not looked for, because nobody asked to count.
  public var skipsExternalData = false
  /// Bytes of a database page.
  public var pageSize: Int
  /// Pages of the database, the log's included.
  public var pages: UInt32
  /// Text encoding, as `UTF-8`.
  public var encoding: String
  /// 0 none, 1 full, 2 incremental.
  public var autoVacuum: Int
  /// `wal` or `delete`.
  public var journalMode: String
  /// Committed frames in the -wal file.
  public var walFrames: Int
  /// Bytes of a -journal file beside the store, 0 without.
  public var journalBytes: UInt64
  /// What contradicts itself or is damaged: such a store cannot be migrated before that is repaired.
  public var problems: [String]
  /// What a migration has to look out for.
  public var traps: [String]
}
