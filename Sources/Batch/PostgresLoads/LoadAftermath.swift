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
    guard let folder = try? LoadFolder(store: store, fileSystem), (try? folder.exists()) == true,
      let life = try? LoadLife(folder, fileSystem)
    else { return aftermath(of: store) }
    guard life.phase != .live else {
      return Aftermath(effect: .nothingWritten, text: "Nothing was written by this process")
    }
    let plan = try? folder.read().plan
    let rows = plan?.isOnServer == true ? "; the rows that were committed stay at \(plan?.place ?? "the server")" : ""
    let (text, next) = life.wayOut
    return Aftermath(effect: .resumable, text: "The store is untouched\(rows). \(text)", next: next)
  }
}
