import Streams

/// An error of a migration: a small document for the person who has to act on it, and data for a program that has to.
///
/// Every public function of the library that fails throws one of these. Codes and effects are open: a `switch` over
/// them needs a `default`. Values of attributes appear only where a caller asked for them.
public struct BatchError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure; it decides the exit code of the command.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// A stable name, suited to scripts.
    public let description: String
    /// Makes a code; names are lower case words joined by hyphens.
    public init(_ description: String) { self.description = description }
    /// The source is no Core Data store, or is damaged.
    public static let badStore = Code("bad-store")
    /// The source is an XML store where an SQLite store was to be.
    public static let xmlStore = Code("xml-store")
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

  /// What a failed call has left behind.
  public struct Effect: Sendable, Hashable, CustomStringConvertible {
    /// A stable name, suited to scripts.
    public let description: String
    /// Makes an effect; names are lower case words joined by hyphens.
    public init(_ description: String) { self.description = description }
    /// The call has left nothing: every store is as it was, and the call has begun no run. A run of an earlier call may
    /// wait; then ``BatchError/next`` leads on from that one.
    public static let nothingWritten = Effect("nothing-written")
    /// A run or a load is kept with what it has done, and the old store is whole. The first command of
    /// ``BatchError/next`` leads on: it goes on from the last checkpoint, or begins anew if going on would end with the
    /// same error.
    public static let resumable = Effect("resumable")
    /// The result is durable under its name. If files of the run are left, the first command of ``BatchError/next``
    /// puts them away.
    public static let done = Effect("done")
    /// What is left cannot be said: the files of the run cannot be read, another process has the run, or somebody has
    /// replaced the result. Look before you write.
    public static let unknown = Effect("unknown")
  }

  /// The kind of failure.
  public var code: Code
  /// What happened, in one sentence.
  public var message: String
  /// What a person can do about it.
  public var hint: String?
  /// What the call has left behind. Nil from functions that only read, and until a public function that writes has
  /// looked.
  public var effect: Effect?
  /// Whole commands that lead on, as lines for a POSIX shell: the best one first, each of them enough. ``hint`` or
  /// ``aftermath`` says what they do, and what has to be mended before. Empty if no command leads on.
  public var next: [String]
  /// The effect and what leads on in words, if ``hint`` does not have them.
  public var aftermath: String?
  /// The file concerned.
  public var path: String?
  /// The entity concerned.
  public var entity: String?
  /// The key (Z_PK) of the object concerned.
  public var key: Int64?
  /// The error below this one.
  public var cause: (any Error)?
  /// Whether the error below says the same, as it was thrown by a lower layer: then it is not printed.
  private(set) var repeatsCause = false

  /// Makes an error.
  public init(
    _ code: Code, _ message: String, hint: String? = nil, effect: Effect? = nil, next: [String] = [],
    path: String? = nil,
    entity: String? = nil, key: Int64? = nil, cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.hint = hint
    self.effect = effect
    self.next = next
    self.path = path
    self.entity = entity
    self.key = key
    self.cause = cause
  }

  /// The exit code of a command that ends with this error.
  public var exitCode: Int32 { code.exitCode }

  /// Path, entity and key, message, cause, hint and effect, in one line.
  public var description: String {
    var text = ""
    if let path { text += "\(path): " }
    if let entity { text += "\(entity)\(key.map { " \($0)" } ?? ""): " }
    text += message
    if let cause, !repeatsCause { text += " (\((cause as? BatchError)?.withoutEffect ?? cause))" }
    if let hint { text = Self.sentences(text, hint) }
    if let aftermath { return Self.sentences(text, aftermath) }
    guard effect == .nothingWritten else { return text }
    return hint == nil || hint?.last == "?"
      ? Self.sentences(text, "Nothing was written") : text + "; nothing was written"
  }

  /// Two sentences; a question has its mark already.
  private static func sentences(_ first: String, _ second: String) -> String {
    first + (first.last == "?" ? " " : ". ") + second
  }

  /// The error without what it says of the data, for where that is said in another way.
  package var withoutEffect: BatchError {
    var error = self
    (error.effect, error.next, error.aftermath) = (nil, [], nil)
    return error
  }

  /// The error without commands, for where they would lead on from a part only.
  package var withoutNext: BatchError {
    var error = self
    error.next = []
    return error
  }

  /// The error without effect and hint: what happened, and no advice.
  package var withoutAdvice: BatchError {
    var error = withoutEffect
    error.hint = nil
    return error
  }
}

extension BatchError {
  /// An error as it leaves the library: one of a lower layer becomes the ``cause`` of one that says the same. The code
  /// of an error of the page engine keeps its name.
  public init(wrapping error: any Error) {
    switch error {
    case let error as BatchError: self = SystemCause.told(error)
    case let error as StreamsError:
      let place = error.page.map { " (database page \($0)\(error.cell.map { ", cell \($0)" } ?? ""))" } ?? ""
      self.init(Code(error.code), error.message + place, hint: error.hint, path: error.path, cause: error)
      repeatsCause = true
    default:
      if let number = SystemCause.number(error) {
        self.init(wrapping: StreamsError.system(number, "open", path: ""))
        path = nil
      } else {
        self.init(.failed, "\(error)", cause: error)
        repeatsCause = true
      }
    }
  }

  /// Lets no other error out of a public function.
  package static func border<Result>(_ body: () throws -> Result) throws(BatchError) -> Result {
    do { return try body() } catch { throw BatchError(wrapping: error) }
  }

  /// The same for a function that calls one of its caller's: what that throws leaves as it is, see ``CallersError``.
  package static func borderOfCaller<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let callers as CallersError { throw callers.error } catch {
      throw BatchError(wrapping: error)
    }
  }

  /// The same for a function that only looks: whatever happens to it, nothing was written.
  package static func looking<Result>(_ body: () throws -> Result) throws(BatchError) -> Result {
    do { return try body() } catch {
      var error = BatchError(wrapping: error)
      error.effect = error.effect ?? .nothingWritten
      throw error
    }
  }
}

/// An error of a function that the caller gave, on its way through ours.
package struct CallersError: Error {
  let error: any Error

  /// Marks what a function of the caller throws.
  package static func marking<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch { throw CallersError(error: error) }
  }
}
