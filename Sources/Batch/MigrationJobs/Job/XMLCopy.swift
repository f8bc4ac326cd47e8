import RunSupport
import Streams

/// The SQLite store that a migration makes of an XML store first, hidden beside its output: an interrupted run goes on
/// from that.
package enum XMLCopy {
  private static let suffix = ".from-xml"

  /// Where it is.
  package static func path(for output: String) -> String {
    FilePaths.join(FilePaths.directory(of: output), "." + FilePaths.name(of: output) + suffix)
  }

  /// The output that a file with such a name is for; nil of another name.
  static func output(of path: String) -> String? {
    let name = FilePaths.name(of: path)
    guard name.hasPrefix("."), name.hasSuffix(suffix), name.count > suffix.count + 1 else { return nil }
    return FilePaths.join(FilePaths.directory(of: path), String(name.dropFirst().dropLast(suffix.count)))
  }

  /// Refuses to go on with an XML store that is not what it was. `anew` says how to begin anew, by `next`; `resume` goes
  /// on with what was made of it.
  package static func refusal(
    of path: String, anew: String, next: [AdvisedCommand], resume: AdvisedCommand
  ) -> BatchError {
    BatchError(
      .badCheckpoint, "the XML store was written to since its interrupted migration began",
      hint: "\(anew), or go on with what it held then: \(resume)", effect: .nothingWritten,
      next: (next + [resume]).map(\.line), path: path)
  }
}

extension MigrationJob {
  /// Whether the XML store of an interrupted run was written to since, or replaced; nil if no run says it.
  package func isOriginChanged(ofRunTo output: String) throws -> Bool? {
    try BatchError.looking {
      guard let job = try JobRegistry(fileSystem).find(output), let plan = try? JobPlan.read(job, fileSystem),
        plan.madeFrom != nil
      else { return nil }
      return try plan.isOriginChanged(fileSystem)
    }
  }

  /// Refuses to go on with an XML store that is not what it was.
  func otherOrigin(_ plan: JobPlan, _ job: JobDirectory, named path: String) throws -> BatchError? {
    guard try plan.isOriginChanged(fileSystem), try JobDirectory.resolve(path) != plan.source else { return nil }
    let (anew, next) = wayOut(.restart, life: RunLife(phase: .working), job: job)
    return XMLCopy.refusal(
      of: plan.namedSource, anew: anew, next: next, resume: command(["resume", plan.source], on: job))
  }
}

extension JobPlan {
  /// Whether the file that the source was made of is not what it was. One that is gone is not needed.
  func isOriginChanged(_ fileSystem: any FileSystem) throws -> Bool {
    guard let file = madeFrom, let now = try fileSystem.status(file.path) else { return false }
    guard now.size == file.bytes else { return true }
    if let before = file.modified { return !Self.isSame(now.modified, as: before) }
    return try fileSystem.status(source).map { now.modified > $0.modified } ?? false
  }
}
