/// Tables that Core Data makes beside the model's (B.9). Names are folded.
enum FrameworkTables {
  /// The table of changes in persistent history.
  static let changes = "achange"
  private static let history: Set<String> = [changes, "atransaction", "atransactionstring"]

  /// Whether it is one of persistent history.
  static func isHistory(_ name: String) -> Bool { history.contains(name) }

  /// Whether it is one of CloudKit's mirroring.
  static func isCloudKit(_ name: String) -> Bool { name.hasPrefix("ansck") }
}
