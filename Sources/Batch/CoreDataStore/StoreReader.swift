import RunSupport
import Streams

/// A Core Data store opened for reading: one consistent state of its file, its schema, and what its metadata says.
///
/// Nothing is written, and no SQL runs on the file: it is read page by page (I1).
public final class StoreReader: Sendable {
  /// A row of Z_PRIMARYKEY.
  public struct PrimaryKey: Sendable, Equatable {
    /// Z_ENT.
    public var entityNumber: Int64
    /// Z_NAME; after a rename it may be the old one (B.3).
    public var name: String
    /// Z_SUPER, 0 for none.
    public var superNumber: Int64
    /// Z_MAX, the largest key given out; 0 for sub-entities.
    public var maximum: Int64

    package init(entityNumber: Int64, name: String, superNumber: Int64, maximum: Int64) {
      self.entityNumber = entityNumber
      self.name = name
      self.superNumber = superNumber
      self.maximum = maximum
    }
  }

  /// The store's path.
  public let path: String
  /// The state of the file that is read.
  public let snapshot: DatabaseSnapshot
  /// Its tables and indexes.
  public let schema: StoreSchema
  /// The store's identity and metadata; without keys where ``metadataProblem`` says why.
  public let metadata: StoreMetadata
  /// Why the metadata cannot be used, in a store that was opened for a look only.
  public let metadataProblem: BatchError?
  /// Rows of Z_PRIMARYKEY.
  public let primaryKeys: [PrimaryKey]
  /// Whether this is a private copy on which an unfinished change was undone. See ``SourceStore/recoveryNote``.
  public var isRecovered: Bool { recovered != nil }
  private let recovered: RecoveredCopy?
  /// Bytes of its pages.
  package var byteCount: UInt64 { UInt64(snapshot.pageCount) * UInt64(snapshot.geometry.pageSize) }

  /// Bounds a single row that is not part of an entity's table: metadata and schema texts.
  package static let fixedRowLimit = 16 << 20

  /// What of a row is read where only its keys matter: Core Data puts them before values that can be long (B.4).
  package static let keyBytes = 1 << 14
  private static let mostEntityNumbers = 1 << 16

  /// Entity numbers from here on are those of Core Data's own entities, as history's 16001 to 16003 (B.9).
  package static let firstForeignNumber: Int64 = 16_000

  /// Opens a store.
  ///
  /// `forInspection` lets metadata pass that cannot be read: nothing can be migrated then, but the rest can be looked
  /// at.
  ///
  /// - Throws: ``BatchError`` (`badStore`) when the file is no database or no Core Data store.
  public convenience init(
    path: String, fileSystem: any FileSystem, locking: DatabaseSnapshot.Locking, forInspection: Bool = false
  ) throws {
    try self.init(path: path, fileSystem: fileSystem, locking: locking, forInspection: forInspection, recovered: nil)
  }

  /// Opens a store, or the recovered copy of it, which belongs to the reader then and bears the store's name.
  init(
    path: String, fileSystem: any FileSystem, locking: DatabaseSnapshot.Locking, forInspection: Bool,
    recovered: RecoveredCopy?,
    logs: LogMemory? = nil
  ) throws {
    self.path = path
    self.recovered = recovered
    do {
      snapshot = try DatabaseSnapshot(
        path: recovered?.path ?? path, fileSystem: fileSystem, locking: recovered == nil ? locking : .none, name: path,
        logs: logs)
    } catch let error as StreamsError where error.code == .notADatabase {
      throw try FileKind.of(path, fileSystem).refusal(of: path)
    } catch let error as StreamsError where [.damagedDatabase, .unsupported].contains(error.code) {
      if try FileKind.isEncryptedBehindHeader(path, fileSystem) {
        throw FileKind.encrypted.refusal(of: path)
      }
      throw BatchError(.badStore, error.message, hint: error.hint ?? "Check that the path names a store", path: path)
    }
    schema = try StoreSchema(rows: try Self.schemaRows(snapshot), path: path)
    guard let table = Self.metadataTable(schema) else {
      throw BatchError(
        .badStore, "this is an SQLite database, but not a Core Data store: it has no table Z_METADATA",
        hint: "Give the .sqlite file that the application's persistent container uses", path: path)
    }
    do {
      metadata = try Self.metadata(snapshot, table, path: path)
      metadataProblem = nil
    } catch let error as BatchError where forInspection {
      metadata = .unreadable(uuid: try Self.uuid(snapshot, table))
      metadataProblem = error
    }
    primaryKeys = try Self.primaryKeys(snapshot, schema)
  }

  /// The table of the metadata; nil in a database of another program.
  private static func metadataTable(_ schema: StoreSchema) -> TableSchema? {
    schema.table("Z_PRIMARYKEY") == nil ? nil : schema.table("Z_METADATA")
  }

  /// Whether a database has the tables that every store has.
  static func hasStoreTables(_ path: String, _ fileSystem: any FileSystem, locking: DatabaseSnapshot.Locking) throws
    -> Bool
  {
    let snapshot = try DatabaseSnapshot(path: path, fileSystem: fileSystem, locking: locking, name: path)
    defer { snapshot.close() }
    return metadataTable(try StoreSchema(rows: try schemaRows(snapshot), path: path)) != nil
  }

  /// Reads all rows of a small table.
  package static func rows(
    _ snapshot: DatabaseSnapshot, root: UInt32, most: Int = 1 << 20, _ body: (Int64, RecordDecoder) throws -> Void
  )
    throws
  {
    let scan = TableScan(snapshot: snapshot, root: root, rowLimit: fixedRowLimit)
    let (page, decoder) = (RowPage(), RecordDecoder())
    var count = 0
    while try scan.next(into: page) {
      for row in 0..<page.count {
        guard decoder.decode(page.record(row)) else {
          throw BatchError(.badStore, "a row of a system table is damaged", path: snapshot.path, key: page.rowid(row))
        }
        count += 1
        guard count <= most else {
          throw BatchError(.badStore, "a system table has more than \(most) rows", path: snapshot.path)
        }
        try body(page.rowid(row), decoder)
      }
    }
  }

  /// A root that no page can be becomes one that no file has, so that only this table's or index's use is an error.
  /// Page 1 is the schema's own.
  private static func rootPage(_ number: Int64) -> UInt32 { number == 1 ? .max : UInt32(exactly: number) ?? .max }

  private static func schemaRows(_ snapshot: DatabaseSnapshot) throws -> [SchemaRow] {
    var found: [SchemaRow] = []
    try rows(snapshot, root: 1, most: StoreSchema.maximumRows + 1) { _, decoder in
      func text(_ column: Int) throws -> String? {
        guard case .text(let text) = try decoder.value(column) else { return nil }
        return text
      }
      found.append(
        SchemaRow(
          type: try text(0) ?? "", name: try text(1) ?? "", tableName: try text(2) ?? "",
          rootPage: decoder.integer(3).map(rootPage) ?? 0, sql: try text(4)))
    }
    return found
  }

  private static func metadata(_ snapshot: DatabaseSnapshot, _ table: TableSchema, path: String) throws -> StoreMetadata
  {
    var found: StoreMetadata?
    let columns = ["Z_UUID", "Z_PLIST"].map { table.position(of: $0) }
    try rows(snapshot, root: table.rootPage) { _, decoder in
      guard found == nil, let uuid = columns[0], let plist = columns[1] else { return }
      var (text, bytes): (String, [UInt8]?) = ("", nil)
      if case .text(let value) = try decoder.value(uuid) { text = value }
      if case .blob(let value) = try decoder.value(plist) { bytes = value }
      found = try StoreMetadata(uuid: text, plist: bytes, path: path)
    }
    if let found { return found }
    throw BatchError(
      .badStore, "Z_METADATA holds no metadata: the store cannot be tied to a model",
      hint: "Open the store once with its application, or restore a backup", path: path)
  }

  /// The UUID alone, where the list beside it cannot be used; empty when it is missing too.
  private static func uuid(_ snapshot: DatabaseSnapshot, _ table: TableSchema) throws -> String {
    var found: String?
    guard let position = table.position(of: "Z_UUID") else { return "" }
    try rows(snapshot, root: table.rootPage) { _, decoder in
      if found == nil, case .text(let value) = try decoder.value(position) { found = value }
    }
    return found ?? ""
  }

  private static func primaryKeys(_ snapshot: DatabaseSnapshot, _ schema: StoreSchema) throws -> [PrimaryKey] {
    guard let table = schema.table("Z_PRIMARYKEY") else { return [] }
    let positions = ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"].map { table.position(of: $0) ?? -1 }
    var found: [PrimaryKey] = []
    try rows(snapshot, root: table.rootPage) { rowid, decoder in
      func number(_ index: Int) -> Int64 {
        let position = positions[index]
        guard position >= 0 else { return 0 }
        return table.columns[position].isRowidAlias ? rowid : decoder.integer(position) ?? 0
      }
      var name = ""
      if positions[1] >= 0, case .text(let text) = try decoder.value(positions[1]) { name = text }
      found.append(PrimaryKey(entityNumber: number(0), name: name, superNumber: number(2), maximum: number(3)))
    }
    return found
  }

  /// Counts the rows of an entity table by Z_ENT. Reads the whole table.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func rowCounts(table: TableSchema) throws -> [Int64: UInt64] {
    let entity = table.position(of: "Z_ENT") ?? 1
    var counts: [Int64: UInt64] = [:]
    let scan = TableScan(snapshot: snapshot, root: table.rootPage, rowLimit: .max, payloadLimit: Self.keyBytes)
    let (page, decoder) = (RowPage(), RecordDecoder())
    var run: (number: Int64, count: UInt64) = (0, 0)
    while try scan.next(into: page) {
      for row in 0..<page.count {
        guard decoder.decodeBeginning(page.record(row)) else {
          throw BatchError(.badStore, "a row of \(table.name) is damaged", path: path, key: page.rowid(row))
        }
        let number = decoder.integer(entity) ?? 0
        // Neighbours are mostly of one entity.
        if number == run.number {
          run.count += 1
        } else {
          if run.count > 0 { counts[run.number, default: 0] += run.count }
          run = (number, 1)
        }
      }
      guard counts.count <= Self.mostEntityNumbers else {
        throw BatchError(
          .badStore, "the rows of \(table.name) have more entity numbers than a model has entities", path: path)
      }
    }
    if run.count > 0 { counts[run.number, default: 0] += run.count }
    return counts
  }

  /// Ends the snapshot and its locks.
  public func close() {
    snapshot.close()
    recovered?.remove()
  }
}
