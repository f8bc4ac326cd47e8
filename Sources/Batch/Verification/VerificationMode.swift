/// How a finished store is proved before it gets its name.
public enum VerificationMode: String, Codable, Sendable, CaseIterable {
  /// By a small decoder of its own: every page, every row by a digest of what was written, every index, every key.
  case fast
  /// By that, and by SQLite: every table and index end to end, and every key looked up.
  case full
  /// Not at all.
  case none
}
