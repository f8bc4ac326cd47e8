import Codecs
import CoreDataModel
import RunSupport

/// The metadata of a store: Z_UUID and Z_PLIST of its one row in Z_METADATA (B.2).
public struct StoreMetadata: Sendable, Hashable {
  /// Keys that Core Data reads and writes.
  enum Key {
    static let hashes = "NSStoreModelVersionHashes"
    static let hashesVersion = "NSStoreModelVersionHashesVersion"
    static let identifiers = "NSStoreModelVersionIdentifiers"
    static let digest = "NSStoreModelVersionHashesDigest"
    static let checksum = "NSStoreModelVersionChecksumKey"
    static let framework = "NSPersistenceFrameworkVersion"
    static let storeType = "NSStoreType"
    static let autoVacuum = "_NSAutoVacuumLevel"
  }

  /// Larger property lists are refused: the largest known is below 100 kB.
  static let maximumSize = 16 << 20

  /// The framework version that a fresh store claims: one that is known to write digest and checksum and to read every
  /// layout here. Core Data does not refuse a store for it.
  public static let freshFrameworkVersion: Int64 = 1522

  /// The store's identity, part of every object URI. It exists only here, not in the property list.
  public let uuid: String
  /// The whole property list, with keys of the application and of frameworks to come.
  public let entries: [String: PropertyListValue]
  /// Entity name to version hash (32 bytes each).
  public let versionHashes: [String: [UInt8]]

  /// Reads Z_UUID and Z_PLIST.
  ///
  /// - Throws: ``BatchError`` (`badStore`) when the list is missing, damaged or without hashes.
  public init(uuid: String, plist: [UInt8]?, path: String? = nil) throws {
    func failure(_ what: String, _ cause: (any Error)? = nil) -> BatchError {
      BatchError(
        .badStore, "the store's metadata (Z_METADATA.Z_PLIST) \(what)",
        hint: "Without it no model can be found for the store; restore it from a backup", path: path, cause: cause)
    }
    guard let plist, !plist.isEmpty else { throw failure("is missing") }
    guard plist.count <= Self.maximumSize else { throw failure("is \(plist.count) bytes long, more than any store's") }
    let value: PropertyListValue
    do { value = try PropertyListReader.read(plist) } catch { throw failure("cannot be read", error) }
    guard case .dictionary(let entries) = value else { throw failure("is not a dictionary") }
    guard case .dictionary(let hashes)? = entries[Key.hashes] else { throw failure("lacks \(Key.hashes)") }
    guard entries[Key.hashesVersion].map({ $0 == .integer(3) }) ?? true else {
      throw BatchError(
        .badStore,
        "the store's version hashes are of a kind that this program does not know (NSStoreModelVersionHashesVersion)",
        hint: "A newer framework wrote the store: look for a newer version of this program", path: path)
    }
    self.uuid = uuid
    self.entries = entries
    versionHashes = try hashes.mapValues { value in
      guard case .data(let hash) = value, hash.count == 32 else {
        throw failure("holds a version hash that is not 32 bytes")
      }
      return hash
    }
  }

  private init(uuid: String, entries: [String: PropertyListValue], versionHashes: [String: [UInt8]]) {
    self.uuid = uuid
    self.entries = entries
    self.versionHashes = versionHashes
  }

  /// Stands for metadata whose list cannot be read.
  static func unreadable(uuid: String) -> StoreMetadata { StoreMetadata(uuid: uuid, entries: [:], versionHashes: [:]) }

  /// The model's version identifiers; often one empty text.
  public var versionIdentifiers: [String] {
    guard case .array(let values)? = entries[Key.identifiers] else { return [] }
    return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }

  /// What a person should know of a store that a framework wrote which is newer than all whose stores were seen; else
  /// nil.
  package var newerFramework: String? {
    guard let frameworkVersion, frameworkVersion > Self.freshFrameworkVersion else { return nil }
    return "framework \(frameworkVersion) wrote the store, which is newer than any that this program was tested with"
  }

  /// The framework that wrote the store last; nil when it does not say.
  public var frameworkVersion: Int64? {
    if case .integer(let number)? = entries[Key.framework] { number } else { nil }
  }

  /// The metadata of the same store under another model: new hashes and identifiers, digests only where there were
  /// some, all other keys and the UUID untouched.
  public func migrated(to hashes: [String: [UInt8]], identifiers: [String]) -> StoreMetadata {
    var entries = entries
    entries[Key.hashes] = .dictionary(hashes.mapValues { .data($0) })
    entries[Key.identifiers] = .array(identifiers.map { .string($0) })
    if entries[Key.digest] != nil { entries[Key.digest] = .string(ManagedObjectModel.versionHashesDigest(hashes)) }
    if entries[Key.checksum] != nil { entries[Key.checksum] = .string(ManagedObjectModel.versionChecksum(hashes)) }
    return StoreMetadata(uuid: uuid, entries: entries, versionHashes: hashes)
  }

  /// The metadata of a fresh store.
  public static func new(uuid: String, versionHashes: [String: [UInt8]], identifiers: [String]) -> StoreMetadata {
    let entries: [String: PropertyListValue] = [
      Key.hashes: .dictionary(versionHashes.mapValues { .data($0) }),
      Key.hashesVersion: .integer(3),
      Key.identifiers: .array(identifiers.map { .string($0) }),
      Key.digest: .string(ManagedObjectModel.versionHashesDigest(versionHashes)),
      Key.checksum: .string(ManagedObjectModel.versionChecksum(versionHashes)),
      Key.framework: .integer(freshFrameworkVersion),
      Key.storeType: .string("SQLite"),
      Key.autoVacuum: .string("2"),
    ]
    return StoreMetadata(uuid: uuid, entries: entries, versionHashes: versionHashes)
  }

  /// The metadata of a store of another kind, as an SQLite store has them: all keys stay, and those are added that only
  /// such a store has.
  ///
  /// - Throws: ``BatchError`` (`badStore`) when the list is without hashes.
  package static func database(
    uuid: String, entries: [String: PropertyListValue], path: String
  ) throws -> StoreMetadata {
    var entries = entries
    (entries[Key.storeType], entries[Key.autoVacuum]) = (.string("SQLite"), .string("2"))
    if entries[Key.identifiers] == nil { entries[Key.identifiers] = .array([.string("")]) }
    return try StoreMetadata(uuid: uuid, plist: PropertyListWriter.write(.dictionary(entries)), path: path)
  }

  /// Whether such a list has the hashes by which a model is found.
  package static func hasHashes(_ entries: [String: PropertyListValue]) -> Bool { entries[Key.hashes] != nil }

  /// Z_PLIST: a binary property list. Equal metadata gives equal bytes.
  public func encoded() -> [UInt8] { PropertyListWriter.write(.dictionary(entries)) }
}
