import Batch
import Foundation
import Streams

/// What others did to a store of a fleet since its first attempt began: an attempt that died after its cut-over, or a
/// person.
///
/// Known from the stores and from the records of runs beside them; clocks of machines are not compared.
struct FleetEarlierWork {
  let plan: FleetPlan
  let number: Int
  let job: MigrationJob

  typealias Ending = FleetStoreRun.Ending

  private var store: FleetPlan.Store { plan.stores[number] }
  /// What a run's record says of who asked for it: this plan, for this store.
  static func origin(_ plan: FleetPlan, _ number: Int) -> String { "fleet \(plan.id) store \(number)" }

  /// An attempt that begins, with what it finds.
  func attempt(_ owner: LeaseOwner) -> FleetAttempt {
    let isFree = store.output.map { !FileManager.default.fileExists(atPath: $0) } ?? false
    return FleetAttempt(
      owner, foundNoResult: isFree, found: try? StoreIdentity(store.path), record: job.finishedRun(store.target))
  }

  /// How the store ended meanwhile; nil if its migration is still to be done. Without an earlier attempt nothing but a
  /// run of others that leads elsewhere ends it. Nothing is written.
  func ending(since first: FleetAttempt?) throws -> Ending? {
    guard try job.status(store.target).state == .none else { return foreignRun() }
    guard let first else { return nil }
    if let report = try? job.report(store.target), report.run != first.record, report.ended != nil,
      report.form == nil, let ending = try ending(report)
    {
      return ending
    }
    if let output = store.output { return try ending(atOutput: output, since: first) }
    return try endingInPlace(since: first)
  }

  /// By a record that was not there when the first attempt began.
  private func ending(_ report: RunReport) throws -> Ending? {
    switch report.present {
    case .same, .written:
      if report.origin == Self.origin(plan, number) { return Self.ended(report) }
      // Whether it is that store's, the output itself says.
      guard store.output == nil else { return nil }
      if try isUpToDate(store.target) { return Self.hadVersion }
      let version = report.targetVersion.map { "version \($0)" } ?? "another version"
      return failed("since the first attempt somebody else migrated it to \(version), which is not the plan's")
    case .rolledBack:
      return failed("since the first attempt it was migrated and rolled back")
    case .replaced, .missing, nil: return nil
    }
  }

  private static func ended(_ report: RunReport) -> Ending {
    guard report.outcome == .doneWithRejects else {
      return (0, "an earlier attempt finished it before it was killed", .done)
    }
    return (ExitCodes.rejects, FleetStoreRun.rejected(report.rejects?.count, report.rejects?.path), .rejected)
  }

  /// Whoever migrated it.
  static let hadVersion: Ending = (0, "it was at the plan's version already", .done)

  private func endingInPlace(since first: FleetAttempt) throws -> Ending? {
    guard let found = first.found, let present = try? StoreIdentity(store.path) else { return nil }
    guard present.uuid == found.uuid else { return failed("since the first attempt another store took its place") }
    guard present.version != found.version else { return nil }
    if try isUpToDate(store.path) { return Self.hadVersion }
    return failed("since the first attempt it got another version, which is not the plan's")
  }

  private func ending(atOutput output: String, since first: FleetAttempt) throws -> Ending? {
    // What was there before is the migration's own to refuse.
    guard first.foundNoResult, FileManager.default.fileExists(atPath: output) else { return nil }
    let source = try first.found ?? StoreIdentity(store.path)
    guard let present = try? StoreIdentity(output) else { return failed("the file at the output is not a store") }
    guard present.uuid == source.uuid else { return failed("the store at the output is another one") }
    if try isUpToDate(output) { return Self.hadVersion }
    return failed("the store at the output is not at the plan's version")
  }

  /// A run under way that others began with another aim is theirs.
  private func foreignRun() -> Ending? {
    guard let report = try? job.report(store.target), report.origin != Self.origin(plan, number),
      let theirs = report.targetVersion,
      let ours = try? job.plan(request(store.path)).targetVersion.name, ours != theirs
    else { return nil }
    let resume = ProgramName.command(["resume", store.target])
    let reason =
      "somebody else began a migration to version \(theirs), which is not finished; the plan's version is \(ours)"
    return (ExitCodes.refused, "\(store.path): \(reason). Finish it with \(resume)", .failed)
  }

  /// What it is, and how the store is migrated nevertheless, when somebody has looked.
  private func failed(_ what: String) -> Ending {
    let migrate = ProgramName.command(
      ["migrate", store.path, "--ignore-config"] + plan.options + (store.output.map { ["--output", $0] } ?? []))
    let first =
      store.output.map { "Move \(ShellWords.quoted($0)) away, then migrate it with" }
      ?? "To migrate it nevertheless, run"
    return (ExitCodes.refused, "\(store.path): \(what). \(first) \(migrate)", .failed)
  }

  private func request(_ path: String) throws -> MigrationJob.Request {
    try FleetMigrationOptions.parse(plan.options).models.request(path)
  }

  /// Whether a store is at the version that the plan leads to. With `--identity` that is its own.
  private func isUpToDate(_ path: String) throws -> Bool { try job.plan(try request(path)).isUpToDate }
}
