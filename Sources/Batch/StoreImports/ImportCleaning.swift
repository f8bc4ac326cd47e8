import MigrationJobs
import RunSupport
import Streams

extension MigrationJob {
  /// Removes what imports left in a directory, or on the way to one store, if nobody can go on from that. Imports at work
  /// stay, and so do those that have a checkpoint.
  ///
  /// - Parameters:
  ///   - path: a directory, or the path of the store.
  ///   - all: give up those that have a checkpoint, too.
  ///   - dryRun: only look.
  /// - Throws: ``BatchError``.
  public func cleanImports(_ path: String, all: Bool = false, dryRun: Bool = false) throws -> CleanReport {
    try BatchError.border {
      var report = CleanReport()
      for target in try unfinished(at: path, suffix: ImportPlace.suffix) {
        guard let place = try? ImportPlace(target, fileSystem), (try? place.scratch.isThere()) == true else { continue }
        try clean(place.scratch, dryRun: dryRun, &report, judge: { try judge(place, all: all) })
      }
      return report
    }
  }

  private func judge(_ place: ImportPlace, all: Bool) throws -> (reason: String, isUseless: Bool) {
    let note = ImportNote.read(place.job, fileSystem)
    if try place.isNamed(note) { return ("import that is done", true) }
    if try fileSystem.statusOfName(place.job.plan) == nil { return ("folder of an import that cannot go on", true) }
    var status = try ownership(of: place.job)
    let hasWhole = try note?.made != nil && fileSystem.statusOfName(place.working) != nil
    guard try hasWhole || checkpoint(of: place, &status) != nil else {
      return ("interrupted import without a checkpoint that can be read", true)
    }
    let goOn = note?.arguments.isEmpty != false ? "import the same again" : "resume it with \(place.resume)"
    return ("interrupted import" + (all ? "" : "; \(goOn); give it up with \(place.giveUp)"), all)
  }
}
