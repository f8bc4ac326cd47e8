import Batch
import Streams

/// The exit codes of the whole product: an interface that scripts rely on. Those of errors are the errors' own.
enum ExitCodes {
  static let nothingToDo: Int32 = 3
  static let lockedVersionChanged: Int32 = 4
  static let rejects: Int32 = 10
  static let refused = BatchError.Code.refused.exitCode
  static let mismatch = BatchError.Code.mismatch.exitCode
  static let tooManyRejects = BatchError.Code.tooManyRejects.exitCode
  static let stopped = BatchError.Code.stopped.exitCode
  static let leaseHeld = BatchError.Code.leaseHeld.exitCode

  /// The table in help and manual.
  static let table = """
    Exit codes:
      0    done and verified
      1    failed
      3    nothing to do (plan --check), or no migration is known (status --check)
      4    a locked version of the model changed or is missing (lock, check)
      10   done with rejects within the allowed limit
      11   rejects over the limit
      12   verification mismatch
      20   refused before writing (disk, memory, version, mapping)
      21   lease held by a live run, or it is running (status --check)
      22   checkpoint unusable, or its store was written to or replaced
      30   source damaged or not a Core Data store
      64   usage, or there is no such file
      75   stopped, resumable
      130  second interrupt
    """

  /// From the worst to the best.
  private static let order: [Int32] = [1, 12, 30, 64, 22, 20, 11, 21, 75, 10, nothingToDo, 0]

  /// The worst of some codes; what is not documented counts as 1. 0 of none.
  static func worst(_ codes: [Int32]) -> Int32 {
    order.first { code in codes.contains { $0 == code || (code == 1 && !order.contains($0)) } } ?? 0
  }

  /// What a code says of one store among others.
  static func name(_ code: Int32) -> String {
    switch code {
    case tooManyRejects: "too many rejects"
    case mismatch: "verification mismatch"
    case refused: "refused"
    case leaseHeld: "busy with another process"
    case 22: "unusable"
    case 30: "damaged or no Core Data store"
    case 64: "no such file"
    case stopped: "stopped"
    case 129...: "killed by signal \(code - 128)"
    default: "failed"
    }
  }

  static func isOurs(_ error: any Error) -> Bool { error is BatchError || error is StreamsError }

  static func code(of error: any Error) -> Int32 {
    isOurs(error) ? BatchError(wrapping: error).exitCode : 1
  }
}
