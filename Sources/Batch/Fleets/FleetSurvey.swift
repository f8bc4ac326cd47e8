import CoreDataStore
import Glibc
import MigrationJobs
import Migrations
import RunSupport
import Streams
import Synchronization

/// Finds stores and looks at them, cheaply. Nothing is written.
public struct FleetSurvey: Sendable {
  private static let depth = 64
  /// A disk far away answers several at once.
  private static let atATime = 8
  private static let magic = Array("SQLite format 3\0".utf8)

  private let fileSystem: any FileSystem
  private let models: ModelLibrary?

  /// Looks with these models; without any a store's version stays unknown.
  public init(_ fileSystem: any FileSystem = LocalFileSystem(), models: ModelLibrary?) {
    (self.fileSystem, self.models) = (fileSystem, models)
  }

  /// Looks at many stores, some at a time.
  ///
  /// - Throws: ``BatchError`` only if no thread can be started.
  public func look(_ stores: [FleetPlan.Store]) throws -> [FleetPlan.Store] {
    try BatchError.border {
      let next = Mutex(0)
      let found = Mutex(stores)
      let body: Worker.Body = {
        while let place = next.withLock({ next in
          next += 1
          return next <= stores.count ? next - 1 : nil
        }) {
          let store = look(stores[place])
          found.withLock { $0[place] = store }
        }
      }
      for worker in try Worker.startAny(Array(repeating: body, count: min(Self.atATime, stores.count))) {
        _ = worker.join()
      }
      return found.withLock { $0 }
    }
  }

  /// Adds size, rows and version to a store, or why they cannot be read.
  public func look(_ store: FleetPlan.Store) -> FleetPlan.Store {
    var store = store
    do {
      let found = try StoreInspection(path: store.path, models: models, fileSystem: fileSystem)
      store.bytes = UInt64(found.pages) * UInt64(found.pageSize)
      let counted = found.entities.filter { $0.isAbstract != true }.map(\.rows)
      store.rows = counted.contains(nil) ? nil : counted.reduce(0) { $0 &+ ($1 ?? 0) }
      store.isEstimate = found.entities.contains(where: \.isEstimate)
      store.version = found.version
    } catch {
      store.problem = "\(error)"
      let code = (error as? BatchError)?.code
      store.problemCode = (code == .badStore || code == .noSuchFile ? code ?? .refused : .refused).exitCode
    }
    return store
  }

  /// The Core Data stores in a folder and those in it, sorted: by their contents, whatever they are called. Backups,
  /// what is ours, hidden files, and symbolic links are left out; so are other databases. A damaged file that begins as
  /// a database does is among them.
  ///
  /// Databases and folders whose names are no UTF-8 are among them with a problem: no program of this kind can be given
  /// such a name.
  ///
  /// - Throws: ``BatchError``.
  public func stores(in folder: String) throws -> [FleetPlan.Store] {
    try BatchError.border {
      var found: [FleetPlan.Store] = []
      try search(folder, depth: 0, &found)
      return found.sorted { $0.path < $1.path }
    }
  }

  private func search(_ folder: String, depth: Int, _ found: inout [FleetPlan.Store]) throws {
    guard depth < Self.depth else {
      throw BatchError(
        .refused, "folders are nested deeper than \(Self.depth)", hint: "Name the stores in a list", path: folder)
    }
    let names = try fileSystem.list(folder)
    if names.contains(where: UndecodableName.isRepaired) { found += try undecodable(folder) }
    for name in Set(names) where !name.hasPrefix(".") && !Self.isState(name) {
      let path = FilePaths.join(folder, name)
      guard let status = try fileSystem.statusOfName(path), !status.isSymbolicLink else { continue }
      if status.isDirectory {
        try search(path, depth: depth + 1, &found)
      } else if status.isRegularFile, status.size >= 512, StoreBackup(path: path) == nil,
        try beginsAsDatabase(path), isStore(path)
      {
        found.append(FleetPlan.Store(path: path))
      }
    }
  }

  private func undecodable(_ folder: String) throws -> [FleetPlan.Store] {
    try UndecodableName.all(in: folder, beginning: Self.magic.count).compactMap { name in
      guard !name.escaped.hasPrefix("."), name.isDirectory || name.beginning == Self.magic else { return nil }
      var store = FleetPlan.Store(path: FilePaths.join(folder, name.escaped))
      let rename = "mv \(ShellWords.quoted(folder))/$'\(name.escaped)' \(ShellWords.quoted(folder))/NEW-NAME"
      store.problem =
        "the name of this \(name.isDirectory ? "folder" : "file") is not UTF-8. Rename it in bash: `\(rename)`, and make another plan"
      store.problemCode = 20
      return store
    }
  }

  private static func isState(_ name: String) -> Bool { name.hasPrefix("fleet-") && name.hasSuffix(".state") }

  private func beginsAsDatabase(_ path: String) throws -> Bool {
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    var bytes = [UInt8](repeating: 0, count: Self.magic.count)
    return try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) } == bytes.count && bytes == Self.magic
  }

  /// Only a sound database without Z_METADATA is known to be none.
  private func isStore(_ path: String) -> Bool {
    do {
      try SourceStore.opened(path, fileSystem, locking: .shared, forInspection: true).close()
      return true
    } catch let error as BatchError where error.code == .badStore {
      return !SourceStore.isOtherDatabase(path, fileSystem)
    } catch {
      return true
    }
  }
}
