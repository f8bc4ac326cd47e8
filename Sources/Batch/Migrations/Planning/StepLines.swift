import CoreDataModel

extension MigrationStep {
  /// What becomes of everything in the step's source version, without counts, and which values change with their type.
  func lines() -> (account: VersionAccount, conversions: [AccountLines.Conversion]) {
    let found = facts.value(ModelFacts.lines) { StepLines(AccountLines(self)) }
    return (found.account, found.conversions)
  }

  /// Properties that some mappings of their entity carry, and others do not.
  var splits: [AccountLines.Split] { facts.value(ModelFacts.lines) { StepLines(AccountLines(self)) }.splits }
}

private struct StepLines: Sendable {
  let account: VersionAccount
  let conversions: [AccountLines.Conversion]
  let splits: [AccountLines.Split]

  init(_ lines: AccountLines) { (account, conversions, splits) = (lines.account, lines.conversions, lines.splits) }
}

extension ModelFacts {
  fileprivate static let lines = Key<StepLines>("lines of a step")
}
