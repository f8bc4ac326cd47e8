import Batch
import Streams

/// What a person can do about an error that does not say so itself: by its code, what helps in most cases.
enum Advice {
  /// A sentence for an error without a hint; nil if it or its cause has one, or if nobody knows.
  static func hint(for error: BatchError) -> String? {
    // How a run that was stopped goes on is said with what is left of it.
    guard error.code != .stopped || error.aftermath == nil else { return nil }
    return error.hint == nil && !isSaid(by: error.cause) ? sentences[error.code] : nil
  }

  // A cause is printed with the text.
  private static func isSaid(by cause: (any Error)?) -> Bool {
    switch cause {
    case let cause as BatchError: cause.hint != nil || isSaid(by: cause.cause)
    case let cause as StreamsError: cause.hint != nil
    default: false
    }
  }

  /// By code; those of the page engine at the end.
  static let sentences: [BatchError.Code: String] = [
    .badStore:
      "The store was only read. Take another copy of it, or restore a backup; SQLite's PRAGMA integrity_check tells more",
    .noSuchFile: "Check the path: it is taken from the folder that the command runs in",
    .xmlStore:
      "Make an SQLite store of it first: `godwit migrate`, with its models behind --models and a path behind --output",
    .badModel: "Open the model in Xcode and save it again, or name another file with --models",
    .badMapping: "Correct the mapping model; of mapping files, `godwit mapping check` finds such faults",
    .noModel: "Name the application's models, all versions of them, with --models",
    .noPath:
      "Name mapping models with --mappings, or another version with --to; `godwit models` tells what can be inferred",
    .missingPolicy: "Run the program that registers the policy",
    .refused: "Look it up in the README under \"What is supported, and what is refused\"",
    .leaseHeld: "Wait for the other process; `godwit status STORE` tells how far it is",
    .badCheckpoint: "Resume with the program that began the run",
    .mismatch: "Keep both stores, and report this: it is an error of the program or of the machine",
    .stopped: "It was asked to stop, and can go on",
    .policyFailed:
      "Correct the policy or the mapping; `godwit trace` looks at one object, --max-rejects sets some aside",
    .tooManyRejects: "Correct the mapping, or allow more with --max-rejects",
    .failed: "Try again; if it stays, report it with the run's log: it is an error of the program or of the machine",
    BatchError.Code(.damagedDatabase):
      "The store was only read. Restore a backup; SQLite's PRAGMA integrity_check tells more",
    BatchError.Code(.notADatabase): "Check the path: it is to be the .sqlite file",
    BatchError.Code(.unsupported): "Write it anew with SQLite (VACUUM INTO), and migrate that",
    BatchError.Code(.inputOutput): "Check the path, the permissions and the disk",
    BatchError.Code(.diskFull): "Make room on that file system",
    BatchError.Code(.locked): "End the program that has the store open",
    BatchError.Code(.damagedCheckpoint): "Check the disk that the run's files are on",
    BatchError.Code(.order): "Report this: it is an error of the program, or a damaged store",
    BatchError.Code(.tooLarge): "Give more memory with --memory",
  ]
}
