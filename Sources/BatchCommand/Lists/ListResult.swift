import Foundation

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
  /// Not for programs: they have the exit code.
  var tone = ListState.Tone.waiting

  private enum CodingKeys: String, CodingKey {
    case store, output, exitCode, state, detail, isResumed = "resumed", seconds, error, hint, effect, next, summary,
      result
  }

  /// A store that was not begun.
  init(_ entry: Manifest.Entry) {
    (store, output, exitCode, state, seconds) = (entry.store, entry.output, ExitCodes.stopped, "not begun", 0)
  }

  mutating func take(_ outcome: StoreOutcome, _ state: ListState, isMigration: Bool) {
    (exitCode, self.state, detail, tone) = (outcome.code, state.name, state.detail, state.tone)
    // The curve of a report is long, and of a thousand stores nobody draws them.
    if isMigration { summary = outcome.document } else { result = outcome.document?.removing("curve") }
    next = Self.advised(outcome.document?["advice"])
    guard outcome.failure != nil || ![0, ExitCodes.rejects].contains(outcome.code) else { return }
    error = outcome.failure?.message ?? (outcome.said.isEmpty ? nil : outcome.said)
    (hint, effect) = (outcome.failure?.hint, outcome.failure?.effect)
    next = outcome.failure?.next ?? next
  }

  /// The commands that the advice of a status or a report names.
  private static func advised(_ advice: JSONValue?) -> [String]? {
    let texts: [String] = advice?.text.map { [$0] } ?? advice?.elements.compactMap { $0.text } ?? []
    var commands: [String] = []
    for text in texts {
      let parts = text.split(separator: "`", omittingEmptySubsequences: false)
      for place in parts.indices where place % 2 == 1 { commands.append(String(parts[place])) }
    }
    return commands.isEmpty ? nil : commands
  }

  /// The error without what is this store's alone: stores with the same reason are one group.
  var reason: String? {
    guard tone == .failed || tone == .waiting else { return nil }
    return error.map(common)
  }

  /// A text of one store, as it is said of several.
  func common(_ text: String) -> String {
    let named = [path, output, store].compactMap { $0 }.reduce(text) { $0.replacing($1, with: "STORE") }
    let known = named.firstRange(of: ", did you mean").map { String(named[..<$0.lowerBound]) } ?? named
    return known.replacing(/[0-9][0-9,]* (objects?|values?|links?|rows?)/) { "N \($0.1)" }
  }

  /// The whole path of the result.
  var path: String { URL(fileURLWithPath: output ?? store).path }
}
