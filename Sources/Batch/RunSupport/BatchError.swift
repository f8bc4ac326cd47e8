/// An error of a migration: a small document for the person who has to act on it.
///
/// Codes are open: a `switch` over them needs a `default`. Values of attributes appear only where a caller asked for them.
public struct BatchError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure; it decides the exit code of the command.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// A stable name, suited to scripts.
    public let description: String
    /// Makes a code; names are lower case words joined by hyphens.
    public init(_ description: String) { self.description = description }
    /// The source is no Core Data store, or is damaged.
    public static let badStore = Code("bad-store")
    /// A store, model or mapping model that was named is not there.
    public static let noSuchFile = Code("no-such-file")
    /// A model file cannot be read.
    public static let badModel = Code("bad-model")
    /// A mapping model cannot be read or does not fit its step.
    public static let badMapping = Code("bad-mapping")
    /// No model fits the store.
    public static let noModel = Code("no-model")
    /// No path leads to the target version.
    public static let noPath = Code("no-path")
    /// A mapping names a policy class that the program does not know.
    public static let missingPolicy = Code("missing-policy")
    /// The run was refused before anything was written.
    public static let refused = Code("refused")
    /// A live run holds the lease.
    public static let leaseHeld = Code("lease-held")
    /// A checkpoint cannot be used.
    public static let badCheckpoint = Code("bad-checkpoint")
    /// The finished store differs from what should have been written.
    public static let mismatch = Code("verification-mismatch")
    /// The run stopped on request and can be resumed.
    public static let stopped = Code("stopped")
    /// A policy or an expression failed on an object.
    public static let policyFailed = Code("policy-failed")
    /// More objects cannot be migrated than are allowed to be set aside.
    public static let tooManyRejects = Code("too-many-rejects")
    /// Anything else that ended the run.
    public static let failed = Code("failed")
  }

  /// The kind of failure.
  public var code: Code
  /// What happened, in one sentence.
  public var message: String
  /// What a person can do about it.
  public var hint: String?
  /// The file concerned.
  public var path: String?
  /// The entity concerned.
  public var entity: String?
  /// The key (Z_PK) of the object concerned.
  public var key: Int64?
  /// The error below this one.
  public var cause: (any Error)?

  /// Makes an error.
  public init(
    _ code: Code, _ message: String, hint: String? = nil, path: String? = nil, entity: String? = nil,
    key: Int64? = nil, cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.hint = hint
    self.path = path
    self.entity = entity
    self.key = key
    self.cause = cause
  }

  /// Path, entity and key, message, cause and hint, in one line.
  public var description: String {
    var text = ""
    if let path { text += "\(path): " }
    if let entity { text += "\(entity)\(key.map { " \($0)" } ?? ""): " }
    text += message
    if let cause { text += " (\(cause))" }
    if let hint { text += ". \(hint)" }
    return text
  }
}
