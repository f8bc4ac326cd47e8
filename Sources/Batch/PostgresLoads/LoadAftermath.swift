import MigrationJobs
import RunSupport
import Streams

extension MigrationJob {
  /// Lets no error out of a public function that loads, but with what it has left behind.
  func settledLoad<Result>(_ store: String, _ body: () throws -> Result) throws(BatchError) -> Result {
    do { return try body() } catch { throw BatchError(wrapping: error).settled { aftermath(ofLoad: store) } }
  }

  /// What a failed load of a store has left behind. A load is looked for first: the migration in it leads nowhere
  /// alone.
  private func aftermath(ofLoad store: String) -> Aftermath {
    guard let folder = try? LoadFolder(store: store, fileSystem), (try? folder.exists()) == true else {
      return aftermath(of: store)
    }
    let store = (try? JobDirectory(destination: store).destination) ?? store
    if case .live? = try? Lease.inspect(folder.job, fileSystem) {
      return Aftermath(effect: .nothingWritten, text: "Nothing was written by this process")
    }
    let (resume, advice) = (ProgramName.command("resume", store), LoadAdvice(folder))
    guard let run = try? folder.migration() else {
      let place = (try? folder.read().plan.place) ?? "the server"
      return Aftermath(
        effect: .resumable,
        text: "The store is untouched; the rows that were committed stay at \(place). Go on behind them with \(resume)",
        next: [resume, AdvisedCommand(line: advice.givingUpLine)])
    }
    guard (try? RunLife.look(run, fileSystem))?.phase == .failed else {
      return Aftermath(
        effect: .resumable,
        text: "The source is untouched. Go on with \(resume), or give the load up with \(advice.givingUp)",
        next: [resume, AdvisedCommand(line: advice.givingUpLine)])
    }
    return Aftermath(
      effect: .resumable,
      text:
        "The source is untouched. Going on would end with the same error: mend what it names, then begin again: \(advice.beginningAgain)",
      next: [AdvisedCommand(line: advice.beginningAgainLine)])
  }
}
