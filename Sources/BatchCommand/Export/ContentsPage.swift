import Batch
import Foundation
import Streams

/// A comparison of two stores as one page: it needs no network and no script. It shows the first changes of each entity.
final class ContentsPage {
  /// A page is to be read by a person, who may ask for more.
  static let mostOfEntity: UInt64 = 200
  static let mostOfAll: UInt64 = 5000

  private static let style = """
    .added{color:var(--ok)}.removed{color:var(--bad)}.changed,.moved{color:var(--warn)}.change{border-top:1px solid var(--rule);padding:8px 0}\
    .change h3{font-size:14px;margin:0 0 4px}.change dl div{grid-template-columns:minmax(90px,220px) minmax(0,1fr)}\
    .change dd{font-family:ui-monospace,monospace;font-size:13px}.was{color:var(--soft);text-decoration:line-through}
    """

  private let path: String
  private let old: String
  private let new: String
  private let limit: UInt64?
  private let spool: SectionSpool
  private var counts: [String: UInt64] = [:]
  private var shown: UInt64 = 0

  /// `limit` takes the place of the two that a page has by itself.
  init(_ path: String, old: String, new: String, limit: UInt64?) throws {
    (self.path, self.old, self.new, self.limit) = (path, old, new, limit)
    spool = try Self.telling(path) { try SectionSpool(beside: path) }
  }

  func add(_ change: ContentsChange) throws {
    let count = counts[change.entity] ?? 0
    guard shown < limit ?? Self.mostOfAll, limit != nil || count < Self.mostOfEntity else { return }
    var short = change
    short.values = change.values.prefix(40).map { value in
      .init(name: value.name, old: value.old.map(Self.short), new: value.new.map(Self.short))
    }
    try Self.telling(path) { try spool.add(Self.change(short), to: change.entity) }
    counts[change.entity] = count + 1
    shown += 1
  }

  private static func telling<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch { throw ReportFile.unwritten(path, error) }
  }

  private static func short(_ json: String) -> String { json.count <= 300 ? json : json.prefix(300) + "…" }

  /// Writes the page; a file of that name is replaced when it is whole. Nothing else is left where that fails.
  func write(_ summary: ContentsDifference.Summary) throws {
    let files = LocalFileSystem()
    try Self.telling(path) {
      do { try files.writeDurably(to: path) { try write(summary, to: $0) } } catch {
        try? files.remove(path + ".new")
        throw error
      }
    }
  }

  private func write(_ summary: ContentsDifference.Summary, to sink: ([UInt8]) throws -> Void) throws {
    let names = [old, new].map { HTML.escaped(URL(fileURLWithPath: $0).lastPathComponent) }
    let title = "\(names[0]) to \(names[1])"
    let total = summary.counts.values.reduce(0) { $0 + $1.differences }
    let headline = total == 0 ? ContentsText.equal(summary) : total.counted("difference")
    let (head, end) = HTML.frame(title: title, style: ReportStyle.text + Self.style)
    let beginning = """
      <header class="\(total == 0 ? "done" : "stopped")"><p class="badge">\(headline)</p><h1>\(title)</h1>\
      <p class="advice">\(HTML.escaped(old))<br>\(HTML.escaped(new))</p></header>
      \(entities(summary))

      """
    try sink(Array((head + beginning).utf8))
    for entity in counts.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      try sink(Array("<section><h2>\(HTML.escaped(entity))</h2>".utf8))
      try spool.write(entity, to: sink)
      try sink(Array("\(more(entity, summary))</section>\n".utf8))
    }
    try sink(Array((HTML.section("Notes", HTML.list(summary.notes)) + end).utf8))
  }

  private func entities(_ summary: ContentsDifference.Summary) -> String {
    let rows = summary.counts.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { name, count in
      "<div><dt>\(HTML.escaped(name))</dt><dd>\(HTML.escaped(ContentsText.words(count)))</dd></div>"
    }
    return "<section><h2>Entities</h2><dl>\(rows.joined())</dl></section>"
  }

  /// What of an entity is not shown.
  private func more(_ entity: String, _ summary: ContentsDifference.Summary) -> String {
    let (all, shown) = (summary.counts[entity]?.differences ?? 0, counts[entity] ?? 0)
    guard all > shown else { return "" }
    return "<p class=\"small\">and \(Console.count(all - shown)) more, which a larger --limit shows</p>"
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
