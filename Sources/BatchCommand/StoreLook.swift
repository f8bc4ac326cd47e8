import Batch
import Streams

/// What is known of a store, whatever works on it: a migration, a load or an import.
enum StoreLook {
  /// Of a store's migration, of its load into a database, or of the import that makes it.
  static func status(_ job: MigrationJob, _ store: String) throws -> JobStatus {
    try job.importStatus(store) ?? job.loadStatus(store) ?? job.status(store)
  }

  /// The same for a person, with what can be seen without reading the files of an import.
  static func seen(_ job: MigrationJob, _ store: String) throws -> JobStatus {
    var status = try status(job, store)
    if status.state == .interrupted, status.resumeRefusal == nil, (try? job.hasTouchedFiles(importInto: store)) == true
    {
      let check = ProgramName.command("status", "--check", status.destination ?? store)
      status.problems.append("files of the import were touched since it began; \(check) tells whether it can go on")
    }
    return status
  }

  /// The same for a job of cron, with what a resume would find: of an import it may read the files that seem to have
  /// changed.
  static func standing(_ job: MigrationJob, _ store: String) throws -> JobStatus {
    var status = try status(job, store)
    guard status.state == .interrupted, status.resumeRefusal == nil,
      let words = try? job.importArguments(store), let refusal = try refusal(words, job, of: store)
    else { return status }
    status.resumeRefusal = refusal.exitCode
    status.problems.append("\(refusal.withoutAdvice)")
    status.advice = refusal.hint
    return status
  }

  private static func refusal(_ words: [String], _ job: MigrationJob, of store: String) throws -> BatchError? {
    guard var command = try? ImportCommand.parse(Array(words.dropFirst())) else { return nil }
    // Its folder may have been moved or copied.
    command.output = store
    return try command.refusal(job, to: store)
  }

  /// Of a migration, or of a load into a file.
  static func report(_ job: MigrationJob, _ store: String) throws -> RunReport {
    do { return try job.loadReport(store) ?? job.report(store) } catch let error as BatchError
      where error.code == .refused
    {
      if try job.importStatus(store) != nil {
        throw BatchError(
          .refused, "an import makes this store, and imports have no report",
          hint: "\(ProgramName.command("status", store)) tells how far it is", effect: .nothingWritten, path: store)
      }
      try MissingStore.refuse(store)
      throw error
    }
  }
}
