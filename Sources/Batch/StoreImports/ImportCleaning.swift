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
    var status = try ownership(of: place.job)
    guard let found = try checkpoint(of: place, &status) else {
      return ("interrupted import without a checkpoint that can be read", true)
    }
    guard try found.phase != .named || fileSystem.statusOfName(place.working) != nil else {
      return ("import that is done", true)
    }
    let isOfProgram = ImportNote.read(place.job, fileSystem)?.arguments.isEmpty != false
    let goOn = isOfProgram ? "import the same again" : "resume it with \(place.resume)"
    return ("interrupted import" + (all ? "" : "; \(goOn); give it up with \(place.giveUp)"), all)
  }
}
