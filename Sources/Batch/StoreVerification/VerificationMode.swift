/// How a finished store is proved before it gets its name.
public enum VerificationMode: String, Codable, Sendable, CaseIterable {
  /// By a small decoder of its own: every page, every row by a digest of what was written, every index, every key.
  /// Most of it is looked at while the store is written.
  case fast
  /// By that decoder, from the first page to the last of the finished file: all that SQLite's integrity_check would
  /// find, too.
  case full
  /// As `fast`, and by SQLite's own integrity_check: every table and index end to end, and every key looked up.
  case sqlite
  /// Not at all.
  case none

  /// What *verified* covers, and what it does not.
  public static let meaning = """
    Verified means that the new store holds, page by page and row by row, what the plan said, and that its indexes and keys are whole. \
    It does not mean that the plan was right: what it drops is in its account, with counts, and a policy in code may do as it likes.
    """
}
