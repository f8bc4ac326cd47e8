import ArgumentParser
import Batch
import Foundation
import Streams
import Synchronization

/// Runs a command on many stores, some at a time, by processes of their own: one that fails takes nothing with it.
final class ListRun: Sendable {
  private struct State {
    var next = 0
    var results: [Int: ListResult] = [:]
  }

  let list: Manifest
  private let words: ListWords
  private let jobs: Int
  private let isQuiet: Bool
  private let isJSON: Bool
  private let takesOutput: Bool
  private let deadline: Date?
  private let workers = StoreWorkers()
  private let state = Mutex(State())
  private let orders: ListOrders
  private let kept = KeptResults()
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
    if words.verb == ["migrate"], kept.isPossible {
      for entry in list.entries { kept.note(ListResult(entry), of: entry, by: words) }
    }
    defer { orders.end() }
    let display = display(since: started)
    bar.withLock { $0 = display }
    defer { display.end() }
    try ProcessSignals.whenAskedToStop(stop) {
      let workers = try Worker.startAny(Array(repeating: { self.work() }, count: min(jobs, list.entries.count)))
      for worker in workers { _ = worker.join() }
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
      let result = run(list.entries[place], place)
      orders.ends(place)
      if isMigration { kept.note(result, of: list.entries[place], by: words) }
      let count = state.withLock { state in
        state.results[place] = result
        return state.results.count
      }
      guard isMigration, !isQuiet, !isJSON else { continue }
      let time = result.tone == .done && result.seconds >= 1 ? " in \(Console.duration(result.seconds))" : ""
      let line = "[\(count)/\(list.entries.count)] \(result.store): \(result.state)\(time)"
      bar.withLock { $0?.say(line) }
    }
  }

  private func next() -> Int? {
    orders.waitWhilePaused(until: deadline)
    return state.withLock { state in
      guard state.next < list.entries.count else { return nil }
      defer { state.next += 1 }
      return state.next
    }
  }

  private func run(_ entry: Manifest.Entry, _ place: Int) -> ListResult {
    let started = ContinuousClock.now
    var result = ListResult(entry)
    let command = StoreCommandWords(
      store: entry.store, output: entry.output, options: orders.adding(to: words.options), deadline: deadline)
    do {
      let status =
        isMigration ? try? StoreLook.status(MigrationJob(policies: Program.policies), entry.target) : nil
      if status?.state == JobStatus.State.none, words.verb == ["resume"] {
        if try LocalFileSystem().status(entry.store) == nil { throw NearName.noSuchFile(entry.store) }
        (result.exitCode, result.state, result.tone) = (0, "nothing to resume", .nothing)
        return result
      }
      result.isResumed = status.map { [.interrupted, .failed, .cutOver, .finished].contains($0.state) }
      let line = command.command(words.verb, takesOutput: takesOutput, isRun: isMigration, isBrief: !isJSON)
      let outcome = StoreOutcome(try workers.run(line, place, deadline: deadline))
      result.take(outcome, stateOf(outcome), isMigration: isMigration)
      look(entry, &result)
    } catch {
      let told = BatchError(wrapping: error)
      (result.exitCode, result.error, result.hint) = (told.exitCode, told.message, told.hint)
      if told.code != .stopped { (result.state, result.tone) = (ExitCodes.name(told.exitCode), .failed) }
    }
    result.seconds = ((ContinuousClock.now - started) / .milliseconds(1)).rounded() / 1000
    return result
  }
}

extension ListRun {
  /// What a command that looks at results, or clears up, does not see by itself.
  private func look(_ entry: Manifest.Entry, _ result: inout ListResult) {
    switch words.verb[0] {
    case "report":
      result.showImport(entry)
      fallthrough
    case "status":
      result.distinguishStore(entry)
      guard let found = kept.find(entry) else { return }
      if found.isLast(beside: result.tone) {
        result.take(found)
      } else if result.tone == .waiting {
        result.goOn(by: found)
      }
    case "rollback": result.tellWhyNothingIsBack(entry, kept.find(entry))
    case "clean":
      guard let found = kept.find(entry), !words.line.contains("--dry-run") else { return }
      guard (try? kept.forget(found.target)) != nil, result.state == ListState.nothingToRemove else { return }
      (result.state, result.tone, result.detail) = ("cleaned", .done, "what was known of its last attempt")
    default: return
    }
  }
}

extension ListResult {
  /// Where no store was replaced, none can be put back: that is no failure.
  fileprivate mutating func tellWhyNothingIsBack(_ entry: Manifest.Entry, _ kept: KeptResult?) {
    guard exitCode == BatchError.Code.refused.exitCode,
      let found = MigrationJob(policies: Program.policies).withoutBackup(entry.target)
    else { return }
    switch found {
    case .rolledBack: state = StandingDocument.rolledBack
    case _ where kept?.state == ListState.unchanged: (state, detail) = (ListState.unchanged, "nothing to roll back")
    case .beside: (state, detail) = ("nothing was replaced", "the result is a file of its own")
    case .unfinished(let run):
      let what = run == .failed ? "its migration failed before" : "its migration is not finished"
      (state, detail) = ("nothing was replaced", what)
    case .gone: return
    case .unknown where (try? MigrationJob().importStatus(entry.target)) ?? nil != nil:
      (state, detail) = ("nothing was replaced", "an import that is not finished makes it")
    case .unknown:
      state = ListState.noneIsKnown
      return distinguishStore(entry)
    }
    (exitCode, tone, error, hint, effect, next) = (0, .nothing, nil, nil, nil, nil)
  }

  /// An import has no report, and stands all the same.
  fileprivate mutating func showImport(_ entry: Manifest.Entry) {
    guard state == ListState.noneIsKnown,
      let status = (try? MigrationJob(policies: Program.policies).importStatus(entry.target)) ?? nil
    else { return }
    let isRunning = status.state == .running
    (state, tone) = (status.state.rawValue, isRunning ? .running : .waiting)
    exitCode = isRunning ? ExitCodes.leaseHeld : ExitCodes.stopped
    (error, hint, effect, next) = (nil, nil, nil, status.advice.flatMap { Self.advised([$0]) })
  }

  /// The status is asked of the output: that one may be missing where the store is there.
  fileprivate mutating func distinguishStore(_ entry: Manifest.Entry) {
    let none = ListState.noneIsKnown
    guard exitCode == BatchError.Code.noSuchFile.exitCode || state == none else { return }
    guard !FileManager.default.fileExists(atPath: entry.store) else {
      (exitCode, state, tone) = (ExitCodes.nothingToDo, none, .nothing)
      (error, hint, effect, next) = (nil, nil, nil, nil)
      return
    }
    let missing = NearName.noSuchFile(entry.store)
    (exitCode, state, tone) = (missing.exitCode, ExitCodes.name(missing.exitCode), .failed)
    (error, hint) = (missing.message, missing.hint)
  }
}
