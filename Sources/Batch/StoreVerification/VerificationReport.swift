import RunSupport

/// What a verification found in a store.
public struct VerificationReport: Sendable, Codable, Equatable {
  /// A count by name.
  public struct Rows: Sendable, Codable, Equatable {
    /// The table's or the entity's name.
    public let name: String
    /// Rows in the file.
    public let rows: UInt64
  }

  /// The store's path.
  public internal(set) var path: String
  /// All ordinary tables but Core Data's three fixed ones, in the order of the schema.
  public let tables: [Rows]
  /// The entities that may have objects and whose table could be read, in Z_ENT order; without the objects of their
  /// sub-entities.
  public let entities: [Rows]
  /// The entities whose table could not be read; nil if all could.
  public internal(set) var unreadEntities: [String]?
  /// Values outside the store; nil if the model knows none.
  public let external: ExternalDataReport?
  /// A fault: a store with one of these is not what should have been written.
  public let violations: [Violation]
  /// What real stores show too, and no run can put right by itself.
  public let warnings: [Violation]
  /// How long the verification took.
  public internal(set) var seconds: Double
  /// The note on a store that was read on a private copy; nil otherwise.
  public internal(set) var note: String?

  /// The same of a store that was read on a copy.
  public func named(_ path: String, note: String?) -> VerificationReport {
    var report = self
    (report.path, report.note) = (path, note)
    return report
  }

  /// `accepted` lets kinds pass that the source was found to have too, as keys that lead to no row.
  ///
  /// - Throws: ``BatchError`` (`verification-mismatch`) naming the first violation's entity and key, unless there is
  ///   none.
  public func throwIfViolated(accepting accepted: Set<Violation.Kind> = []) throws {
    let violations = violations.filter { !accepted.contains($0.kind) }
    guard let first = violations.first else { return }
    let others = violations.count - 1
    let more = others == 0 ? "" : ", and \(others.counted("more violation"))"
    throw BatchError(
      .mismatch, "the store is not what should have been written: \(first.description)\(more)",
      hint: "The store that it was made from is unchanged. Keep both files and report this as a fault of the tool",
      path: path, entity: first.entity, key: first.examples.first?.key)
  }
}

/// One kind of fault in one place of a store, with how often it occurs. Holds keys, never values of attributes.
public struct Violation: Sendable, Codable, Equatable, CustomStringConvertible {
  /// The kind of a fault. Kinds are open: a `switch` over them needs a `default`.
  public struct Kind: Sendable, Hashable, Codable, CustomStringConvertible {
    /// A stable name, suited to scripts.
    public let description: String
    /// Makes a kind; names are lower case words joined by hyphens.
    public init(_ description: String) { self.description = description }
    /// Reads the name.
    public init(from decoder: any Decoder) throws {
      description = try decoder.singleValueContainer().decode(String.self)
    }
    /// Writes the name alone.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(description)
    }
    /// The file breaks SQLite's format.
    public static let damaged = Kind("damaged")
    /// Rows are not the ones that were written.
    public static let contents = Kind("contents")
    /// An index and its table differ, or an index is out of order.
    public static let index = Kind("index")
    /// A value is not what its column is declared for: NULL, a number among texts, the text of a number among numbers.
    public static let columnRule = Kind("column-rule")
    /// Rows share a value that must be unique.
    public static let unique = Kind("unique")
    /// Z_METADATA: the UUID or the version hashes.
    public static let metadata = Kind("metadata")
    /// A table, a column or an index is missing or too many.
    public static let schema = Kind("schema")
    /// An index or a uniqueness constraint that the model declares is not there (a warning). A migration makes it, an
    /// identity migration, too.
    public static let missingIndex = Kind("missing-index")
    /// Z_PRIMARYKEY differs from the model, or its maximum is below a key in use.
    public static let primaryKeys = Kind("primary-keys")
    /// A table has more or fewer rows than expected.
    public static let rowCount = Kind("row-count")
    /// A key is below 1.
    public static let key = Kind("key")
    /// Z_ENT names no entity of the table, or an abstract one.
    public static let entityNumber = Kind("entity-number")
    /// A key leads to no row.
    public static let dangling = Kind("dangling")
    /// A key leads to a row of another entity than the relationship's.
    public static let wrongEntity = Kind("wrong-entity")
    /// The column beside a key does not hold the Z_ENT of the row that the key leads to.
    public static let helperNumber = Kind("helper-number")
    /// The other side of a one-to-one relationship points at another object, or (a warning) at none.
    public static let oneSided = Kind("one-sided")
    /// A required attribute or to-one relationship is NULL (a warning: real stores have such rows).
    public static let requiredNull = Kind("required-null")
    /// A to-many relationship has fewer or more objects than the model says (a warning: real stores have such objects).
    public static let objectCount = Kind("object-count")
    /// An object of an ordered relationship has no place in it (a warning).
    public static let missingOrder = Kind("missing-order")
    /// A file with a value outside the store is missing (a warning where the source lacked it, too), or is not the
    /// source's.
    public static let externalData = Kind("external-data")
  }

  /// A row concerned.
  public struct Example: Sendable, Codable, Equatable {
    /// Its key (Z_PK); of a link, the key of the row that owns the relationship.
    public let key: Int64?
    /// The key that it points at, where that is what is wrong.
    public let destination: Int64?
  }

  /// How many examples are kept.
  public static let exampleLimit = 5

  /// The kind of fault.
  public let kind: Kind
  /// The entity; of a row, its own entity.
  public var entity: String?
  /// The attribute or relationship.
  public var property: String?
  /// The table.
  public var table: String?
  /// What is wrong, in words.
  public let message: String
  /// How many rows are concerned; 1 where it is not about rows.
  public var count: UInt64 = 1
  /// The first rows concerned, at most ``exampleLimit``.
  public var examples: [Example] = []

  /// Entity, key, property, what is wrong, and how often.
  public var description: String {
    var text = entity ?? table ?? ""
    if let key = examples.first?.key { text += " \(key)" }
    if let property { text += (text.isEmpty ? "" : ", ") + property }
    text += (text.isEmpty ? "" : ": ") + message
    if let destination = examples.first?.destination { text += " (key \(destination))" }
    if count > 1 { text += ", \(count) times" }
    return text
  }
}
