import Batch
import Foundation

/// What a clean did, or would do, for a person.
struct CleanText {
  private let report: MigrationJob.CleanReport
  private let isDry: Bool

  init(_ report: MigrationJob.CleanReport) { (self.report, isDry) = (report, report.dryRun == true) }

  /// Of the document that the command prints; nil if it is none.
  init?(_ document: JSONValue) {
    guard let bytes = try? JSONEncoder().encode(document),
      let report = try? JSONDecoder().decode(MigrationJob.CleanReport.self, from: bytes)
    else { return nil }
    self.init(report)
  }

  var text: String {
    let freed = "\(isDry ? "to be freed" : "freed"): \(size)"
    return (removed + report.kept.map { line("kept", $0) } + [freed]).joined(separator: "\n")
  }

  /// How a list says it of one of its stores.
  var state: ListState {
    let count = report.removed.count
    guard count == 0 else {
      return isDry
        ? ListState(ListState.wouldBeCleaned, .done, detail: "\(count) to be removed, \(size)", lines: removed)
        : ListState(ListState.cleaned, .done, detail: "\(count) removed, \(size)")
    }
    // Of backups and lists that stay nobody has to be told.
    let run = report.kept.first { item in
      [".godwit", ".godwit-import", ".godwit-postgres"].contains { item.path.hasSuffix($0) }
    }
    return run.map { ListState("kept", .nothing, detail: $0.reason) } ?? ListState(ListState.nothingToRemove, .nothing)
  }

  private var removed: [String] {
    let verb = isDry ? "would remove" : "removed"
    return report.removed.flatMap { [line(verb, $0)] + ($0.files ?? []).map { "  \($0)" } }
  }

  private var size: String { Console.size(report.removed.reduce(0) { $0 + $1.bytes }) }

  private func line(_ verb: String, _ item: MigrationJob.CleanReport.Item) -> String {
    "\(verb) \(item.path): \(item.reason); \(Console.size(item.bytes))"
  }
}
