import CoreDataStore
import RunSupport
import Streams

extension MigrationJob {
  /// The report of a migration that has nothing left to do: an earlier run has made its output of this source, as it is
  /// now, at the version that is asked for, and the output is still there. Nil otherwise, and without an output. Nothing
  /// is written.
  ///
  /// - Throws: ``BatchError``: what a plan of the request would be refused for.
  public func finished(_ request: Request) throws -> Report? {
    guard let output = request.output, let report = try? self.report(output), report.outcome == .done,
      report.form == nil, report.present == .same || report.present == .written
    else { return nil }
    return try BatchError.looking {
      let source = try JobDirectory.resolve(request.source)
      guard let history = RunHistory(path: try JobDirectory(destination: output).record),
        history.facts?.source == source,
        let fingerprint = history.origin?.fingerprint, try StoreState(source, fileSystem).fingerprint == fingerprint
      else { return nil }
      let plan = try self.plan(request, countsRows: false).plan
      guard report.targetVersion == plan.targetVersion.name else { return nil }
      return Report(
        destination: report.destination, sourceVersion: plan.sourceVersion.name, targetVersion: plan.targetVersion.name,
        steps: 0)
    }
  }
}
