// How the engine looks at steps before the first row.
extension StepsLook.Key {
  /// What of a request the look depends on.
  package init(_ extras: ExtrasOptions, _ validation: ValidationMode) {
    self.init(
      history: extras.history.rawValue, allowsCloudKit: extras.allowsCloudKit, validation: validation.rawValue)
  }
}

extension StepsLook {
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
