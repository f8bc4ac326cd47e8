import Batch
import Streams

/// The exit codes of the whole product: an interface that scripts rely on.
enum ExitCodes {
  static let nothingToDo: Int32 = 3
  static let refused: Int32 = 20
  static let mismatch: Int32 = 12
  static let rejects: Int32 = 10
  static let stopped: Int32 = 75

  /// The table in help and manual.
  static let table = """
    Exit codes:
      0    done and verified
      1    failed
      3    nothing to do (plan --check)
      10   done with rejects within the allowed limit
      11   rejects over the limit
      12   verification mismatch
      20   refused before writing (disk, memory, version, mapping)
      21   lease held by a live run
      22   checkpoint unusable
      30   source damaged or not a Core Data store
      64   usage, or there is no such file
      75   stopped, resumable
      130  second interrupt
    """

  /// From the worst to the best.
  private static let order: [Int32] = [1, 12, 30, 64, 22, 20, 11, 21, 75, 10, 0]

  /// The worst of some codes; what is not documented counts as 1. 0 of none.
  static func worst(_ codes: [Int32]) -> Int32 {
    order.first { code in codes.contains { $0 == code || (code == 1 && !order.contains($0)) } } ?? 0
  }

  static func isOurs(_ error: any Error) -> Bool { error is BatchError || error is StreamsError }

  static func code(of error: any Error) -> Int32 {
    switch error {
    case let error as BatchError: code(error)
    case let error as StreamsError: code(error)
    default: 1
    }
  }

  private static func code(_ error: BatchError) -> Int32 {
    switch error.code {
    case .badStore: 30
    case .noSuchFile: 64
    case .badModel, .badMapping, .noModel, .noPath, .missingPolicy, .refused: 20
    case .leaseHeld: 21
    case .badCheckpoint: 22
    case .mismatch: 12
    case .stopped: 75
    case .tooManyRejects: 11
    default: 1
    }
  }

  private static func code(_ error: StreamsError) -> Int32 {
    switch error.code {
    case .notADatabase, .damagedDatabase: 30
    case .damagedCheckpoint, .foreignCheckpoint: 22
    case .locked, .tooLarge, .unsupported: 20
    // A full disk needs room: then the run is resumed from its last checkpoint.
    case .diskFull: 75
    default: 1
    }
  }
}
