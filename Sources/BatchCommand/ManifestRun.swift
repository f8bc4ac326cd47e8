import ArgumentParser
import Batch
@preconcurrency import Dispatch
import Foundation
import Streams
import Synchronization

/// Migrates many stores, some at a time, each by a process of its own: one that fails takes nothing with it.
final class ManifestRun: Sendable {
  /// From the worst to the best; what is not in it counts as 1.
  private static let codes: [Int32] = [1, 12, 30, 22, 20, 11, 21, 75, 10, 0]
  /// Options that the command of one store is not given.
  private static let own: Set = ["--manifest", "--jobs", "--json", "--quiet", "--progress", "--max-runtime", "--deadline"]
  /// Those that a run which goes on knows.
  private static let resuming: Set = [
    "--memory", "--throttle", "--nice", "--workers", "--max-rejects", "--reject-values", "--log-file", "--log-level",
    "--on-success", "--on-failure", "--on-stop",
  ]

  private struct State {
    var next = 0
    var isStopped = false
    var running: [Int: Process] = [:]
    var results: [Int: ManifestResult] = [:]
  }

  private let entries: [Manifest.Entry]
  private let jobs: Int
  private let isQuiet: Bool
  private let isJSON: Bool
  private let deadline: Date?
  private let state = Mutex(State())

  init(_ manifest: Manifest, jobs: Int, _ options: OperatingOptions) {
    (entries, self.jobs, isQuiet, isJSON) = (manifest.entries, jobs, options.quiet, options.json)
    deadline = [options.deadline?.date, options.maxRuntime.map { Date() + $0.seconds }].compactMap { $0 }.min()
  }

  /// Runs them all, says what became of them, and ends with the worst exit code.
  func run() throws {
    let started = ContinuousClock.now
    let signals = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { [self] in stop() }
      source.resume()
      return source
    }
    let workers = try (0..<min(jobs, entries.count)).map { _ in try Worker { self.work() } }
    for worker in workers { _ = worker.join() }
    for source in signals { source.cancel() }
    let results = state.withLock { state in entries.indices.compactMap { state.results[$0] } }
    let code = Self.codes.first { code in
      results.contains { $0.exitCode == code || (code == 1 && !Self.codes.contains($0.exitCode)) }
    }
    let summary = Summary(stores: results, seconds: ((ContinuousClock.now - started) / .milliseconds(1)).rounded() / 1000)
    if isJSON { Console.print(try JSONOutput.text(summary)) } else if !isQuiet { Console.print(summary.text) }
    if let code, code != 0 { throw ExitCode(code) }
  }

  private struct Summary: Encodable {
    var format = 1
    var stores: [ManifestResult]
    var seconds: Double

    var text: String {
      let done = stores.count { $0.exitCode == 0 }
      let others = stores.filter { $0.exitCode != 0 }.map { "  \($0.store): \($0.exitCode), \($0.error ?? "with rejects")" }
      return (["\(done) of \(stores.count) stores are migrated, in \(Console.duration(seconds))"] + others).joined(
        separator: "\n")
    }
  }

  /// Has the runs stop in good order; no further one begins.
  private func stop() {
    state.withLock { state in
      state.isStopped = true
      for process in state.running.values { process.terminate() }
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
      let what = result.exitCode == 0 ? "migrated in \(Console.duration(result.seconds))" : result.error ?? "with rejects"
      Console.error("[\(count)/\(entries.count)] \(result.store): \(what)")
    }
  }

  private func migrate(_ entry: Manifest.Entry, _ place: Int) -> ManifestResult {
    let started = ContinuousClock.now
    let target = entry.output ?? entry.store
    let status = try? MigrationJob(policies: GodwitCommand.policies).status(target)
    let isResumed = status?.state == .interrupted || status?.state == .cutOver
    var result = ManifestResult(store: entry.store, output: entry.output, exitCode: 75, isResumed: isResumed, seconds: 0)
    do {
      let (code, output, error) = try run(arguments(entry, resuming: isResumed ? target : nil), place)
      result.exitCode = code
      result.error = error.isEmpty ? nil : error
      result.summary = try? JSONDecoder().decode(RunSummary.self, from: output)
    } catch {
      result.error = "\(error)"
    }
    result.seconds = ((ContinuousClock.now - started) / .milliseconds(1)).rounded() / 1000
    return result
  }

  private func arguments(_ entry: Manifest.Entry, resuming target: String?) -> [String] {
    let given = Self.options(
      Array(CommandLine.arguments.dropFirst().drop { $0 != "migrate" }.dropFirst()), resuming: target != nil)
    let output = target == nil ? entry.output.map { ["--output", $0] } ?? [] : []
    let time = deadline.map { ["--deadline", $0.ISO8601Format()] } ?? []
    // The store first: options that take several words would swallow it.
    return [target == nil ? "migrate" : "resume", target ?? entry.store] + given + output + time + [
      "--json", "--progress", "none",
    ]
  }

  /// The options of the whole command that one store's is given.
  static func options(_ words: [String], resuming: Bool) -> [String] {
    var (kept, place) = ([String](), 0)
    var isKept = false
    while place < words.count {
      let word = words[place]
      place += 1
      let name = String(word.prefix { $0 != "=" })
      if word.hasPrefix("--") { isKept = resuming ? Self.resuming.contains(name) : !own.contains(name) }
      if isKept { kept.append(word) }
    }
    return kept
  }

  private func run(_ arguments: [String], _ place: Int) throws -> (code: Int32, output: Data, error: String) {
    if let deadline, deadline <= Date() { throw BatchError(.stopped, "the time is over; not begun") }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    let (output, error) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, output, error)
    try state.withLock { state in
      guard !state.isStopped else { throw BatchError(.stopped, "not begun") }
      try process.run()
      state.running[place] = process
    }
    // Both at once: a process waits until what it says is read.
    let said = Mutex(Data())
    let reader = try Worker { said.withLock { $0 = error.fileHandleForReading.readDataToEndOfFile() } }
    let found = output.fileHandleForReading.readDataToEndOfFile()
    _ = reader.join()
    let text = String(decoding: said.withLock { $0 }, as: UTF8.self)
    process.waitUntilExit()
    state.withLock { $0.running[place] = nil }
    let isSignal = process.terminationReason == .uncaughtSignal
    return (
      process.terminationStatus + (isSignal ? 128 : 0), found, text.trimmingCharacters(in: .whitespacesAndNewlines)
    )
  }
}
