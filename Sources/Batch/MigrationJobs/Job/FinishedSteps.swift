import Foundation
import Migrations
import StoreVerification
import Streams

extension MigrationRun {
  /// What the last step left.
  struct Finished {
    var path: String
    var rowsRead: UInt64
    var tableRows: [String: UInt64]
    var digests: [String: ProofDigest]
    var accounts: [StepAccount]
    /// What was proved while the last step was written.
    var early: EarlyVerification?
    var notes: [String] { accounts.flatMap(\.notes) }
  }
}
