import ArgumentParser
import Batch
import Foundation
import Streams
import Synchronization

/// Migrates many stores, some at a time, by processes of their own: one that fails takes nothing with it.
final class ManifestRun: Sendable {
  private struct State {
    var next = 0
    var results: [Int: ManifestResult] = [:]
  }

  private let entries: [Manifest.Entry]
  private let jobs: Int
  private let isQuiet: Bool
  private let isJSON: Bool
  private let deadline: Date?
  private let workers = StoreWorkers()
  private let state = Mutex(State())

  init(_ manifest: Manifest, jobs: Int, _ options: OperatingOptions) {
    (entries, self.jobs, isQuiet, isJSON) = (manifest.entries, jobs, options.quiet, options.json)
    deadline = options.end
  }

  /// Runs them all, says what became of them, and ends with the worst exit code.
  func run() throws {
    let started = ContinuousClock.now
    try ProcessSignals.whenAskedToStop({ [workers] in workers.stop() }) {
      let workers = try Worker.startAny(Array(repeating: { self.work() }, count: min(jobs, entries.count)))
      for worker in workers { _ = worker.join() }
    }
    let results = state.withLock { state in entries.indices.compactMap { state.results[$0] } }
    let code = ExitCodes.worst(results.map(\.exitCode))
    let summary = Summary(
      stores: results, seconds: ((ContinuousClock.now - started) / .milliseconds(1)).rounded() / 1000)
    if isJSON { Console.print(try JSONOutput.text(summary)) } else if !isQuiet { Console.print(summary.text) }
    if code != 0 { throw ExitCode(code) }
  }

  private struct Summary: Encodable {
    var format = 1
    var stores: [ManifestResult]
    var seconds: Double

    var text: String {
      let done = stores.count { $0.exitCode == 0 }
      let others = stores.filter { $0.exitCode != 0 }.map {
        "  \($0.store): \($0.exitCode), \($0.error ?? "with rejects")"
      }
      return (["\(done) of \(stores.count) stores were migrated in \(Console.duration(seconds))"] + others).joined(
        separator: "\n")
    }
  }

  private func work() {
    while let place = state.withLock({ state -> Int? in
      defer { state.next += 1 }
      return state.next < entries.count ? state.next : nil
    }) {
      let result = migrate(entries[place], place)
      let count = state.withLock { state in
        state.results[place] = result
        return state.results.count
      }
      guard !isQuiet, !isJSON else { continue }
      let what =
        result.exitCode == 0 ? "migrated in \(Console.duration(result.seconds))" : result.error ?? "with rejects"
      Console.error("[\(count)/\(entries.count)] \(result.store): \(what)")
    }
  }

  private func migrate(_ entry: Manifest.Entry, _ place: Int) -> ManifestResult {
    let started = ContinuousClock.now
    let target = entry.output ?? entry.store
    let status = try? MigrationJob(policies: Program.policies).status(target)
    let isResumed = [.interrupted, .failed, .cutOver, .finished].contains(status?.state)
    var result = ManifestResult(
      store: entry.store, output: entry.output, exitCode: 75, isResumed: isResumed, seconds: 0)
    do {
      let command = StoreCommandWords(
        store: entry.store, output: entry.output,
        options: Array(CommandLine.arguments.dropFirst().drop { $0 != "migrate" }.dropFirst()), deadline: deadline,
        isTold: isJSON)
      let outcome = try workers.run(isResumed ? command.resume(target) : command.migrate, place, deadline: deadline)
      result.exitCode = outcome.code
      result.error = outcome.error.isEmpty ? nil : outcome.error
      if isJSON {
        let failure = outcome.code == 0 ? nil : outcome.failure
        (result.effect, result.next) = (failure?.effect, failure?.next)
        result.summary = try? JSONDecoder().decode(RunSummary.self, from: outcome.output)
      }
    } catch {
      (result.error, result.exitCode) = ("\(error)", ExitCodes.code(of: error))
    }
    result.seconds = ((ContinuousClock.now - started) / .milliseconds(1)).rounded() / 1000
    return result
  }
}
