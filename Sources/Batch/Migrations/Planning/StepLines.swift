import CoreDataModel

extension MigrationStep {
  /// What becomes of everything in the step's source version, without counts, and which values change with their type.
  func lines() -> (account: VersionAccount, conversions: [AccountLines.Conversion]) {
    let found = facts.value(ModelFacts.lines) {
      let lines = AccountLines(self)
      return StepLines(account: lines.account, conversions: lines.conversions)
    }
    return (found.account, found.conversions)
  }
}

private struct StepLines: Sendable {
  let account: VersionAccount
  let conversions: [AccountLines.Conversion]
}

extension ModelFacts {
  fileprivate static let lines = Key<StepLines>("lines of a step")
}
