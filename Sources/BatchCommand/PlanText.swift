import Batch

/// A plan as people and scripts read it.
struct PlanText: Codable {
  struct Step: Codable {
    var from: String
    var to: String
    var passedVersions: [String]
    var inferred: Bool
    var reason: String
    var mappingModels: [Part]
    var split: MappingSplit
  }
  struct Part: Codable {
    var name: String
    var entityMappings: [String]
    var policies: [String]
  }

  var format = 1
  var store: String
  var version: String
  var target: String
  var steps: [Step]
  var rows: [String: UInt64]
  var totalRows: UInt64
  var accounts: [VersionAccount]
  var bytes: UInt64
  var diskNeeded: UInt64
  var forecast: MigrationForecast?
  var notes: [String]
  /// Where inference past versions and version by version differ; absent where they do not.
  var differences: [InferenceDifference]?
  /// The server that gets the result, and the schema there; or the file.
  var destination: String?
  /// The tables of the database, where the result would go there.
  var ddl: String?

  init(_ plan: MigrationPlan, _ forecast: MigrationForecast? = nil) {
    self.forecast = forecast
    store = plan.source
    version = plan.sourceVersion.name
    target = plan.targetVersion.name
    steps = zip(plan.steps, plan.splits).map { step, split in
      Step(
        from: step.origin.name, to: step.destination.name, passedVersions: step.passedVersions,
        inferred: (step.passed + [step]).allSatisfy(\.isInferred),
        reason: step.reason,
        mappingModels: step.mappingModels.map { model in
          Part(
            name: model.name, entityMappings: model.entityMappings.map(\.name),
            policies: Set(model.entityMappings.compactMap(\.policyClassName)).sorted())
        }, split: split)
    }
    rows = Dictionary(plan.rows.map { ($0.entity, $0.rows) }, uniquingKeysWith: { first, _ in first })
    totalRows = plan.rows.reduce(0) { $0 + $1.rows }
    accounts = plan.accounts
    bytes = plan.bytes
    diskNeeded = plan.diskNeeded
    notes = plan.notes
    differences = plan.differences.isEmpty ? nil : plan.differences
  }

  func json() throws -> String { try JSONOutput.text(self) }

  /// A line a part, and what the proof of their independence rests on.
  private static func lines(_ split: MappingSplit) -> [String] {
    var lines = split.parts.map { part in
      let writes = part.writes.isEmpty ? "nothing" : part.writes.joined(separator: ", ")
      let reads = part.reads.map { "; reads \($0.entity) of part \($0.part)" }.joined()
      let waits = part.waitsFor.isEmpty ? "" : "; waits for \(part.waitsFor.map(String.init).joined(separator: ", "))"
      let skipped = part.isSkipped ? "; skipped" : ""
      return
        "  part \(part.number): \(part.entityMappings.joined(separator: ", ")); writes \(writes)\(reads)\(waits)\(skipped)"
    }
    if split.parts.count > 1 {
      lines.append("  proof: no two parts write the same table, and a part that reads another one waits for it")
    }
    if !split.arithmetic.isEmpty {
      lines.append(
        "  proof: keys follow from the old keys by arithmetic, in any order: \(split.arithmetic.joined(separator: ", "))"
      )
    }
    return lines + split.assumptions.map { "  assumed: \($0)" } + split.dependencies.map { "  warning: \($0)" }
  }

  var text: String {
    guard !steps.isEmpty else {
      let work = destination == nil ? "nothing to do" : "no step is needed"
      let lines = destination == nil ? [] : notes.map { "note: \($0)" }
      return (["\(store): at version \(version), \(work)"] + lines + ddlLines).joined(separator: "\n")
    }
    let isKept = version == target
    var lines = ["\(store): version \(version)\(isKept ? ", written again" : " to \(target)")"]
    for (index, step) in steps.enumerated() {
      lines.append(
        "step \(index + 1): \(step.from)\(isKept ? "" : " to \(step.to)"), \(step.inferred ? "inferred" : "mapped") (\(step.reason))"
      )
      for part in step.mappingModels {
        let policies = part.policies.isEmpty ? "" : "; policies: \(part.policies.joined(separator: ", "))"
        lines.append("  \(part.name): \(part.entityMappings.joined(separator: ", "))\(policies)")
      }
      if !step.inferred { lines += Self.lines(step.split) }
    }
    lines.append("rows: \(Console.count(totalRows)), \(Console.size(bytes))")
    for entity in rows.keys.sorted() { lines.append("  \(entity): \(Console.count(rows[entity] ?? 0))") }
    lines += accounts.compactMap(\.balance)
    lines.append("disk needed: \(Console.size(diskNeeded))")
    if let forecast { lines += ForecastText(forecast).lines }
    return (lines + (accounts.flatMap(\.notes) + notes).map { "note: \($0)" } + ddlLines).joined(separator: "\n")
  }

  private var ddlLines: [String] {
    (destination.map { ["the result will be loaded into \($0)"] } ?? [])
      + (ddl.map { ["tables:", "", $0] } ?? [])
  }
}
