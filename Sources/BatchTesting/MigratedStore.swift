import Batch
import Foundation
import Streams

/// A copy of a fixture store, migrated, for tests of models, mapping models and policies.
///
/// The fixture stays as it is. The copy is in a temporary folder, which is removed with the last reference to this
/// object. What is read is gathered in memory: fixtures are small.
public final class MigratedStore: Sendable {
  /// Where the migrated copy is.
  public let path: String
  /// What the migration did.
  public let report: MigrationJob.Report
  private let folder: String
  private let library: ModelLibrary

  /// Copies a store with its `-wal` file, its rollback journal and its folder of external data, and migrates the copy.
  ///
  /// `target` is a version's name; without it the model's current version is reached.
  ///
  /// - Throws: ``BatchError`` as a migration does, and `noSuchFile` if there is no fixture.
  public convenience init(
    _ fixture: String, models: [String], mappings: [String] = [], to target: String? = nil,
    policies: [any EntityMigrationPolicy.Type] = []
  ) async throws {
    var request = MigrationJob.Request(source: fixture, models: models, mappings: mappings)
    if let target { request.target = .version(target) }
    try await self.init(request, policies: policies)
  }

  /// The same with all options of a migration; the request's source is the fixture, and its output does not matter.
  ///
  /// - Throws: ``BatchError``.
  public init(_ request: MigrationJob.Request, policies: [any EntityMigrationPolicy.Type] = []) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("godwit-fixture-\(UUID().uuidString)")
      .path
    do {
      var request = request
      request.source = try Self.copy(request.source, to: folder)
      request.output = nil
      library = try ModelLibrary(paths: request.models)
      report = try await Migration(request, job: MigrationJob(policies: PolicyRegistry(policies))).run()
      path = request.source
      self.folder = folder
    } catch {
      try? FileManager.default.removeItem(atPath: folder)
      throw error
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private static func copy(_ fixture: String, to folder: String) throws -> String {
    let files = FileManager.default
    guard files.fileExists(atPath: fixture) else {
      throw BatchError(.noSuchFile, "there is no fixture store here", hint: "Check the path", path: fixture)
    }
    try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let store = FilePaths.join(folder, FilePaths.name(of: fixture))
    let pairs = ["", "-wal", "-journal"].map { (fixture + $0, store + $0) }
    let external = (ExternalDataFolder(store: fixture).path, ExternalDataFolder(store: store).path)
    for (from, to) in pairs + [external] where files.fileExists(atPath: from) {
      try files.copyItem(atPath: from, toPath: to)
    }
    return store
  }

  /// The objects of an entity and its sub-entities: table after table, by key.
  ///
  /// - Throws: ``BatchError`` (`refused`) that names the entities if the new version has no such entity.
  public func objects(_ entity: String) throws -> [StoredObject] {
    let reader = try StoreExport.open(path, LocalFileSystem())
    defer { reader.close() }
    var options = ExportOptions(format: .jsonLines, entity: entity)
    options.includesToMany = true
    let model = try StoreModel.find(of: reader, in: library)
    let lines = Lines()
    _ = try StoreExport(reader, model: model, options: options, fileSystem: LocalFileSystem())
      .run(to: { lines.bytes.append(contentsOf: $0) })
    let decoder = JSONDecoder()
    return try lines.bytes.split(separator: 0x0A).map { try decoder.decode(StoredObject.self, from: Data($0)) }
  }

  private final class Lines { var bytes: [UInt8] = [] }

  /// The number of objects of an entity and its sub-entities.
  ///
  /// - Throws: ``BatchError``.
  public func count(_ entity: String) throws -> Int { try objects(entity).count }

  /// The only object of an entity whose property has a value.
  ///
  /// - Throws: ``BatchError`` (`failed`) if there is none, or more than one.
  public func object(_ entity: String, where property: String, is value: StoreValue) throws -> StoredObject {
    let found = try objects(entity).filter { $0[property] == value }
    guard found.count == 1 else {
      throw BatchError(
        .failed, "\(found.count) objects have that value of \(property) instead of one",
        hint: "Use objects(_:) to see all",
        path: path, entity: entity)
    }
    return found[0]
  }

  /// The objects that a relationship of an object leads to, in its order.
  ///
  /// `entity` is the relationship's destination.
  ///
  /// - Throws: ``BatchError`` (`failed`) if one of them is not there.
  public func objects(_ entity: String, of relationship: String, in object: StoredObject) throws -> [StoredObject] {
    let all = Dictionary(try objects(entity).map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    return try (object.relationships[relationship]?.keys ?? []).map { key in
      guard let found = all[key] else {
        throw BatchError(
          .failed, "\(relationship) leads to an object that is not there", path: path, entity: entity, key: key)
      }
      return found
    }
  }
}
