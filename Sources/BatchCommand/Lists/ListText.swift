import Batch

/// What became of a list, for a person.
struct ListText {
  /// Of a group with more stores than that the others are counted.
  private static let mostStores = 20
  private let summary: ListSummary

  init(_ summary: ListSummary) { self.summary = summary }

  var text: String {
    (["\(summary.headline), in \(Console.duration(summary.seconds))"] + (summary.totals?.lines ?? [])
      + summary.groups.flatMap(lines)).joined(separator: "\n")
  }

  /// What has to be looked at.
  var failures: String? {
    let groups = summary.groups.filter { $0.tone == .failed }
    return groups.isEmpty ? nil : groups.flatMap(lines).joined(separator: "\n")
  }

  private func lines(_ group: ListSummary.Group) -> [String] {
    let all = group.stores.map { summary.stores[$0] }
    // What would be removed is shown whole.
    let stores = all.contains { !$0.lines.isEmpty } ? all[...] : all.prefix(Self.mostStores)
    // Of what is done nobody reads a list, unless something is to be said of each.
    let isListed = group.reason != nil || group.tone == .failed || stores.contains { $0.detail != nil }
    let code = [.failed, .waiting].contains(group.tone) && group.exitCode != 0 ? " (exit code \(group.exitCode))" : ""
    var lines = ["\(group.state): \(group.count)\(code)"]
    if let text = group.reason { lines.append("  because: \(text.replacing("\n", with: "\n    "))") }
    if let advice = group.advice { lines.append("  \(advice)") }
    if isListed {
      lines += stores.flatMap { store in
        ["  \(store.name)\(store.detail.map { ": \($0)" } ?? "")"] + store.lines.map { "    \($0)" }
      }
      if group.count > stores.count { lines.append("  and \(Console.count(UInt64(group.count - stores.count))) more") }
    }
    if let next = group.next { lines.append("  \(group.isToCorrect ? "after a correction" : "to continue"): \(next)") }
    return lines
  }
}
