/// Tables that Core Data makes beside the model's (B.9). Names are folded.
package enum FrameworkTables {
  /// The table of changes in persistent history.
  package static let changes = "achange"
  private static let history: Set<String> = [changes, "atransaction", "atransactionstring"]

  /// Whether it is one of persistent history.
  package static func isHistory(_ name: String) -> Bool { history.contains(name) }

  /// Whether it is one of CloudKit's mirroring.
  package static func isCloudKit(_ name: String) -> Bool { name.hasPrefix("ansck") }
}
