import Migrations
import RunSupport
import StoreVerification
import Streams

extension MigrationJob {
  /// What a migration did.
  public struct Report: Sendable, Equatable {
    /// The path that has the result.
    public var destination: String
    /// The path that has the old store, when it was replaced.
    public var backup: String?
    /// The backup that is in place again, where it was a rollback that was finished.
    public var restored: String?
    /// Older backups that went, as they were over the limit.
    public var removedBackups: [String] = []
    /// Versions before and after.
    public var sourceVersion: String
    /// See ``sourceVersion``.
    public var targetVersion: String
    /// Steps of the path; 0 when the store was left alone.
    public var steps: Int
    /// Source rows read by this process, all steps together.
    public var rowsRead: UInt64 = 0
    /// Objects of the result by entity; empty without verification.
    public var rows: [String: UInt64] = [:]
    /// Values outside the result; nil without verification, and where the model knows none.
    public var externalData: ExternalDataReport?
    /// Whether the result was verified.
    public var isVerified = false
    /// Bytes of the result.
    public var bytes: UInt64 = 0
    /// What a person should know.
    public var notes: [String] = []
    /// What became of the rows, step by step; empty where an earlier process had finished all but the cut-over.
    public var accounts: [StepAccount] = []
    /// Objects that could not be migrated and were set aside; nil if there are none.
    public var rejects: RejectReport?
    /// The command that migrates the old store again, after a fix of what was rejected, as a line for a POSIX shell;
    /// nil if nothing was, where the request had no ``Request/arguments``, and where the old store is gone.
    public var replay: String?
    /// The most resident bytes of this process so far; nil if nothing was to be done.
    public var peakMemory: UInt64?

    package init(
      destination: String, backup: String? = nil, restored: String? = nil, removedBackups: [String] = [],
      sourceVersion: String,
      targetVersion: String, steps: Int, rowsRead: UInt64 = 0, rows: [String: UInt64] = [:],
      externalData: ExternalDataReport? = nil, isVerified: Bool = false, bytes: UInt64 = 0, notes: [String] = [],
      accounts: [StepAccount] = [], rejects: RejectReport? = nil, replay: String? = nil
    ) {
      self.destination = destination
      self.backup = backup
      self.restored = restored
      self.removedBackups = removedBackups
      self.sourceVersion = sourceVersion
      self.targetVersion = targetVersion
      self.steps = steps
      self.rowsRead = rowsRead
      self.rows = rows
      self.externalData = externalData
      self.isVerified = isVerified
      self.bytes = bytes
      self.notes = notes
      self.accounts = accounts
      self.rejects = rejects
      self.replay = replay
      peakMemory = steps > 0 ? ProcessMemory.peak : nil
    }
  }
}
