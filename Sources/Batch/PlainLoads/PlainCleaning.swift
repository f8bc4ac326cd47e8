import LoadTables
import MappingModels
import MigrationJobs
import RunSupport
import Streams

extension MigrationJob {
  /// Removes what loads into files left in a directory, or on the way to one file: nobody goes on from that. Loads at work
  /// stay.
  package func cleanPlain(_ path: String, dryRun: Bool) throws -> CleanReport {
    var report = CleanReport()
    for target in try unfinished(at: path, suffix: PlainPlace.suffix) {
      guard let place = try? PlainPlace(PlainDestination(path: target), fileSystem),
        (try? place.folder.isThere()) == true
      else { continue }
      try clean(
        place.folder, dryRun: dryRun, &report, judge: { ("load that was killed, and is not resumed", true) },
        settle: place.settle)
    }
    return report
  }
}
