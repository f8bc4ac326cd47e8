import ArgumentParser
import Batch
@preconcurrency import Dispatch
import Foundation
import Streams
import Synchronization

/// Runs a command on many stores, some at a time, by processes of their own: one that fails takes nothing with it.
final class ListRun: Sendable {
  private struct State {
    var next = 0
    var results: [Int: ListResult] = [:]
  }

  /// A store whose command has ended; without an outcome if none was begun.
  private struct Attempt: Sendable {
    var result: ListResult
    var outcome: StoreProcesses.Outcome?
  }

  let list: Manifest
  let words: ListWords
  private let jobs: Int
  private let isQuiet: Bool
  private let isJSON: Bool
  private let takesOutput: Bool
  private let deadline: Date?
  /// After that a store would be stopped before its first row.
  private let lastBeginning: Date?
  private let workers = StoreWorkers()
  /// Says what became of a store while its process has the next one already.
  private let endings = DispatchQueue(label: "endings of stores")
  private let state = Mutex(State())
  private let orders: ListOrders
  let kept = KeptResults()
  private let bar = Mutex<ProgressDisplay?>(nil)
  private let seen = Mutex<(at: ContinuousClock.Instant, part: Double)>((.now, 0))
  private let stateOf: @Sendable (StoreOutcome) -> ListState
  private let codeOf: @Sendable ([ListResult]) -> Int32

  /// `options` are those of a migration; nil for a command that only looks, or is over at once.
  init<Command: ListedCommand>(_ command: Command, _ list: Manifest, options: OperatingOptions? = nil) throws {
    self.list = list
    (jobs, takesOutput) = (command.list.jobs, Command.takesOutput)
    words = ListWords(verb: Command.configuration.commandName ?? "", line: CommandLineWords.line)
    (isQuiet, isJSON, deadline) = (options?.quiet ?? true, command.json, options?.end)
    // Runs are told whole seconds: where they see its end near, no other one begins.
    lastBeginning = deadline.map {
      Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate.rounded(.down))
        - OperatingOptions.margin($0.timeIntervalSinceNow)
    }
    (stateOf, codeOf) = ({ Command.state(of: $0) }, { Command.code(of: $0) })
    orders = ListOrders(list)
  }

  private var isMigration: Bool { ["migrate", "resume"].contains(words.verb[0]) }
  private var done: Int { state.withLock { $0.results.count } }

  /// Runs it for all, says what became of them, and ends with the worst exit code.
  /// `isJudged`: the exit code says something of the stores.
  func run(_ outlets: OutletOptions? = nil, isJudged: Bool = true) throws {
    let outlet = try outlets.map { try ListOutlets($0, self) }
    var summary = try summary()
    if !isJudged { summary.exitCode = 0 }
    if isJSON {
      Console.print(try JSONOutput.text(summary))
    } else if !isQuiet || !isMigration {
      Console.print(ListText(summary).text)
    } else if let failures = ListText(summary).failures {
      Console.error(failures)
    }
    outlet?.end(summary)
    if summary.exitCode != 0 { throw ExitCode(summary.exitCode) }
  }

  /// Runs it for all. A line says what became of each store, if somebody waits for it.
  func summary() throws -> ListSummary {
    let started = ContinuousClock.now
    let stop: @Sendable () -> Void = { [workers, orders] in
      workers.stop()
      orders.end()
    }
    if isMigration { orders.begin(stop) }
    // A kill leaves what was not begun yet.
    if words.verb == ["migrate"] { kept.begin(list, by: words) }
    defer { orders.end() }
    let display = display(since: started)
    bar.withLock { $0 = display }
    defer { display.end() }
    try ProcessSignals.whenAskedToStop(stop) {
      let workers = try Worker.startAny(Array(repeating: { self.work() }, count: min(jobs, list.entries.count)))
      for worker in workers { _ = worker.join() }
      endings.sync {}
    }
    if isMigration { kept.end() }
    let results = self.results
    return ListSummary(
      list, words: words, results: results, exitCode: codeOf(results),
      seconds: (ContinuousClock.now - started) / .seconds(1))
  }

  /// On a terminal, how many stores are done, and how far those at work are.
  private func display(since started: ContinuousClock.Instant) -> ProgressDisplay {
    let isHidden = isJSON || isMigration && isQuiet || !Console.canRedraw
    return ProgressDisplay(isHidden ? .none : .bar) { [weak self] in
      guard let self else { return nil }
      let (done, count) = (done, list.entries.count)
      var progress = MigrationProgress(
        fraction: min(1, (Double(done) + partAtWork) / Double(max(1, count))), rows: 0,
        seconds: (ContinuousClock.now - started) / .seconds(1))
      progress.activity = "\(done) of \(count) stores"
      return progress
    }
  }

  /// What the migrations at work have done, in stores. They say it once a second.
  private var partAtWork: Double {
    guard isMigration else { return 0 }
    return seen.withLock { seen in
      guard ContinuousClock.now - seen.at > .seconds(1) else { return seen.part }
      let job = MigrationJob(policies: Program.policies)
      let parts = running.map { (try? job.status(list.entries[$0].target))?.progress?.fraction ?? 0 }
      seen = (.now, parts.reduce(0, +))
      return seen.part
    }
  }

  /// What is known of all stores by now.
  var results: [ListResult] {
    state.withLock { state in list.entries.indices.map { state.results[$0] ?? ListResult(list.entries[$0]) } }
  }

  /// Places of the stores that are at work.
  var running: [Int] {
    state.withLock { state in (0..<min(state.next, list.entries.count)).filter { state.results[$0] == nil } }
  }

  private func work() {
    while let place = next() {
      orders.begins(list.entries[place].target, place)
      let attempt = run(list.entries[place], place)
      orders.ends(place)
      endings.async { self.end(attempt, place) }
    }
  }

  private func end(_ attempt: Attempt, _ place: Int) {
    let (entry, result) = (list.entries[place], result(of: attempt, list.entries[place]))
    // What never began is begun by the command that was to do so, and not by one that resumes.
    if isMigration, words.verb != ["resume"] || result.isResumed != nil {
      kept.note(result, of: entry, by: words)
    }
    let count = state.withLock { state in
      state.results[place] = result
      return state.results.count
    }
    guard isMigration, !isQuiet, !isJSON else { return }
    let time = result.tone == .done && result.seconds >= 1 ? " in \(Console.duration(result.seconds))" : ""
    let line = "[\(count)/\(list.entries.count)] \(result.store): \(result.state)\(time)"
    bar.withLock { $0?.say(line) }
  }

  private func next() -> Int? {
    orders.waitWhilePaused(until: lastBeginning)
    return state.withLock { state in
      guard state.next < list.entries.count else { return nil }
      defer { state.next += 1 }
      return state.next
    }
  }

  private func run(_ entry: Manifest.Entry, _ place: Int) -> Attempt {
    let started = ContinuousClock.now
    var attempt = Attempt(result: ListResult(entry))
    let command = StoreCommandWords(
      store: entry.store, output: entry.output, options: orders.adding(to: words.options), deadline: deadline)
    do {
      let status = isMigration ? self.status(entry) : nil
      if status == JobStatus.State.none, words.verb == ["resume"] {
        try leave(entry, &attempt.result)
        return attempt
      }
      attempt.result.isResumed = status.map { [.interrupted, .failed, .cutOver, .finished].contains($0) }
      let line = command.command(words.verb, takesOutput: takesOutput, isRun: isMigration, isBrief: !isJSON)
      attempt.outcome = try workers.run(line, place, deadline: lastBeginning)
    } catch {
      attempt.result.take(BatchError(wrapping: error))
    }
    attempt.result.seconds = ((ContinuousClock.now - started) / .milliseconds(1)).rounded() / 1000
    return attempt
  }

  private func result(of attempt: Attempt, _ entry: Manifest.Entry) -> ListResult {
    var result = attempt.result
    guard let outcome = attempt.outcome.map(StoreOutcome.init) else { return result }
    result.take(outcome, stateOf(outcome), isMigration: isMigration)
    if isMigration, result.tone != .done, outcome.failure?.code != BatchError.Code.stopped.description {
      result.see(status(entry))
    }
    look(entry, &result)
    return result
  }

  /// Nothing is there to resume, or not even a store.
  private func leave(_ entry: Manifest.Entry, _ result: inout ListResult) throws {
    kept.add(words, to: entry)
    guard try LocalFileSystem().status(entry.store) == nil else {
      (result.exitCode, result.state, result.tone) = (0, "nothing to resume", .nothing)
      return
    }
    result.take(NearName.noSuchFile(entry.store))
    if let found = kept.find(entry) { result.goOn(by: found) }
  }

  private func status(_ entry: Manifest.Entry) -> JobStatus.State? {
    (try? StoreLook.status(MigrationJob(policies: Program.policies), entry.target))?.state
  }
}
