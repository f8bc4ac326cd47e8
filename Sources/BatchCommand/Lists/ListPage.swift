import Batch
import Foundation

/// What became of a list as one page: it needs no network, and its only script sorts the table.
struct ListPage {
  private let summary: ListSummary

  static func html(_ summary: ListSummary) -> String {
    let page = ListPage(summary: summary)
    let title = HTML.escaped("\(URL(fileURLWithPath: summary.manifest).lastPathComponent): \(summary.headline)")
    return HTML.page(
      title: title, style: ReportStyle.text + style,
      body: [page.head, page.groups, page.table, page.foot].joined(separator: "\n"), script: script)
  }

  private var head: String {
    let (tone, badge) = verdict
    let parts = ListState.Tone.allCases.filter { summary.count($0) > 0 }.map {
      "<i class=\"t-\($0)\" style=\"flex:\(summary.count($0))\"></i>"
    }
    return """
      <header class="\(tone)"><p class="badge">\(badge)</p><h1>\(HTML.escaped(summary.headline))</h1>\
      <div class="parts">\(parts.joined())</div><p class="small">\(HTML.escaped(summary.manifest))</p></header>
      """
  }

  /// A style, and a word or two: of the stores that say most.
  private var verdict: (tone: String, badge: String) {
    let failed = summary.count(.failed)
    if failed > 0 { return ("failed", "\(failed.grouped) failed") }
    if summary.count(.waiting) > 0 { return ("stopped", "stopped") }
    if summary.count(.running) > 0 { return ("running", "running") }
    if summary.count(.done) > 0 { return ("done", "done") }
    return ("t-nothing", summary.groups.count == 1 ? summary.groups[0].state : "nothing to do")
  }

  /// What has to be looked at, with what leads on.
  private var groups: String {
    let groups = summary.groups.filter { $0.tone == .failed || $0.tone == .waiting }
    guard !groups.isEmpty else { return "" }
    let cards = groups.map { group in
      let texts = [group.reason, group.advice].compactMap { $0 }.map {
        HTML.element("p", classes: "", content: HTML.escaped($0))
      }
      let next = group.next.map { HTML.element("pre", classes: "", content: HTML.escaped($0)) } ?? ""
      let names = group.stores.prefix(10).map { HTML.escaped(summary.stores[$0].name) }.joined(separator: ", ")
      let more = group.count > 10 ? " and \(Console.count(UInt64(group.count - 10))) more" : ""
      return """
        <article class="t-\(group.tone)"><h3>\(HTML.escaped(group.state)): \(Console.count(UInt64(group.count)))</h3>\
        \(texts.joined())<p class="small">\(names)\(more)</p>\(next)</article>
        """
    }
    return "<section><h2>To look at</h2>\(cards.joined())</section>"
  }

  private var table: String {
    let heads = ["Store", "State", "Versions", "Began", "Time", "Rows", "Size"]
    let cells = heads.enumerated().map { place, name in
      "<th scope=\"col\"><button data-c=\"\(place)\">\(name)</button></th>"
    }
    let order = summary.stores.indices.sorted {
      (summary.stores[$0].tone.rawValue, $0) < (summary.stores[$1].tone.rawValue, $1)
    }
    return """
      <section><h2>Stores</h2><table class="stores"><thead><tr>\(cells.joined())</tr></thead>
      <tbody>\(order.map { row(summary.stores[$0]) }.joined(separator: "\n"))</tbody></table></section>
      """
  }

  private func row(_ result: ListResult) -> String {
    let (report, path) = (result.result, result.output ?? result.store)
    let versions = report?["sourceVersion"]?.text.map { "\($0) → \(report?["targetVersion"]?.text ?? "")" }
    let seconds = report?["seconds"]?.double
    let (rows, size) = (report?["rowsRead"]?.count, Self.size(result))
    // Of one that nobody tried the time is the list's.
    let began = result.state == ListState.notBegun ? nil : result.time ?? report?["started"]?.text
    let name = URL(fileURLWithPath: path).lastPathComponent
    let folder = path.dropLast(name.count)
    let detail = result.tone == .nothing ? nil : result.time == nil ? result.detail ?? result.error : result.error
    func cell(_ label: String, _ text: String?, by key: Double? = nil) -> String {
      let order = key.map { " data-v=\"\($0)\"" } ?? ""
      guard let text else { return "<td\(order)></td>" }
      return "<td data-l=\"\(label)\"\(order)>\(HTML.escaped(text))</td>"
    }
    return """
      <tr class="t-\(result.tone)"><th scope="row">\(HTML.escaped(name))<small>\(HTML.escaped(String(folder)))</small></th>\
      <td class="state" data-v="\(result.tone.rawValue)"><b>\(HTML.escaped(result.state))</b>\
      \(detail.map { "<small>\(HTML.escaped($0))</small>" } ?? "")</td>\
      \(cell("Versions", versions))\(cell("Began", began.map(ReportWords.time)))\
      \(cell("Time", seconds.map(Self.time), by: seconds ?? -1))\
      \(cell("Rows", rows.map { Console.count($0) }, by: rows.map { Double($0) } ?? -1))\
      \(cell("Size", size.map(Console.size), by: size.map { Double($0) } ?? -1))</tr>
      """
  }

  /// Of the store that is there now.
  private static func size(_ result: ListResult) -> UInt64? {
    let (before, after) = (result.result?["bytesBefore"]?.count, result.result?["bytesAfter"]?.count)
    return result.state == StandingDocument.rolledBack ? before : after ?? before
  }

  private static func time(_ seconds: Double) -> String {
    seconds < 10 ? "\(Double(Int(max(0, seconds) * 100)) / 100) s" : Console.duration(seconds)
  }

  private var foot: String {
    "<footer>Made by \(HTML.escaped(Program.name)) \(Program.version). Click a heading to sort.</footer>"
  }

  private static let script = """
    document.querySelectorAll('.stores thead button').forEach(function(b){b.onclick=function(){\
    var c=+b.dataset.c,t=b.closest('table').tBodies[0],h=b.parentNode,up=h.getAttribute('aria-sort')!='ascending';\
    function v(r){var d=r.cells[c];return d.dataset.v===undefined?d.textContent:+d.dataset.v}\
    var a=[].slice.call(t.rows).map(function(r){return[v(r),r]});\
    a.sort(function(x,y){var p=x[0],q=y[0];return(p<q?-1:p>q?1:0)*(up?1:-1)});\
    a.forEach(function(x){t.appendChild(x[1])});\
    b.closest('tr').querySelectorAll('th').forEach(function(o){o.removeAttribute('aria-sort')});\
    h.setAttribute('aria-sort',up?'ascending':'descending')}})
    """

  private static let style = """
    main{max-width:1120px}.t-failed{--tone:var(--bad)}.t-waiting{--tone:var(--warn)}.t-running{--tone:var(--busy)}\
    .t-done{--tone:var(--ok)}.t-nothing{--tone:var(--soft)}
    .parts{display:flex;gap:2px;height:8px;margin:8px 0;border-radius:4px;overflow:hidden}.parts i{background:var(--tone);min-width:3px}
    article{border-left:4px solid var(--tone);padding:2px 0 2px 14px;margin:0 0 18px}h3{font-size:15px;margin:0}pre{overflow-x:auto}
    .stores th:first-child{width:auto}.stores td{white-space:normal}.stores .state{text-align:left}.stores .state b{color:var(--tone);font-weight:600}
    .stores small{display:block;color:var(--soft);font-size:12px;font-weight:400}
    .stores td:nth-child(n+4){white-space:nowrap}.stores thead th:nth-child(2){text-align:left}
    thead button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer}thead button:hover{color:var(--ink)}
    [aria-sort] button{color:var(--ink);font-weight:600}[aria-sort=ascending] button::after{content:' ↑'}[aria-sort=descending] button::after{content:' ↓'}
    tbody tr{content-visibility:auto;contain-intrinsic-size:auto 44px}
    @media (max-width:760px){.stores,.stores tbody,.stores tr,.stores th,.stores td{display:block;width:auto;text-align:left}\
    .stores thead{display:block}.stores thead tr{display:flex;flex-wrap:wrap;gap:4px 14px}.stores thead th{border:0;padding:0 0 8px}\
    .stores tbody tr{border-left:4px solid var(--tone);padding:6px 0 6px 12px;margin-bottom:10px}\
    .stores tbody th,.stores tbody td{border:0;padding:0}.stores td:empty{display:none}\
    .stores td[data-l]{display:inline-block;margin-right:14px;font-size:13px}.stores td[data-l]::before{content:attr(data-l) ' ';color:var(--soft)}}
    @media print{main{max-width:none}thead button{color:#444}tbody tr{content-visibility:visible}}
    """
}
