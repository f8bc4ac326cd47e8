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
    guard !own.contains("nothing was written"), !own.contains("source is untouched"), !own.contains("goes on behind"),
      !own.contains("stay, unfinished")
    else {
      return ""
    }
    return ". " + state(path)
  }

  // Asked of the disk and not of the error: the same error comes before and after the first write.
  private static func state(_ path: String?) -> String {
    let job = MigrationJob(policies: GodwitCommand.policies)
    if let path, let load = try? job.loadStatus(path), load.phase == "loading" {
      return
        "The store is untouched; the rows that were committed stay at \(load.destination ?? "the server"), and resume goes on behind them"
    }
    guard let path, let status = try? StatusCommand.status(job, path) else {
      return "Nothing was written"
    }
    switch status.state {
    case .none: return "Nothing was written"
    case .running: return "Nothing was written by this process"
    case .interrupted:
      return "The source is untouched; the run so far is kept beside \(status.destination ?? path), and resume goes on from there"
    case .cutOver:
      return "The old store is whole, under its own name or the backup's; the new one waits beside \(status.destination ?? path)"
    }
  }
}
