import Batch
import Foundation

/// A report for a terminal.
struct ReportText {
  private let words: ReportWords
  private let report: RunReport
  private var lines: [String] = []

  static func text(_ report: RunReport) -> String {
    var text = ReportText(report)
    text.add()
    return text.lines.joined(separator: "\n")
  }

  private init(_ report: RunReport) { (self.report, words) = (report, ReportWords(report: report)) }

  private mutating func add() {
    lines.append("\(words.outcome.uppercased()): \(words.headline)")
    if let reason = report.reason { lines.append("  \(ReportWords.plain(reason))") }
    lines += report.advice.map { "  \(ReportWords.plain($0))" }
    lines += words.figures.map { name, value in "  \(name.padding(toLength: 13, withPad: " ", startingAt: 0))\(value)" }
    addPath()
    addEntities()
    add("tables: rows", words.tables.map { "\($0): \($1)" })
    add("rows", words.tallies.map { ReportWords.plain("\($0): \($1)") })
    add("interruptions", report.interruptions.map(words.interruption))
    if let rejects = report.rejects {
      add(
        "rejects: \(Console.count(rejects.count)), in \(ReportWords.plain(rejects.path))",
        rejects.groups.map { $0.map(words.rejects) } ?? rejects.first.prefix(10).map(Self.line))
    }
    add("verification", words.proof + (report.proof?.warnings.map { "  " + ReportWords.plain($0) } ?? []))
    add("settings", report.settings.map { ReportWords.plain("\($0.name): \($0.value)") })
    add("notes", report.notes.map(ReportWords.plain))
    add("problems", report.problems.map(ReportWords.plain))
    if let replay = report.rejects?.replay {
      lines.append("after a fix, migrate all objects again: \(ReportWords.plain(replay))")
    }
  }

  private mutating func add(_ title: String, _ texts: [String]) {
    guard !texts.isEmpty else { return }
    lines += [title] + texts.map { "  " + $0 }
  }

  private mutating func addPath() {
    add(
      "path",
      report.path.enumerated().flatMap { index, step in
        let passed = step.passed.isEmpty ? "" : " over \(step.passed.count.counted("version"))"
        let kind = step.isInferred ? "inferred" : "mapped"
        return [
          "\(index + 1). \(ReportWords.plain(step.source)) to \(ReportWords.plain(step.destination))\(passed), \(kind)"
        ]
          + step.mappings.filter { _ in !step.isInferred }.map { mapping in
            let policies = mapping.policies.isEmpty ? "" : "; \(mapping.policies.joined(separator: ", "))"
            return ReportWords.plain(
              "   \(mapping.name): \(mapping.count.counted("entity mapping"))\(policies)")
          }
      })
  }

  private mutating func addEntities() {
    add(
      "entities: rows and bytes before and \(words.then); bytes are estimated from a sample of pages",
      report.entities.map { entity in
        func side(_ size: RunHistory.Size?) -> String {
          guard let rows = words.rows(size) else { return "none" }
          return rows + (words.bytes(size).map { " (\($0))" } ?? "")
        }
        return
          "\(ReportWords.plain(entity.name)): \(side(entity.before)), \(report.ended == nil ? "not finished" : side(entity.after))"
      })
  }

  private static func line(_ reject: RunReport.Reject) -> String {
    ReportWords.plain("step \(reject.step), \(reject.mapping): \(reject.entity) \(reject.key): \(reject.reason)")
  }
}
