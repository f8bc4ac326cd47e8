import RunSupport

/// What a look at the steps of a path says of a store before the first row: what the engine would refuse is refused
/// then.
package struct StepsLook: Sendable {
  /// What it depends on, apart from the path and the store's tables.
  package struct Key: Hashable, Sendable {
    var history: String
    var allowsCloudKit: Bool
    var validation: String
  }

  /// What a person should know.
  package var notes: [String] = []
  /// What becomes of triggers, by the place of the version in the path.
  package var triggers: [Int: [AccountLine]] = [:]
  /// Whether all stores with these tables look alike: nothing in them is read that the model does not know.
  package var isForAll = true

  /// Nothing yet.
  package init() {}
}
