import Batch
import Foundation

/// How a fleet stands as one page: it needs no network and no script.
enum FleetPage {
  /// Rows of a table; a page with more is of no use to anybody, and `--json` has them all.
  private static let mostRows = 1000

  static func html(_ status: FleetStatus) -> String {
    let title = HTML.escaped("Fleet \(status.plan.prefix(12))")
    let tone = status.count(.failed) > 0 ? "failed" : isOver(status) ? "done" : "running"
    let width = status.bytes > 0 ? Int(Double(status.bytesDone) / Double(status.bytes) * 100) : 100
    let sections = [
      """
      <header class="\(tone)"><p class="badge">\(isOver(status) ? "ended" : "under way")</p><h1>\(title)</h1>\
      <p>\(HTML.escaped(FleetStatusCommand.headline(status)))</p><div class="bar"><i style="width:\(max(0, min(100, width)))%"></i></div></header>
      """,
      HTML.section("Stores", counts(status)),
      stores("Running", stores: status.all(.running)) {
        "\($0.path): \(FleetStatusCommand.percent($0.progress)), \($0.owner ?? "")"
      },
      stores("Unreadable", stores: status.all(.unreadable), what: FleetStatusCommand.why),
      stores("Failed", stores: status.all(.failed)) { "\($0.exitCode ?? 1), \(FleetStatusCommand.why($0))" },
      stores("With rejects", stores: status.all(.rejected), what: FleetStatusCommand.why),
      stores("Interrupted", stores: status.all(.interrupted), what: FleetStatusCommand.why),
      HTML.section("Tasks", tasks(status)),
      "<footer>\(HTML.escaped("Merged from \(status.state) at \(Date().ISO8601Format())"))</footer>",
    ]
    return HTML.page(title: title, style: ReportStyle.text, body: sections.joined(separator: "\n"))
  }

  private static func isOver(_ status: FleetStatus) -> Bool {
    status.count(.done) + status.count(.rejected) + status.count(.failed) == status.stores.count
  }

  private static func counts(_ status: FleetStatus) -> String {
    let rows = FleetStatus.Standing.allCases.map { "<div><dt>\($0.rawValue)</dt><dd>\(status.count($0))</dd></div>" }
    return "<dl>\(rows.joined())</dl>"
  }

  private static func stores(_ title: String, stores: [FleetStatus.Store], what: (FleetStatus.Store) -> String)
    -> String
  {
    guard !stores.isEmpty else { return "" }
    let rows = stores.prefix(mostRows).map(what)
    let rest = stores.count > mostRows ? ["and \(stores.count - mostRows) more"] : []
    return HTML.section("\(title): \(stores.count)", HTML.list(rows + rest))
  }

  private static func tasks(_ status: FleetStatus) -> String {
    var (all, over) = ([Int: Int](), [Int: Int]())
    for store in status.stores {
      all[store.shard, default: 0] += 1
      if [.done, .rejected, .failed].contains(store.standing) { over[store.shard, default: 0] += 1 }
    }
    let rows = all.sorted { $0.key < $1.key }.prefix(mostRows).map { task, count in
      "<tr><th scope=\"row\">\(task)</th><td>\(over[task] ?? 0)</td><td>\(count)</td></tr>"
    }
    return """
      <table><thead><tr><th scope="col">Task</th><th scope="col">Ended</th><th scope="col">Stores</th></tr></thead>\
      <tbody>\(rows.joined())</tbody></table>
      """
  }
}
