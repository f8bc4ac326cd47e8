import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import Streams

/// What an XML store says of itself, and how many objects it has. Read-only (trap 1).
public struct XMLStoreInspection: Sendable, Codable {
  /// An entity.
  public struct Entity: Sendable, Codable {
    /// The name: the model's, else that of the version hashes, else the one in the file, which is in upper case.
    public var name: String
    /// Objects of exactly this entity.
    public var objects: UInt64
    /// The version hash in hexadecimal; nil when the metadata has none.
    public var versionHash: String?
  }

  private static let mostTypes = 1 << 16

  /// The path.
  public var path: String
  /// `xml`.
  public var storeType = "xml"
  /// The version that fits, when models were given and one does.
  public var version: String?
  /// Why no version fits, when models were given.
  public var versionProblem: String?
  /// The store's UUID.
  public var uuid: String
  /// NSPersistenceFrameworkVersion.
  public var frameworkVersion: Int64?
  /// NSStoreModelVersionIdentifiers.
  public var versionIdentifiers: [String] = []
  /// The checksum of the version hashes (A.6); nil without hashes.
  public var versionChecksum: String?
  /// Keys of the metadata that are not Core Data's own.
  public var applicationKeys: [String]
  /// Bytes of the file.
  public var bytes: UInt64
  /// The largest id that was given out.
  public var nextObjectID: Int64?
  /// Entities by name.
  public var entities: [Entity] = []
  /// What is damaged or contradicts itself: such a store cannot be converted before that is repaired.
  public var problems: [String] = []

  init(_ scanner: XMLStoreScanner, models: ModelLibrary?, size: UInt64) throws {
    let header = scanner.header
    (path, bytes, uuid, nextObjectID) = (scanner.tags.bytes.path, size, header.uuid, header.nextObjectID)
    applicationKeys = header.entries.keys.filter { !$0.hasPrefix("NS") && !$0.hasPrefix("_NS") }.sorted()
    var hashes: [String: [UInt8]] = [:]
    do {
      let metadata = try XMLStore.metadata(header, path)
      hashes = metadata.versionHashes
      (frameworkVersion, versionIdentifiers) = (metadata.frameworkVersion, metadata.versionIdentifiers)
      versionChecksum = ManagedObjectModel.versionChecksum(hashes)
    } catch let error as BatchError { problems.append(error.message) }
    let model = hashes.isEmpty ? nil : models?.model(matching: hashes)
    version = model?.name
    if model == nil, !hashes.isEmpty { versionProblem = models?.noModel(for: hashes).message }
    name(try count(scanner), by: model?.entities.map(\.name) ?? Array(hashes.keys), hashes: hashes)
  }

  /// Objects by what the file calls their entities.
  private mutating func count(_ scanner: XMLStoreScanner) throws -> [String: UInt64] {
    var (counts, largest): ([String: UInt64], Int64) = ([:], 0)
    do {
      while let object = try scanner.nextObject() {
        counts[object.type, default: 0] += 1
        largest = max(largest, object.id)
        guard counts.count <= Self.mostTypes else {
          throw scanner.tags.failure("the file has more entities than a model can have")
        }
      }
    } catch var error as BatchError {
      (error.path, error.hint) = (nil, nil)
      problems.append("\(error)")
    }
    if let nextObjectID, nextObjectID < largest {
      problems.append("nextObjectID is \(nextObjectID), and an object has the id z\(largest)")
    }
    return counts
  }

  private mutating func name(_ counts: [String: UInt64], by names: [String], hashes: [String: [UInt8]]) {
    var counts = counts
    for name in names.sorted(by: NameOrder.codeUnits) {
      let hash = hashes[name]?.hexadecimal
      entities.append(
        Entity(name: name, objects: counts.removeValue(forKey: name.uppercased()) ?? 0, versionHash: hash))
    }
    for (type, objects) in counts.sorted(by: { NameOrder.codeUnits($0.key, $1.key) }) {
      entities.append(Entity(name: type, objects: objects))
      problems.append("\(objects.counted("object is", "objects are")) of \(type), which the version hashes do not have")
    }
  }
}
