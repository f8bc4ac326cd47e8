import Batch
import Streams

/// What a person can do about an error that does not say so itself: by its code, what helps in most cases.
enum Advice {
  /// A sentence to follow the error's own text; empty where that has one, or if nobody knows.
  static func text(after error: any Error) -> String {
    sentence(for: error).map { ". \($0)" } ?? ""
  }

  private static func sentence(for error: any Error) -> String? {
    switch error {
    case let error as BatchError:
      // A cause has said it already, within the text.
      error.hint == nil && !isSaid(by: error.cause) ? sentences[error.code] : nil
    case let error as StreamsError: error.hint == nil ? streamsSentences[error.code] : nil
    default: nil
    }
  }

  private static func isSaid(by cause: (any Error)?) -> Bool {
    switch cause {
    case let cause as BatchError: cause.hint != nil || isSaid(by: cause.cause)
    case let cause as StreamsError: cause.hint != nil
    default: false
    }
  }

  /// By code.
  static let sentences: [BatchError.Code: String] = [
    .badStore:
      "The store was only read. Take another copy of it, or restore a backup; SQLite's PRAGMA integrity_check tells more",
    .noSuchFile: "Check the path: it is taken from the folder that the command runs in",
    .badModel: "Open the model in Xcode and save it again, or name another file with --models",
    .badMapping: "Correct the mapping model; of mapping files, `godwit mapping check` finds such faults",
    .noModel: "Name the application's models, all versions of them, with --models",
    .noPath: "Name mapping models with --mappings, or another version with --to; `godwit models` tells what can be inferred",
    .missingPolicy: "Run the program that registers the policy",
    .refused: "Look it up in the README under \"What is supported, and what is refused\"",
    .leaseHeld: "Wait for the other process; `godwit status STORE` tells how far it is",
    .badCheckpoint: "Resume with the program that began the run",
    .mismatch: "Keep both stores, and report this: it is an error of the program or of the machine",
    .stopped: "It was asked to stop, and can go on",
    .policyFailed: "Correct the policy or the mapping; `godwit trace` looks at one object, --max-rejects sets some aside",
    .tooManyRejects: "Correct the mapping, or allow more with --max-rejects",
    .failed: "Try again; if it stays, report it with the run's log: it is an error of the program or of the machine",
  ]

  /// By code of the page engine.
  static let streamsSentences: [StreamsError.Code: String] = [
    .damagedDatabase: "The store was only read. Restore a backup; SQLite's PRAGMA integrity_check tells more",
    .notADatabase: "Check the path: it is to be the .sqlite file",
    .unsupported: "Write it anew with SQLite (VACUUM INTO), and migrate that",
    .inputOutput: "Check the path, the permissions and the disk",
    .diskFull: "Make room on that file system",
    .locked: "End the program that has the store open",
    .damagedCheckpoint: "Check the disk that the run's files are on",
    .order: "Report this: it is an error of the program, or a damaged store",
    .tooLarge: "Give more memory with --memory",
  ]
}
