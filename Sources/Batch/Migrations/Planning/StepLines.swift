import CoreDataModel

extension MigrationStep {
  /// What becomes of everything in the step's source version, without counts, and which values change with their type.
  func lines() -> (account: VersionAccount, conversions: [AccountLines.Conversion]) {
    (stepLines.account, stepLines.conversions)
  }

  /// Properties that some mappings of their entity carry, and others do not.
  var splits: [AccountLines.Split] { stepLines.splits }

  private var stepLines: StepLines { facts.value(ModelFacts.lines) { StepLines(AccountLines(self)) } }
}

private struct StepLines: Sendable {
  let account: VersionAccount
  let conversions: [AccountLines.Conversion]
  let splits: [AccountLines.Split]

  init(_ lines: AccountLines) {
    splits = lines.splits
    (account, conversions) = (lines.account(splits), lines.conversions)
  }
}

extension ModelFacts {
  fileprivate static let lines = Key<StepLines>("lines of a step")
}
