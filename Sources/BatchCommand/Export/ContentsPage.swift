import Batch
import Foundation
import Streams

/// A comparison of two stores as one page: it needs no network and no script. It shows the first changes of each entity.
struct ContentsPage {
  /// A page is to be read by a person.
  private static let mostOfEntity = 200
  private static let mostOfAll = 5000

  private static let style = """
    .added{color:var(--ok)}.removed{color:var(--bad)}.changed,.moved{color:var(--warn)}.change{border-top:1px solid var(--rule);padding:8px 0}\
    .change h3{font-size:14px;margin:0 0 4px}.change dl div{grid-template-columns:minmax(90px,220px) minmax(0,1fr)}\
    .change dd{font-family:ui-monospace,monospace;font-size:13px}.was{color:var(--soft);text-decoration:line-through}
    """

  private let old: String
  private let new: String
  private var changes: [String: [ContentsChange]] = [:]
  private var shown = 0

  init(old: String, new: String) { (self.old, self.new) = (old, new) }

  mutating func add(_ change: ContentsChange) {
    guard shown < Self.mostOfAll, changes[change.entity]?.count ?? 0 < Self.mostOfEntity else { return }
    var short = change
    short.values = change.values.prefix(40).map { value in
      .init(name: value.name, old: value.old.map(Self.short), new: value.new.map(Self.short))
    }
    changes[change.entity, default: []].append(short)
    shown += 1
  }

  private static func short(_ json: String) -> String { json.count <= 300 ? json : json.prefix(300) + "…" }

  /// Writes the page; a file of that name is replaced when it is whole.
  func write(to path: String, _ summary: ContentsDifference.Summary) throws {
    try LocalFileSystem().writeDurably(Array(html(summary).utf8), to: path)
  }

  private func html(_ summary: ContentsDifference.Summary) -> String {
    let names = [old, new].map { HTML.escaped(URL(fileURLWithPath: $0).lastPathComponent) }
    let title = "\(names[0]) to \(names[1])"
    let total = summary.counts.values.reduce(0) { $0 + $1.differences }
    let headline = total == 0 ? ContentsText.equal(summary) : total.counted("difference")
    let body = """
      <header class="\(total == 0 ? "done" : "stopped")"><p class="badge">\(headline)</p><h1>\(title)</h1>\
      <p class="advice">\(HTML.escaped(old))<br>\(HTML.escaped(new))</p></header>
      \(counts(summary))
      \(sections(summary).joined(separator: "\n"))
      \(HTML.section("Notes", HTML.list(summary.notes)))
      """
    return HTML.page(title: title, style: ReportStyle.text + Self.style, body: body)
  }

  private func counts(_ summary: ContentsDifference.Summary) -> String {
    let rows = summary.counts.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { name, count in
      "<div><dt>\(HTML.escaped(name))</dt><dd>\(HTML.escaped(ContentsText.words(count)))</dd></div>"
    }
    return "<section><h2>Entities</h2><dl>\(rows.joined())</dl></section>"
  }

  private func sections(_ summary: ContentsDifference.Summary) -> [String] {
    changes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { entity, list in
      let count = summary.counts[entity] ?? ContentsCount()
      let left = count.differences - min(count.differences, UInt64(list.count))
      let more = left > 0 ? "<p class=\"small\">and \(Console.count(left)) more, which --json lists</p>" : ""
      return "<section><h2>\(HTML.escaped(entity))</h2>\(list.map(Self.change).joined())\(more)</section>"
    }
  }

  private static func change(_ change: ContentsChange) -> String {
    let values = change.values.map { value in
      let parts = [
        value.old.map { "<span class=\"was\">\(HTML.escaped($0))</span>" }, value.new.map { HTML.escaped($0) },
      ].compactMap { $0 }
      return "<div><dt>\(HTML.escaped(value.name))</dt><dd>\(parts.joined(separator: " "))</dd></div>"
    }
    let kind = change.kind.rawValue
    return """
      <div class="change"><h3><span class="\(kind)">\(kind)</span> \(HTML.escaped(ContentsText.name(change)))</h3>\
      <dl>\(values.joined())</dl></div>
      """
  }
}
