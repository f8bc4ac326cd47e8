import LoadTables
import MappingModels
import MigrationJobs
import RunSupport
import Streams

extension MigrationJob {
  /// Removes what loads into servers left beside their stores, in a directory or beside one store, if nobody can resume
  /// them or `all` is asked for. Loads at work stay, and so does everything on a server.
  package func cleanPostgres(_ path: String, all: Bool, dryRun: Bool) throws -> CleanReport {
    var report = CleanReport()
    for store in try unfinished(at: path, suffix: LoadFolder.suffix) {
      guard let folder = try? LoadFolder(store: store, fileSystem), (try? folder.scratch.isThere()) == true else {
        continue
      }
      try clean(folder.scratch, dryRun: dryRun, &report, judge: { try judge(folder, all: all) })
    }
    return report
  }

  private func judge(_ folder: LoadFolder, all: Bool) throws -> (reason: String, isUseless: Bool) {
    guard try folder.exists(), (try? hasDoneNothing(folder)) != true else {
      return ("load of which nothing was begun, or all is done", true)
    }
    let life = try LoadLife(folder, fileSystem, isOwn: true)
    guard all else { return ("\(life.what). \(life.wayOut.text)", false) }
    let rest = LoadAdvice(folder).dropping.map { "; its tables stay on the server, until `\($0)`" }
    return ("interrupted load\(rest ?? "")", true)
  }
}
