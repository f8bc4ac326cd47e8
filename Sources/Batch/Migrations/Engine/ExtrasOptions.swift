/// What a caller decides about tables that a migration may make stale.
public struct ExtrasOptions: Sendable, Equatable, Codable {
  /// What becomes of persistent history (ACHANGE and its companions).
  public enum History: String, Sendable, Codable, CaseIterable {
    /// It is kept, with new entity numbers; a history that cannot be kept true is refused.
    case keep
    /// Its tables stay, without rows: clients that follow it have to start over.
    case empty
  }

  /// What becomes of persistent history.
  public var history = History.keep
  /// Whether a store with CloudKit's tables may be migrated. Its records are kept, with new entity numbers.
  public var allowsCloudKit = false

  /// The careful choice: history is kept or refused, CloudKit is refused.
  public init() {}
}
