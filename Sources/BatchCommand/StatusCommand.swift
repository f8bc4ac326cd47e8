import ArgumentParser
import Batch
import Foundation

struct StatusCommand: ListedCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Shows the state and the progress of a migration or an import. Never writes.",
    discussion: """
      Name the source or the destination. With --check the exit code says how it stands: 0 done, 10 done with rejects, 21 running, 75 \
      resumable, 22, 20 or 64 if it waits and resume would end with that code, 1 failed (or 11, 12, 20, 30, as it failed), 3 no \
      migration is known, 64 no such file.
      """)

  @Argument(help: .run, completion: .store) var store: String?
  @OptionGroup var list: ListArguments
  @Flag(name: .long, help: "Say by the exit code how the migration stands.") var check = false
  @Flag(name: .long, help: .json) var json = false
  @Flag(
    name: .long, help: "Repeat once a second as long as a process runs the migration; with --json, a document a line.")
  var watch = false

  var changed: String? { nil }

  static let takesOutput = false

  static func state(of outcome: StoreOutcome) -> ListState {
    guard outcome.failure == nil, let name = outcome.document?["standing"]?.text,
      let standing = MigrationStanding(rawValue: name)
    else {
      return ListState(failed: outcome)
    }
    switch standing {
    case .running:
      return ListState("running", .running, detail: Self.progress(outcome.document))
    case .resumable:
      let ended = outcome.document?["ended"]?.text ?? ReportWords.name(.cutOver)
      return ListState(ListState.interrupted, .waiting, detail: ended)
    case .unusable, .failed:
      let problem = outcome.document?["problems"]?.elements.first?.text
      return ListState(ExitCodes.name(outcome.code), .failed, detail: problem)
    case .done: return ListState("done", .done)
    case .rejects: return ListState("done, with rejects", .done)
    case .none:
      let isRolledBack = outcome.document?["ended"]?.text == StandingDocument.rolledBack
      return ListState(isRolledBack ? StandingDocument.rolledBack : ListState.noneIsKnown, .nothing)
    }
  }

  /// How far a run is, and whether it waits for somebody.
  private static func progress(_ document: JSONValue?) -> String? {
    let progress = document?["progress"]
    let part = progress?["fraction"]?.double.map { "\(Int($0 * 100)) %" }
    if progress?["paused"] == .bool(true) { return ["paused", part].compactMap { $0 }.joined(separator: ", ") }
    guard let hold = document?["heldBy"]?.text, progress?["activity"]?.text == RunPhase.waiting else { return part }
    return "the cut-over is held by \(hold)"
  }

  func validate() throws {
    try list.check(store)
    guard store != nil || !watch else { throw ValidationError("--watch takes one store, and no --manifest") }
  }

  func run() throws {
    guard let store else { return try ListRun(self, Manifest(path: list.manifest ?? "")).run(isJudged: check) }
    let job = MigrationJob(policies: Program.policies)
    var status = try look(job, store)
    var drawn = 0
    while true {
      if watch, !json, Console.outputCanRedraw, drawn > 0 { Console.writeOutput("\u{1B}[\(drawn)A\r\u{1B}[J") }
      let document = StandingDocument(status, of: store, by: job)
      let text =
        json ? try (watch ? JSONOutput.line(document) : JSONOutput.text(document)) : document.text(store)
      drawn = Console.rows(of: text)
      Console.print(text)
      fflush(nil)
      guard watch, status.state == .running else { return try end(document, store) }
      sleep(1)
      status = try look(job, store)
    }
  }

  private func look(_ job: MigrationJob, _ store: String) throws -> JobStatus {
    try check ? StoreLook.standing(job, store) : StoreLook.seen(job, store)
  }

  private func end(_ document: StandingDocument, _ store: String) throws {
    // A list tells a path that leads nowhere from a store without a migration by the code.
    guard check || CommandLineWords.isOfList else { return }
    let code = try document.code(store)
    if code != 0 { throw ExitCode(code) }
  }
}
