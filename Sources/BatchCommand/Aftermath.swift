import ArgumentParser
import Batch

/// A command on a store; `changed` is the path that it changes, nil when it only looks.
protocol StoreCommand: ParsableCommand {
  var changed: String? { get }
}

/// What a failed command leaves behind, said with every error: a person must not have to guess.
enum Aftermath {
  /// A sentence to follow the error's own text; empty when that says it already.
  static func text(_ path: String?, after error: any Error) -> String {
    let own = "\(error)".lowercased()
    // A message between backticks is the way on already.
    guard !own.contains("nothing was written"), !own.contains("`\(name) ") else { return "" }
    return ". " + state(path)
  }

  private static var name: String { GodwitCommand.configuration.commandName ?? "godwit" }

  // Read from the disk and not from the error: the same error comes before and after the first write.
  private static func state(_ path: String?) -> String {
    guard let path else { return "Nothing was written" }
    let job = MigrationJob(policies: GodwitCommand.policies)
    if let load = try? job.loadStatus(path), load.phase == "loading" {
      let resume = ProgramName.command(["resume", path])
      return
        "The store is untouched; the rows that were committed stay at \(load.destination ?? "the server"). Go on behind them with \(resume)"
    }
    return job.aftermath(of: path)
  }
}
