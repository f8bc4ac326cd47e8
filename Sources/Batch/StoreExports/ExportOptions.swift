import CoreDataStore
import RunSupport

/// What is exported.
public struct ExportOptions: Sendable {
  /// The format.
  public var format: ExportFormat
  /// Objects of this entity and its sub-entities alone; nil for all. CSV and Parquet in one file need one.
  public var entity: String?
  /// Attributes and relationships that are written; all if it is empty.
  public var columns: [String] = []
  /// A condition on the objects of ``entity`` in NSPredicate's format; nil for all.
  public var condition: String?
  /// Objects with a date that is not before this one, in seconds since 2001; nil for all.
  public var since: Double?
  /// What bytes are shown as, if they hold it.
  public var decodings: Set<ExportDecoding> = []
  /// How dates are written.
  public var dates = ExportDates.iso
  /// Whether to-many relationships are written too. Each is sorted by its owners in temporary files.
  public var includesToMany = false
  /// Objects after which the export ends.
  public var limit: UInt64?
  /// The memory budget; it bounds the largest row.
  public var memory = MemoryBudget.standard

  /// Makes options.
  public init(format: ExportFormat, entity: String? = nil) {
    self.format = format
    self.entity = entity
  }
}

extension ExportOptions {
  /// Throws ``BatchError`` (`refused`) for an entity that a store's model does not have.
  package static func check(entity: String?, of layout: StoreLayout, path: String) throws {
    guard let entity, layout.model.entity(entity) == nil else { return }
    throw BatchError(
      .refused,
      "\(layout.model.name) has no entity \(entity)\(NearName.question(entity, in: layout.entityNames))",
      hint: "Its entities are \(layout.entityNames.joined(separator: ", "))", path: path)
  }
}

/// What was written.
public struct ExportSummary: Sendable, Equatable {
  /// Objects by entity; entities without objects are not among them.
  public var rows: [String: UInt64] = [:]
  /// Links by join table, of an export without a model.
  public var links: [String: UInt64] = [:]
  /// Rows of tables that no entity has, of an export without a model.
  public var otherRows: [String: UInt64] = [:]
  /// Texts that were not UTF-8 and got replacement characters.
  public var repairedTexts: UInt64 = 0
  /// Bytes that look like a property list or an archive, and are damaged or too large to be shown as one.
  public var unreadBytes: UInt64 = 0
  /// What a reader has to know: what was guessed, and what was left out.
  public var notes: [String] = []
}

/// Where the parts of an export go: a part has a name, and takes bytes in pieces until the next is asked for.
public typealias ExportParts = (String) throws -> (UnsafeRawBufferPointer) throws -> Void
