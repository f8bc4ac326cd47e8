import Batch

/// What was taken of a store, for a person.
struct ExcerptText {
  private let summary: StoreExcerpt.Summary

  init(_ summary: StoreExcerpt.Summary) { self.summary = summary }

  func text(of output: String, from store: String) -> String {
    let counts = summary.objects.values
    let (taken, all) = (counts.reduce(0) { $0 + $1.taken }, counts.reduce(0) { $0 + $1.inStore })
    var lines = ["\(output): \(Console.count(taken)) of the \(all.counted("object")) of \(store)"]
    lines += summary.objects.sorted { $0.key < $1.key }.map { "  \($0.key): \(Self.line($0.value))" }
    if summary.links > 0 { lines.append("  links: \(Console.count(summary.links))") }
    if summary.externalFiles > 0 {
      lines.append("  external files: \(Console.count(summary.externalFiles)) beside the store")
    }
    if !summary.leftOut.isEmpty {
      lines.append("  left out, as the other end is not taken:")
      lines += summary.leftOut.sorted { $0.key < $1.key }.map { "    \($0.key): \($0.value.counted("link"))" }
    }
    return (lines + summary.notes.map { "note: \($0)" }).joined(separator: "\n")
  }

  private static func line(_ count: StoreExcerpt.Count) -> String {
    let share = "\(Console.count(count.taken)) of \(Console.count(count.inStore))"
    guard count.led > 0 else { return share }
    return "\(share), \(Console.count(count.led)) only because others lead to \(count.led == 1 ? "it" : "them")"
  }
}
