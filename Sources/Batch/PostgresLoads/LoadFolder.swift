import CoreDataModel
import Foundation
import LoadTables
import MigrationJobs
import RunSupport
import Streams

/// What a load keeps beside the store that it is of: `.<store>.godwit-postgres`, with a job directory of its own, in
/// which what was asked for and the model are, and the migrated store if there is one. It goes when the load is
/// finished.
struct LoadFolder {
  static let suffix = ".godwit-postgres"

  let scratch: ScratchFolder
  /// The store that it is of, which may have been moved with the folder.
  let source: String
  private let fileSystem: any FileSystem

  /// Derives it from the store. Nothing is made.
  init?(store: String, _ fileSystem: any FileSystem) throws {
    guard let store = try? JobDirectory(destination: store).destination else { return nil }
    let path = FilePaths.join(FilePaths.directory(of: store), ".\(FilePaths.name(of: store))\(Self.suffix)")
    (source, self.fileSystem) = (store, fileSystem)
    scratch = ScratchFolder(path, of: store, fileSystem)
  }

  var path: String { scratch.path }
  /// The lease, the plan, and what a running load says of itself.
  var job: JobDirectory { scratch.job }

  /// The migrated store.
  var store: String { FilePaths.join(path, "store.sqlite") }
  private var model: String { job.file("model") }

  /// The run that migrates the store; nil if none is under way.
  func migration() throws -> JobDirectory? {
    guard try exists() else { return nil }
    let found = try JobDirectory(destination: store)
    return try found.exists(fileSystem) ? found : nil
  }

  /// Why the load's last process ended, or that of its migration, if the next one would end so, too.
  func failure() -> RunFailure? {
    if let found = RunFailure.read(job, fileSystem) { return found }
    return (try? migration()?.current(fileSystem)).flatMap { RunFailure.read($0, fileSystem) }
  }

  /// Notes an error if it would come again.
  func note(_ error: BatchError) { RunFailure(ofLoad: error)?.write(job, fileSystem) }

  /// Writes the plan with which a load goes on; why its last process ended no longer counts.
  func goOn(_ plan: LoadPlan) throws {
    try write(plan)
    try fileSystem.remove(job.failure)
  }

  /// Whether there is a load of this store.
  func exists() throws -> Bool {
    guard try scratch.isThere() else { return false }
    return try fileSystem.status(job.plan) != nil
  }

  /// What a look at the folder finds, as ``ScratchFolder/seen(_:)`` does.
  func seen<Found>(_ look: () throws -> Found?) throws -> Found? { try scratch.seen(look) }

  /// Makes the folder and takes its lease. Throws `leaseHeld`.
  func begin() throws -> Lease { try scratch.begin() }

  /// Begins a load, durably; what another one left goes. The model is kept as stores keep it, so that every process
  /// loads by the same one.
  func create(_ plan: LoadPlan, _ model: ManagedObjectModel) throws {
    try scratch.empty()
    try fileSystem.writeDurably(try ModelCache.encode(model).content, to: self.model)
    try goOn(plan)
    try fileSystem.syncDirectory(path)
    try fileSystem.syncDirectory(FilePaths.directory(of: path))
  }

  func write(_ plan: LoadPlan) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    try fileSystem.writeDurably(Array(try encoder.encode(plan)), to: job.plan)
  }

  private struct Format: Decodable { var format: Int }

  func read() throws -> (plan: LoadPlan, model: ManagedObjectModel) {
    do {
      let bytes = Data(try fileSystem.readAll(job.plan, cap: 1 << 20))
      guard try JSONDecoder().decode(Format.self, from: bytes).format == LoadPlan.currentFormat else {
        throw BatchError(
          .badCheckpoint, "the load was begun by another release of this program", hint: "Finish it with that one",
          path: job.plan
        )
      }
      var plan = try JSONDecoder().decode(LoadPlan.self, from: bytes)
      plan.source = source
      return (plan, try ModelCache.decode(try fileSystem.readAll(model, cap: 16 << 20), name: plan.version))
    } catch let error as DecodingError {
      throw BatchError(
        .badCheckpoint, "what was asked of the load cannot be read",
        hint: "Give the load up with \(ProgramName.command("clean", "--all", source)), then load again",
        path: job.plan, cause: error)
    }
  }

  /// Writes down what the migration in front came to.
  func note(_ migrated: MigrationJob.Report) throws {
    var (plan, _) = try read()
    plan.migrated = LoadPlan.Migrated(migrated)
    try write(plan)
  }

  /// The objects that the migration in front set aside, by their list, where a process died before it had noted them;
  /// nil if there are none.
  func rejects() throws -> RejectReport? {
    let start = FilePaths.name(of: store) + ".rejects-"
    let name = try fileSystem.list(path).first { $0.hasPrefix(start) && $0.hasSuffix(".jsonl") }
    return try name.map { try RejectReport(list: FilePaths.join(path, $0), fileSystem) }
  }

  /// The same list, where the folder was moved with its store.
  func moved(_ rejects: RejectReport) -> RejectReport {
    var rejects = rejects
    rejects.path = FilePaths.join(path, FilePaths.name(of: rejects.path))
    return rejects
  }

  /// Removes the folder. Rejects of the migration go beside the store first; the new path of the file is returned.
  func remove(rejects: String?) throws -> String? {
    var moved: String?
    if let rejects, FilePaths.directory(of: rejects) == path {
      let target = FilePaths.join(
        FilePaths.directory(of: path), String(FilePaths.name(of: path).dropFirst()) + ".rejects.jsonl")
      // A process that died here may have done it.
      if try fileSystem.status(rejects) != nil { try fileSystem.rename(rejects, to: target) }
      moved = target
    }
    try fileSystem.remove(job.plan)
    try fileSystem.syncDirectory(job.path)
    try scratch.remove()
    return moved ?? rejects
  }
}
