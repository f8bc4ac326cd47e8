import MappingModels
import MigrationJobs
import RunSupport
import Streams

// What is asked of loads into files, by the path of the file.
extension MigrationJob {
  /// How far the load into a file is; nil if none is under way. Nothing is written.
  package func plainStatus(_ path: String) throws -> JobStatus? {
    guard let place = plainPlace(path) else { return nil }
    return try place.folder.seen { try status(of: place) }
  }

  private func status(of place: PlainPlace) throws -> JobStatus? {
    let (plan, run) = (PlainPlan.read(place.folder.job, fileSystem), try migration(at: place))
    var status = try ownership(of: place.folder.job)
    (status.source, status.target, status.destination) = (plan?.source, plan?.target, place.path)
    guard status.state == .running else {
      status.resumeRefusal = BatchError.Code.refused.exitCode
      let again = plan?.command.map { "`\($0)`" } ?? "the command that began it"
      status.advice =
        "The store is untouched. A load into a file is not resumed: begin anew with \(again), or give it up with \(ProgramName.command("clean", place.path))"
      return status
    }
    guard run != nil else { return status }
    let migration = try self.status(place.migratedStore)
    (status.checkpoint, status.step, status.rowsRead) = (migration.checkpoint, migration.step, migration.rowsRead)
    status.phase = "migrating before it is loaded"
    return status
  }

  /// What becomes of the load into a file that is under way, or was killed; nil if there is none. Nothing is written.
  package func plainReport(_ path: String) throws -> RunReport? {
    guard let place = plainPlace(path) else { return nil }
    return try place.folder.seen {
      guard let status = try status(of: place) else { return nil }
      return try report(load: place.folder.job, migration: try migration(at: place), status)
    }
  }

  /// Whether a load has made the file at a path.
  public func isPlain(_ path: String) -> Bool { PlainMark.isThere(path, fileSystem) }

  /// Changes what is asked of the process that loads into a file; false if there is no load.
  package func orderPlain(_ path: String, _ change: (inout RunOrders) -> Void) throws -> Bool {
    try BatchError.border {
      guard let place = plainPlace(path) else { return false }
      try order(place.folder.job, path: path, change: change)
      return true
    }
  }

  /// Refuses to resume a load into a file.
  ///
  /// - Throws: ``BatchError``: `refused`, if one is or was under way.
  public func refusePlainResume(_ path: String) throws {
    guard let place = plainPlace(path) else { return }
    let look = ProgramName.command("status", place.path)
    let command = PlainPlan.read(place.folder.job, fileSystem)?.command
    if case .live = try Lease.inspect(place.folder.job, fileSystem) {
      throw BatchError(
        .leaseHeld, "another process loads into this path", hint: "\(look) shows how far it is",
        effect: .nothingWritten, next: [look.line], path: place.path)
    }
    throw BatchError(
      .refused, "a load into a file is not resumed",
      hint: "Begin anew with \(command.map { "`\($0)`" } ?? "the command that began it")", effect: .nothingWritten,
      next: command.map { [$0] } ?? [], path: place.path)
  }

  /// Where a load into a file works or has worked; nil if there is none.
  private func plainPlace(_ path: String) -> PlainPlace? {
    func found(_ path: String) -> PlainPlace? {
      let place = try? PlainPlace(PlainDestination(path: path), fileSystem)
      return (try? place?.folder.isThere()) == true ? place : nil
    }
    if let place = found(path) { return place }
    // A source leads to the run that migrates it.
    guard let run = try? JobRegistry(fileSystem).find(path) else { return nil }
    let folder = FilePaths.directory(of: run.destination)
    return JobDirectory.destination(ofFolder: folder, suffix: PlainPlace.suffix).flatMap(found)
  }

  /// The run that migrates the store first; nil if none is under way.
  private func migration(at place: PlainPlace) throws -> JobDirectory? {
    let found = try JobDirectory(destination: place.migratedStore)
    return try found.exists(fileSystem) ? found : nil
  }
}
