import Streams

/// What a store says of itself, with and without models. Read-only.
public struct StoreInspection: Sendable, Codable {
  /// An entity as Z_PRIMARYKEY and its table tell it.
  public struct Entity: Sendable, Codable {
    /// The name.
    public var name: String
    /// Z_ENT.
    public var number: Int64
    /// Z_SUPER, 0 for none.
    public var parent: Int64
    /// Objects of exactly this entity; nil when its table is missing.
    public var rows: UInt64?
    /// Z_MAX.
    public var largestKey: Int64
    /// The version hash in hexadecimal; nil when the metadata has none.
    public var versionHash: String?
  }

  /// The path.
  public var path: String
  /// The version that fits, when models were given and one does.
  public var version: String?
  /// Why no version fits, when models were given.
  public var versionProblem: String?
  /// The store's UUID.
  public var uuid: String
  /// NSPersistenceFrameworkVersion.
  public var frameworkVersion: Int64?
  /// NSStoreModelVersionIdentifiers.
  public var versionIdentifiers: [String]
  /// Entities by Z_ENT.
  public var entities: [Entity]
  /// Bytes of a database page.
  public var pageSize: Int
  /// Pages of the database, the log's included.
  public var pages: UInt32
  /// 0 none, 1 full, 2 incremental.
  public var autoVacuum: Int
  /// `wal` or `delete`.
  public var journalMode: String
  /// Committed frames in the -wal file.
  public var walFrames: Int
  /// Bytes of a -journal file beside the store, 0 without.
  public var journalBytes: UInt64
  /// What a migration has to look out for.
  public var traps: [String]

  /// Inspects a store; `models` may be nil.
  public init(path: String, models: ModelLibrary?, fileSystem: any FileSystem) throws {
    guard try fileSystem.status(path) != nil else {
      throw BatchError(.badStore, "there is no such file", hint: "Check the path of the store", path: path)
    }
    let reader = try StoreReader(path: path, fileSystem: fileSystem, locking: .shared)
    defer { reader.close() }
    self.path = path
    uuid = reader.metadata.uuid
    frameworkVersion = reader.metadata.frameworkVersion
    versionIdentifiers = reader.metadata.versionIdentifiers
    let snapshot = reader.snapshot
    pageSize = snapshot.geometry.pageSize
    pages = snapshot.pageCount
    autoVacuum = snapshot.header.autoVacuum
    journalMode = snapshot.header.version == .writeAheadLog ? "wal" : "delete"
    walFrames = snapshot.logFrames
    journalBytes = try fileSystem.status(path + "-journal")?.size ?? 0
    entities = try Self.entities(reader)
    traps = Self.traps(reader, journalBytes: journalBytes)
    guard let models else { return }
    let hashes = reader.metadata.versionHashes
    version = models.model(matching: hashes)?.name
    if version == nil { versionProblem = models.noModel(for: hashes).message }
  }

  private static func entities(_ reader: StoreReader) throws -> [Entity] {
    let byNumber = Dictionary(reader.primaryKeys.map { ($0.entityNumber, $0) }, uniquingKeysWith: { first, _ in first })
    func root(_ key: StoreReader.PrimaryKey) -> StoreReader.PrimaryKey {
      var key = key
      // Numbers may form a ring in a damaged store: a real hierarchy is never that deep.
      for _ in 0..<256 { if let parent = byNumber[key.superNumber], key.superNumber != 0 { key = parent } }
      return key
    }
    var counts: [String: [Int64: UInt64]] = [:]
    return try reader.primaryKeys.filter { $0.entityNumber < StoreReader.firstForeignNumber }.map { key in
      let name = root(key).name
      if counts[name] == nil, let table = reader.schema.table("Z" + name.uppercased()) {
        counts[name] = try reader.rowCounts(table: table)
      }
      return Entity(
        name: key.name, number: key.entityNumber, parent: key.superNumber,
        rows: counts[name].map { $0[key.entityNumber] ?? 0 }, largestKey: key.maximum,
        versionHash: reader.metadata.versionHashes[key.name].map(hex))
    }
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func traps(_ reader: StoreReader, journalBytes: UInt64) -> [String] {
    var traps: [String] = []
    if reader.snapshot.logFrames > 0 {
      traps.append("\(reader.snapshot.logFrames) pages lie in the -wal file: never move the store without it")
    }
    if journalBytes > 0 { traps.append("a -journal file exists: a change was not finished") }
    let names = reader.schema.tables.map { $0.name.uppercased() }
    if names.contains("ACHANGE") { traps.append("persistent history is kept; it refers to this version's entity numbers") }
    if names.contains(where: { $0.hasPrefix("ANSCK") }) { traps.append("CloudKit mirroring tables are present") }
    if !reader.schema.triggers.isEmpty { traps.append("\(reader.schema.triggers.count) triggers call functions of Core Data") }
    if !reader.schema.virtualTables.isEmpty {
      traps.append("virtual tables: " + reader.schema.virtualTables.map(\.row.name).joined(separator: ", "))
    }
    return traps
  }
}
