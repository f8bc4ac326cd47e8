import Batch

/// What became of a list: a document for programs, which the text and the page show.
struct ListSummary: Encodable {
  /// Stores with the same state and the same reason.
  struct Group: Encodable {
    var state: String
    var exitCode: Int32
    var count: Int
    /// Why; of several stores without what is one's alone.
    var reason: String?
    /// Of the first store.
    var hint: String?
    /// A command for all of them.
    var next: String?
    /// Their places among the stores, from 0.
    var stores: [Int]
    var tone = ListState.Tone.waiting
    /// Whether the command would end as it did, as long as nothing is corrected.
    var isToCorrect = false
    /// Whether the hint is not about the other stores.
    var isHintOfFirst = false

    /// The hint, as a person reads it.
    var advice: String? { hint.map { isHintOfFirst ? "for the first: \($0)" : $0 } }

    /// Completes it when all its stores are known.
    fileprivate mutating func tell(of first: ListResult, by advice: ListAdvice) {
      count = stores.count
      if count == 1 { reason = first.ownReason }
      isHintOfFirst = count > 1 && first.hasOwnHint
      let command = advice.command(self, first: first)
      (next, isToCorrect) = (command?.line, command?.isToCorrect == true)
    }

    private enum CodingKeys: String, CodingKey { case state, exitCode, count, reason, hint, next, stores }
  }

  var format = 1
  var command: String
  var manifest: String
  var exitCode: Int32
  var seconds: Double
  var groups: [Group]
  var stores: [ListResult]
  /// Of plans.
  var totals: ListTotals?

  init(_ list: Manifest, words: ListWords, results: [ListResult], exitCode: Int32, seconds: Double) {
    (command, manifest, stores) = (words.verb.joined(separator: " "), list.path, results)
    (self.exitCode, self.seconds) = (exitCode, (seconds * 1000).rounded() / 1000)
    var places: [String: Int] = [:]
    groups = []
    for (index, result) in results.enumerated() {
      // Of what needs no command it makes no difference who has done it.
      let kept = [.failed, .waiting].contains(result.tone) ? result.kept : nil
      let command = kept.map { [$0.program ?? "", $0.folder, $0.verb] + $0.line } ?? []
      let key = ([result.exitCode.description, result.state, result.reason ?? ""] + command).joined(separator: "\0")
      if let place = places[key] {
        groups[place].stores.append(index)
        continue
      }
      places[key] = groups.count
      groups.append(
        Group(
          state: result.state, exitCode: result.exitCode, count: 0, reason: result.reason,
          hint: result.reason == nil ? nil : result.hint, stores: [index], tone: result.tone))
    }
    for place in groups.indices {
      groups[place].tell(of: results[groups[place].stores[0]], by: ListAdvice(list, words))
    }
    totals = command == "plan" ? ListTotals(results) : nil
    groups.sort { ($0.tone.rawValue, $1.count) < ($1.tone.rawValue, $0.count) }
  }

  func count(_ tone: ListState.Tone) -> Int { stores.count { $0.tone == tone } }

  /// All in one line.
  var headline: String {
    let counts = groups.reduce(into: [(String, Int)]()) { counts, group in
      if let place = counts.firstIndex(where: { $0.0 == group.state }) {
        counts[place].1 += group.count
      } else {
        counts.append((group.state, group.count))
      }
    }
    let what = counts.map { "\(Console.count(UInt64($0.1))) \($0.0)" }.joined(separator: ", ")
    return "\(stores.count.counted("store")): \(what)"
  }
}
