import Foundation
import Streams

/// What a load keeps beside the store that it is of: `.<store>.godwit-postgres`, with what was asked for, the model, and the migrated store
/// where there is one. It goes when the load is finished.
struct LoadFolder {
  let path: String
  private let fileSystem: any FileSystem

  init(store: String, _ fileSystem: any FileSystem) throws {
    let store = try JobDirectory(destination: store).destination
    path = FilePaths.join(FilePaths.directory(of: store), ".\(FilePaths.name(of: store)).godwit-postgres")
    self.fileSystem = fileSystem
  }

  /// The migrated store.
  var store: String { FilePaths.join(path, "store.sqlite") }
  private var record: String { FilePaths.join(path, "load.json") }
  private var model: String { FilePaths.join(path, "model") }

  /// Is there a load of this store?
  func exists() throws -> Bool {
    guard let status = try fileSystem.statusOfName(path) else { return false }
    guard status.isDirectory, status.owner == geteuid() else {
      throw BatchError(
        .refused, "something that is not this user's folder is in the place of the load's", hint: "Look at it, and remove it",
        path: path)
    }
    return try fileSystem.status(record) != nil
  }

  /// Begins a load, durably. The model is kept as stores keep it, so that every process loads by the same one.
  func create(_ plan: LoadPlan, _ model: ManagedObjectModel) throws {
    try fileSystem.makeDirectory(path)
    try fileSystem.writeDurably(try ModelCache.encode(model).content, to: self.model)
    try write(plan)
    try fileSystem.syncDirectory(FilePaths.directory(of: path))
  }

  func write(_ plan: LoadPlan) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    try fileSystem.writeDurably(Array(try encoder.encode(plan)), to: record)
  }

  func read() throws -> (plan: LoadPlan, model: ManagedObjectModel) {
    do {
      let plan = try JSONDecoder().decode(LoadPlan.self, from: Data(try fileSystem.readAll(record, cap: 1 << 20)))
      guard plan.format == LoadPlan.currentFormat else {
        throw BatchError(.badCheckpoint, "the load was begun by another release of this program", path: record)
      }
      return (plan, try ModelCache.decode(try fileSystem.readAll(model, cap: 16 << 20), name: plan.version))
    } catch let error as DecodingError {
      throw BatchError(
        .badCheckpoint, "what was asked of the load cannot be read", hint: "Remove \(path), and load again", path: record, cause: error)
    }
  }

  /// Removes the folder. Rejects of the migration go beside the store first; the new path of the file is returned.
  func remove(rejects: String?) throws -> String? {
    var moved: String?
    if let rejects, FilePaths.directory(of: rejects) == path {
      let target = FilePaths.join(FilePaths.directory(of: path), String(FilePaths.name(of: path).dropFirst()) + ".rejects.jsonl")
      try fileSystem.rename(rejects, to: target)
      moved = target
    }
    try fileSystem.remove(record)
    try fileSystem.syncDirectory(path)
    try empty(path, depth: 6)
    try fileSystem.syncDirectory(FilePaths.directory(of: path))
    return moved ?? rejects
  }

  private func empty(_ folder: String, depth: Int) throws {
    guard depth > 0 else { throw BatchError(.refused, "folders are nested deeper than any load makes them", path: folder) }
    for name in try fileSystem.list(folder) {
      let inner = FilePaths.join(folder, name)
      if try fileSystem.statusOfName(inner)?.isDirectory == true { try empty(inner, depth: depth - 1) } else { try fileSystem.remove(inner) }
    }
    try fileSystem.removeDirectory(folder)
  }
}

/// What a load was asked to do.
struct LoadPlan: Codable, Equatable {
  static let currentFormat = 1

  var format = Self.currentFormat
  /// Absolute path of the store that was named.
  var source: String
  /// Is it migrated first? Then the migrated store is loaded.
  var isMigrated: Bool
  var sourceVersion: String
  var version: String
  var options: PostgresOptions
  /// Without a password.
  var server: String
  var memory: Int
  var interval: Double?
  var intervalBytes: UInt64?
  var verification: VerificationMode
  /// Is everything loaded and proved? Then the book on the server is all that is left.
  var isFinished = false
}
