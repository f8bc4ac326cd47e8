/// An error of the page engine: what went wrong, where, and what to do.
///
/// Codes are open: a `switch` over them needs a `default`. Data values never appear in a description.
public struct StreamsError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. New kinds may be added in any version.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// A stable name, suited to scripts.
    public let description: String
    /// Bytes of a database file contradict the file format.
    public static let damagedDatabase = Code(description: "damaged-database")
    /// The file is not an SQLite database.
    public static let notADatabase = Code(description: "not-a-database")
    /// The file uses a feature that the engine does not read.
    public static let unsupported = Code(description: "unsupported")
    /// A system call failed.
    public static let inputOutput = Code(description: "input-output")
    /// No space is left on the device, or a quota was reached.
    public static let diskFull = Code(description: "disk-full")
    /// Another process holds a lock that excludes this use.
    public static let locked = Code(description: "locked")
    /// A checkpoint or a file that it names cannot be used.
    public static let damagedCheckpoint = Code(description: "damaged-checkpoint")
    /// Rows were appended out of order, or a key twice.
    public static let order = Code(description: "order")
    /// A value is larger than the memory budget allows.
    public static let tooLarge = Code(description: "too-large")
  }

  /// The kind of failure.
  public var code: Code
  /// What happened, in one sentence.
  public var message: String
  /// The file concerned, if one is.
  public var path: String?
  /// The database page concerned, if one is.
  public var page: UInt32?
  /// The cell of that page concerned, counted from 0, if one is.
  public var cell: Int?
  /// What a person can do about it.
  public var hint: String?
  /// Of what is too large for the memory that it may have: both, in bytes.
  public var shortage: (needed: Int, allowed: Int)?

  /// Makes an error.
  public init(
    _ code: Code, _ message: String, path: String? = nil, page: UInt32? = nil, cell: Int? = nil, hint: String? = nil
  ) {
    self.code = code
    self.message = message
    self.path = path
    self.page = page
    self.cell = cell
    self.hint = hint
  }

  /// Something that is too large for the memory that it may have.
  static func tooLarge(
    _ message: String, needed: Int, allowed: Int, path: String? = nil, page: UInt32? = nil, cell: Int? = nil
  ) -> StreamsError {
    var error = StreamsError(
      .tooLarge, "\(message) takes \(needed) bytes, the memory budget allows \(allowed)", path: path, page: page,
      cell: cell, hint: "Run again with a larger --memory")
    error.shortage = (needed, allowed)
    return error
  }

  /// One line: path, message, page and cell, and hint.
  public var description: String {
    var text = ""
    if let path { text += "\(path): " }
    text += message
    if let page { text += " (database page \(page)\(cell.map { ", cell \($0)" } ?? ""))" }
    if let hint { text += ". \(hint)" }
    return text
  }
}
