import Batch
import Foundation
import Glibc

/// The outcome of one store of a list.
struct ListResult: Encodable {
  var store: String
  var output: String?
  /// The exit code of the command for this store alone; 75 also if it was not begun.
  var exitCode: Int32
  /// What became of it, in a few words.
  var state: String
  var detail: String?
  /// Whether an interrupted run was resumed.
  var isResumed: Bool?
  var seconds: Double
  /// What went wrong, and what may help.
  var error: String?
  var hint: String?
  /// What the failure has left behind, and the commands that lead on.
  var effect: String?
  var next: [String]?
  /// The summary, as `migrate --json` prints it.
  var summary: JSONValue?
  /// What another command prints with `--json`.
  var result: JSONValue?
  /// When it ended, of a result that was kept.
  var time: String?
  /// Not for programs: they have the exit code.
  var tone = ListState.Tone.waiting
  private(set) var lines: [String] = []
  /// What it was taken from.
  private(set) var kept: KeptResult?

  private enum CodingKeys: String, CodingKey {
    case store, output, exitCode, state, detail, isResumed = "resumed", seconds, error, hint, effect, next, time,
      summary, result
  }

  /// A store that was not begun.
  init(_ entry: Manifest.Entry) {
    (store, output, exitCode) = (entry.store, entry.output, ExitCodes.stopped)
    (state, seconds) = (ListState.notBegun, 0)
  }

  mutating func take(_ outcome: StoreOutcome, _ state: ListState, isMigration: Bool) {
    (exitCode, self.state, detail, tone) = (state.code ?? outcome.code, state.name, state.detail, state.tone)
    lines = state.lines
    // The curve of a report is long, and of a thousand stores nobody draws them.
    if isMigration { summary = outcome.document } else { result = outcome.document?.removing("curve") }
    next = Self.advised(outcome.document?["advice"])
    if isMigration, self.state == ListState.unchanged { lookForOutput() }
    guard outcome.failure != nil || ![0, ExitCodes.rejects].contains(outcome.code) else { return }
    error = outcome.failure.map(told) ?? (outcome.said.isEmpty ? nil : outcome.said)
    (hint, effect) = (outcome.failure?.hint.map(Self.inList), outcome.failure?.effect)
    next = outcome.failure?.next ?? next
    // The group has one reason for all of them.
    detail = detail ?? error.flatMap(Self.meant).map { "did you mean \($0)?" }
  }

  /// Why no command was run. Of a list that is stopped that is no reason of its stores.
  mutating func take(_ error: BatchError) {
    exitCode = error.exitCode
    guard error.code != .stopped else { return }
    (self.error, hint) = (error.message, error.hint)
    (state, tone) = (ExitCodes.name(exitCode), .failed)
  }

  private static let hasVersion = "it has the version already"

  /// The result of a store that was left alone is that store.
  private mutating func lookForOutput() {
    guard let output, let result = summary?["destination"]?.text, Manifest.whole(result) != Manifest.whole(output)
    else { return }
    (state, detail) = (ListState.withoutOutput, Self.hasVersion)
  }

  /// What an earlier command has kept.
  mutating func take(_ kept: KeptResult) {
    (exitCode, state, tone, time, self.kept) = (kept.exitCode, kept.state, kept.tone, kept.time, kept)
    (error, hint, effect, next) = (kept.error, kept.hint, kept.effect, kept.next)
    let time = ReportWords.time(kept.time)
    if tone == .done {
      detail = state == ListState.withoutOutput ? Self.hasVersion : nil
      return
    }
    detail = state == ListState.notBegun ? "not tried; the list ran \(time)" : "tried \(time)"
  }

  /// Goes on with the command of the list that began the run: it has options that no run remembers. What ended the last
  /// attempt is said with it.
  mutating func goOn(by kept: KeptResult) {
    self.kept = kept
    guard error == nil, kept.explainsRun else { return }
    (error, hint, effect, next) = (kept.error, kept.hint, kept.effect, kept.next)
  }

  /// A process that has ended without a word, or with an error that may not come again: its run goes on where it was. A
  /// signal from outside says nothing of the store.
  mutating func see(_ run: JobStatus.State?) {
    let isResumable = run.map { [.interrupted, .cutOver, .finished].contains($0) } ?? false
    let signal = exitCode > 128 ? exitCode - 128 : nil
    if let signal, [SIGHUP, SIGINT, SIGTERM].contains(signal) {
      // It was asked to stop before it could hear that.
      state = isResumable ? ExitCodes.name(ExitCodes.stopped) : ListState.notBegun
      (exitCode, tone, error) = (ExitCodes.stopped, .waiting, nil)
      return
    }
    if let signal {
      error = ["its process was killed by signal \(signal)", error].compactMap { $0 }.joined(separator: ": ")
    }
    guard signal == SIGKILL || isResumable && (signal != nil || [1, ExitCodes.stopped].contains(exitCode)) else {
      return
    }
    (exitCode, state, tone) = (ExitCodes.stopped, ListState.interrupted, .waiting)
  }

  /// What of a message is not about the store is told with its path.
  private func told(_ failure: FailureDocument.Body) -> String {
    guard let output, let path = failure.path, Self.whole(path) == Self.whole(output) else { return failure.message }
    return "\(output): \(failure.message)"
  }

  /// A list has no option for outputs.
  private static func inList(_ text: String) -> String {
    text.replacing("with --output", with: "in the list, behind the store and a tab")
  }

  /// The commands that the advice of a status or a report names.
  private static func advised(_ advice: JSONValue?) -> [String]? {
    advised(advice?.text.map { [$0] } ?? advice?.elements.compactMap { $0.text } ?? [])
  }

  static func advised(_ texts: [String]) -> [String]? {
    var commands: [String] = []
    for text in texts {
      let parts = text.split(separator: "`", omittingEmptySubsequences: false)
      for place in parts.indices where place % 2 == 1 { commands.append(String(parts[place])) }
    }
    return commands.isEmpty ? nil : commands
  }

  /// Whether nothing leads on but a path for its output in the list, which no command can add.
  var needsOutput: Bool {
    output == nil && next?.first.flatMap { ShellLine($0).whole }?.contains("--output") == true
  }

  /// The error without what is this store's alone: stores with the same reason are one group.
  var reason: String? {
    guard tone == .failed || tone == .waiting else { return nil }
    guard let text = error.map(common), text.hasPrefix("OUTPUT: ") else { return error.map(common) }
    let said = String(text.dropFirst("OUTPUT: ".count))
    return said.hasPrefix("the output") ? said : "the output: \(said)"
  }

  /// The error of a store that is the only one of its group.
  var ownReason: String? {
    guard let text = reason, let error else { return nil }
    return text.hasPrefix("the output") ? text : Self.withoutQuestion(error)
  }

  /// The store, and with a failure its output, which may be at fault.
  var name: String { tone == .failed ? [store, output].compactMap { $0 }.joined(separator: " to ") : store }

  /// A text of this store, as it is said of several.
  private func common(_ text: String) -> String {
    let outputs = output.map { [(Self.whole($0), "OUTPUT"), ($0, "OUTPUT")] } ?? []
    // The longest one first: one may be the other's beginning.
    let paths = (outputs + [(Self.whole(store), "STORE"), (store, "STORE")]).sorted {
      $0.0.utf8.count > $1.0.utf8.count
    }
    let named = paths.reduce(text) { $0.replacing($1.0, with: $1.1) }
    // Nobody can paste a command for such a store.
    let known = Self.withoutQuestion(named == text ? text : named.replacing("`", with: ""))
    return known.replacing(/[0-9][0-9,]* (objects?|values?|links?|rows?)/) { "N \($0.1)" }
      .replacing(/process [0-9]+ on [^ ,]+, since [^ ,]+,/, with: "another process")
  }

  private static func withoutQuestion(_ text: String) -> String {
    text.firstRange(of: question).map { String(text[..<$0.lowerBound]) } ?? text
  }

  private static let question = ", did you mean "

  /// Whether the hint is about this store alone, so that others of its group have another one.
  var hasOwnHint: Bool { hint.map { common($0) != $0 } ?? false }

  /// The name that an error supposes to be meant.
  private static func meant(_ error: String) -> String? {
    guard let found = error.firstRange(of: question) else { return nil }
    return String(error[found.upperBound...].prefix { $0 != "?" })
  }

  /// The whole path of the result.
  var path: String { Self.whole(output ?? store) }

  private static func whole(_ path: String) -> String { URL(fileURLWithPath: path).path }
}
