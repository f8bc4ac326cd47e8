import CoreDataStore
import RunSupport
import Streams

// What a run leaves behind that ends with an error.
extension MigrationRun {
  /// Writes down an error that would come again, so that nobody is advised to resume.
  func noting<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch {
      if !lease.mayBeReplaced { RunFailure(error)?.write(job, fileSystem) }
      throw leadingOn(error)
    }
  }

  /// Behind too many rejects two ways lead on: a mended mapping, or a larger limit.
  private func leadingOn(_ error: any Error) -> any Error {
    guard var told = error as? BatchError, told.code == .tooManyRejects, let limit = plan.rejects?.limit else {
      return error
    }
    let more = ProgramName.command(
      "resume", plan.destination, "--max-rejects", "\(RejectPlan.limit(above: limit))")
    let (anew, next) = beginAnew
    told.hint = [told.hint, "Mend the mapping or the data. \(anew), or let more be rejected with \(more)"]
      .compactMap { $0 }.joined(separator: ". ")
    told.next = [next.line, more.line]
    return told
  }

  func isSmall(_ reader: StoreReader) -> Bool { reader.byteCount <= smallStore }

  /// Gives a finished store its name. A run that is refused before its journal is one like any other again.
  func cutOver(_ result: Finished, source: StoreReader, isVerified: Bool, log: JobLog) throws -> CutOverResult {
    try log.append(isVerified ? "verified; beginning the cut-over" : "not verified; beginning the cut-over")
    if try unwritten?.close() != false { try log.sync() }
    try lease.throwIfReplaced()
    let cutOver = CutOver(fileSystem: fileSystem, job: job)
    do {
      return try cutOver.run(
        newStore: result.path, destination: plan.destination, inPlace: plan.isInPlace, backupSuffix: plan.backupSuffix,
        facts: facts(source)
      ) {
        try recheckSource()
        // Last of all: from here on names are changed that a successor relies on.
        try lease.throwIfReplaced()
      }
    } catch {
      if try !cutOver.isPending() { unwritten?.reopen() }
      throw error
    }
  }

  /// Writes a run down that has no checkpoint yet, so that it can be resumed: from its beginning. If that fails, or the
  /// error was a failed write (I10), the run goes with its directory. A full disk gets room for it by what the steps
  /// have written, which is of no use without a checkpoint.
  func keep(after error: any Error) {
    let code = BatchError(wrapping: error).code
    guard ![BatchError.Code(.inputOutput), BatchError.Code(.damagedCheckpoint)].contains(code) else { return }
    if code == BatchError.Code(.diskFull) {
      guard unwritten?.isOpen == true, (try? removeWork(fromStep: 1)) != nil else { return }
    }
    guard let plan = try? unwritten?.writeDown(nil) else { return }
    let store = CheckpointStore(directory: job.checkpoints, fileSystem: fileSystem)
    guard (try? store.newestReadable() == nil) == true else { return }
    let publisher = RunPublisher(store, in: job, fileSystem: fileSystem, under: lease, plan: plan) { plan }
    try? publisher.publish(RunPosition(nil, steps: plan.steps))
  }
}
