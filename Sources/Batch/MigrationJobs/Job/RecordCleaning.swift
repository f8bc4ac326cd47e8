import Foundation
import RunSupport
import Streams

// What stays of finished runs beside their stores: records, and lists of rejected objects.
extension MigrationJob {
  func cleanRecords(
    _ directory: String, store: String?, all: Bool, dryRun: Bool, report: inout CleanReport
  ) throws {
    for name in try fileSystem.list(directory) {
      let path = FilePaths.join(directory, name)
      guard let destination = JobDirectory.destination(ofFolder: path, suffix: ".godwit-report"),
        store.map({ $0 == destination }) ?? true, let status = try fileSystem.statusOfName(path), status.isRegularFile
      else { continue }
      let isAlone = try fileSystem.statusOfName(destination) == nil
      let reason = "record of a migration\(isAlone ? " whose store is gone" : "")"
      let item = CleanReport.Item(path: path, reason: reason, bytes: status.size)
      guard all || isAlone else {
        report.kept.append(item)
        continue
      }
      report.removed.append(item)
      if !dryRun { try fileSystem.remove(path) }
    }
  }

  /// A list is the only thing that says which objects a store lacks: it goes if somebody asks for that, and not with its
  /// store.
  func cleanRejects(
    _ directory: String, store: String?, all: Bool, dryRun: Bool, report: inout CleanReport
  ) throws {
    for name in try fileSystem.list(directory) {
      let path = FilePaths.join(directory, name)
      guard let destination = destination(ofRejects: path), store.map({ $0 == destination }) ?? true,
        let status = try fileSystem.statusOfName(path), status.isRegularFile
      else { continue }
      var item = CleanReport.Item(path: path, reason: "list of rejected objects", bytes: status.size)
      let isWanted = try all && isSettled(destination, report)
      guard isWanted else {
        item.reason +=
          all
          ? ", kept because a run of its store is not finished"
          : "; remove it with \(ProgramName.command("clean", "--reports", destination))"
        report.kept.append(item)
        continue
      }
      report.removed.append(item)
      if !dryRun { try fileSystem.remove(path) }
    }
  }

  /// Whether no run to a path is there any longer, or would be.
  private func isSettled(_ destination: String, _ report: CleanReport) throws -> Bool {
    let job = try JobDirectory(destination: destination)
    return try !job.exists(fileSystem) || report.removed.contains { $0.path == job.path }
  }

  /// The destination of the run that made a list of rejected objects; nil for any other file. That of a load has no
  /// time in its name, and is known by its record.
  private func destination(ofRejects path: String) -> String? {
    let end = ".jsonl"
    guard path.hasSuffix(end), let dot = path.dropLast(end.count).range(of: ".rejects", options: .backwards) else {
      return nil
    }
    let (destination, rest) = (String(path[..<dot.lowerBound]), path[dot.upperBound...].dropLast(end.count))
    guard !FilePaths.name(of: destination).isEmpty else { return nil }
    if rest.isEmpty {
      guard let job = try? JobDirectory(destination: destination), let history = RunHistory(path: job.record) else {
        return nil
      }
      return history.ends.contains { $0.finished?.rejects?.path == path } ? destination : nil
    }
    return rest.hasPrefix("-") && StoreBackup.time(String(rest.dropFirst())) != nil ? destination : nil
  }
}
