import Batch

/// What is known of a store, whatever works on it: a migration, a load or an import.
enum StoreLook {
  /// Of a store's migration, of its load into a database, or of the import that makes it.
  static func status(_ job: MigrationJob, _ store: String) throws -> JobStatus {
    try job.importStatus(store) ?? job.loadStatus(store) ?? job.status(store)
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
