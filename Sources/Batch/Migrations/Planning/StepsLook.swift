import CoreDataStore
import RunSupport

/// What a look at the steps of a path says of a store before the first row: what the engine would refuse is refused
/// then.
package struct StepsLook: Sendable {
  /// What it depends on, apart from the path and the store's tables.
  package struct Key: Hashable, Sendable {
    var history: ExtrasOptions.History
    var allowsCloudKit: Bool
    var validation: ValidationMode

    package init(_ extras: ExtrasOptions, _ validation: ValidationMode) {
      (history, allowsCloudKit, self.validation) = (extras.history, extras.allowsCloudKit, validation)
    }
  }

  /// What a person should know.
  package var notes: [String] = []
  /// What becomes of triggers, by the place of the version in the path.
  package var triggers: [Int: [AccountLine]] = [:]
  /// Whether all stores with these tables look alike: nothing in them is read that the model does not know.
  package private(set) var isForAll = true

  /// Nothing yet.
  package init() {}

  /// Takes what a step says; `version` is its place in the path.
  package mutating func add(_ step: StepPlan, version: Int) {
    let carried = step.carried
    notes += carried.notes.filter { !notes.contains($0) }
    triggers[version] = TriggerLines(step).lines
    isForAll =
      isForAll && carried.history == nil && carried.tables.isEmpty && carried.trees.isEmpty
      && carried.primaryKeys.isEmpty && !step.step.isIdentity
  }
}
