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
    let stores = group.stores.prefix(Self.mostStores).map { summary.stores[$0] }
    // Of what is done nobody reads a list, unless something is to be said of each.
    let isListed = group.reason != nil || group.tone == .failed || stores.contains { $0.detail != nil }
    let code = [.failed, .waiting].contains(group.tone) && group.exitCode != 0 ? " (exit code \(group.exitCode))" : ""
    var lines = ["\(group.state): \(group.count)\(code)"]
    if let reason = group.reason { lines.append("  because: \(reason)") }
    if let hint = group.hint { lines.append("  \(hint)") }
    if isListed {
      lines += stores.map { "  \($0.name)\($0.detail.map { ": \($0)" } ?? "")" }
      if group.count > stores.count { lines.append("  and \(Console.count(UInt64(group.count - stores.count))) more") }
    }
    if let next = group.next { lines.append("  \(group.isToCorrect ? "after a correction" : "to continue"): \(next)") }
    return lines
  }
}
