import Batch
import Foundation

/// A report as one page: it needs no network and no script, and asks for nothing.
struct ReportPage {
  private let report: RunReport
  private let words: ReportWords

  static func html(_ report: RunReport) -> String {
    let page = ReportPage(report: report, words: ReportWords(report: report))
    let title = HTML.escaped("\(URL(fileURLWithPath: report.destination).lastPathComponent): \(page.words.outcome)")
    return HTML.page(
      title: title, style: SplitDrawing.style + ReportStyle.text, body: page.sections.joined(separator: "\n"))
  }

  private var sections: [String] {
    [
      head, HTML.section("Path", PathDrawing.svg(report.path)), HTML.section("Entities", entities),
      HTML.section("Tables", table(words.tables)),
      HTML.section("Over time", over),
      HTML.section("Rows", table(words.tallies)), HTML.section("Rejects", rejects), HTML.section("Verification", proof),
      HTML.section("Settings", table(report.settings.map { ($0.name, $0.value) })),
      HTML.section("Notes", HTML.list(report.notes)),
      HTML.section("Problems", HTML.list(report.problems)), foot,
    ]
  }

  private var head: String {
    let bar =
      [.done, .doneWithRejects, .rolledBack].contains(report.outcome)
      ? "" : "<div class=\"bar\"><i style=\"width:\(Int(max(0, min(1, report.done)) * 100))%\"></i></div>"
    let reason = report.reason.map { HTML.element("p", classes: "reason", content: HTML.escaped($0)) } ?? ""
    let advice = report.advice.map { HTML.element("p", classes: "advice", content: HTML.escaped($0)) }.joined()
    return """
      <header class="\(tone)"><p class="badge">\(words.outcome)</p><h1>\(HTML.escaped(words.headline))</h1>\(bar)\(reason)\
      \(advice)</header><section>\(table(words.figures))</section>
      """
  }

  private var tone: String {
    if report.outcome != .rolledBack, report.present?.isGone == true { return "failed" }
    return words.isInterrupted ? RunReport.Outcome.stopped.rawValue : report.outcome.rawValue
  }

  private func table(_ rows: [(String, String)]) -> String {
    guard !rows.isEmpty else { return "" }
    let lines = rows.map { "<div><dt>\(HTML.escaped($0.0))</dt><dd>\(HTML.escaped($0.1))</dd></div>" }
    return "<dl>\(lines.joined())</dl>"
  }

  private var entities: String {
    guard !report.entities.isEmpty else { return "" }
    let most = Double(max(1, report.entities.map { max($0.before?.bytes ?? 0, $0.after?.bytes ?? 0) }.max() ?? 1))
    let rows = report.entities.map { entity in
      let sides = [("before", entity.before), ("after", entity.after)].map { name, size in
        let width = Self.number(Double(size?.bytes ?? 0) / most * 100)
        return size == nil ? "" : "<div class=\"size \(name)\"><i style=\"width:\(width)%\"></i></div>"
      }
      return "<tr><th scope=\"row\">\(HTML.escaped(entity.name))\(sides.joined())</th>"
        + pair(words.rows(entity.before), words.rows(entity.after))
        + pair(words.bytes(entity.before), words.bytes(entity.after))
        + "</tr>"
    }
    let then = report.present?.isGone == true ? "after" : "now"
    return """
      <table><thead><tr><th scope="col">Entity</th><th scope="col">Rows before, \(then)</th><th scope="col">Bytes before, \(then)</th></tr></thead>\
      <tbody>\(rows.joined())</tbody></table><p class="small">Bytes, and rows marked ≈, are estimated from a sample of pages. \
      Bars: <i class="key before"></i> before, <i class="key after"></i> \(then).</p>
      """
  }

  private func pair(_ before: String?, _ after: String?) -> String {
    let now = report.ended == nil ? "…" : after ?? "–"
    return "<td><span>\(short(before ?? "–"))</span> <span>\(short(now))</span></td>"
  }

  private func short(_ text: String) -> String { HTML.escaped(text.replacing("about ", with: "≈ ")) }

  private static func number(_ value: Double) -> String { "\(Double(Int(max(0, min(100, value)) * 10)) / 10)" }

  private var over: String { report.started == nil ? "" : ReportCharts(words).html }

  private var rejects: String {
    guard let rejects = report.rejects else { return "" }
    let list = HTML.list(
      rejects.groups.map { $0.map(words.rejects) }
        ?? rejects.first.map { "step \($0.step), \($0.mapping): \($0.entity) \($0.key): \($0.reason)" })
    let count =
      "\(rejects.count.counted("object")) could not be migrated, and \(rejects.count.verb("was", "were")) rejected. They are listed in \(rejects.path)"
    let replay = rejects.replay.map {
      HTML.element("p", classes: "", content: "After a fix, migrate all objects again:")
        + HTML.element("pre", classes: "", content: HTML.escaped($0))
    }
    return HTML.element("p", classes: "", content: HTML.escaped(count)) + list + (replay ?? "")
  }

  private var proof: String {
    words.proof.map { HTML.element("p", classes: "", content: HTML.escaped($0)) }.joined()
      + HTML.list(report.proof?.warnings ?? [])
  }

  private var foot: String {
    HTML.element(
      "footer", classes: "", content: "Made by \(HTML.escaped(Program.name)) \(Program.version)")
  }
}
