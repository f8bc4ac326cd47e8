import Batch

/// Throughput and memory over the time of the processes, drawn without text: a drawing is stretched to the width of the page,
/// and text is not.
struct ReportCharts {
  /// What is shown of every point, one below the other.
  private struct Trace {
    var title: String
    var style: String
    var values: [Double]
    var limit: Double?
    var text: (Double) -> String
  }

  private enum Phase: String, CaseIterable {
    case rows, changes, indexes, proof, waiting

    init(_ point: RunReport.Point) {
      self =
        point.paused || point.activity == RunPhase.waiting
        ? .waiting
        : point.activity.hasPrefix("verification")
          ? .proof : point.activity == "late changes" ? .changes : point.activity.hasPrefix("index") ? .indexes : .rows
    }
  }

  private let words: ReportWords
  private let report: RunReport
  private var total: Double { report.curve.last?.seconds ?? 0 }

  init(_ words: ReportWords) { (self.words, report) = (words, words.report) }

  /// The section's contents.
  var html: String {
    guard report.curve.count > 2, total > 0 else {
      let some = report.interruptions.isEmpty ? "" : HTML.element("p", classes: "", content: words.interruptions)
      return HTML.element("p", classes: "", content: "The run was too short for a curve.") + some + interruptions
    }
    let traces = [
      Trace(title: "Rows read per second", style: "rows", values: report.curve.map(\.rowsPerSecond)) {
        Console.count(UInt64(min($0, 1e18)))
      },
      Trace(title: "Bytes written per second", style: "bytes", values: report.curve.map(\.bytesPerSecond)) {
        Console.size(UInt64(min($0, 1e18)))
      },
      Trace(
        title: "Resident memory", style: "memory", values: report.curve.map { Double($0.memory) },
        limit: report.memoryLimit.map { Double($0) }
      ) { Console.size(UInt64(min($0, 1e18))) },
    ]
    return traces.map(figure).joined() + phases + axis + legend
  }

  private func figure(_ trace: Trace) -> String {
    let peak = trace.values.max() ?? 0
    let top = max(peak, trace.limit ?? 0, 1)
    let limit = trace.limit.map { ", \(trace.text($0)) allowed" } ?? ""
    let caption = "\(trace.title)<span>\(HTML.escaped("up to \(trace.text(peak))\(limit)"))</span>"
    let line = zip(report.curve, trace.values).map { "L\(x($0.seconds)) \(y($1 / top))" }.joined()
    let start = "M0 \(y((trace.values.first ?? 0) / top))"
    let border = trace.limit.map { "<path class=\"limit\" d=\"M0 \(y($0 / top))H1000\"/>" } ?? ""
    return """
      <figure><figcaption>\(caption)</figcaption><svg class="chart" viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" \
      aria-label="\(trace.title)"><path class="ground" d="M0 50H1000M0 100H1000"/>\
      <path class="area \(trace.style)" d="\(start)\(line)V100H0z"/><path class="trace \(trace.style)" d="\(start)\(line)"/>\
      \(border)\(cuts(100))</svg></figure>
      """
  }

  private func x(_ seconds: Double) -> String { Self.number(seconds / total * 1000) }
  private func y(_ part: Double) -> String { Self.number(100 - 96 * part) }
  private static func number(_ value: Double) -> String { "\(Double(Int(max(-1, min(value, 1001)) * 10)) / 10)" }

  /// Where processes ended.
  private func cuts(_ height: Int) -> String {
    let places = report.interruptions.filter { $0.seconds <= total }
    guard !places.isEmpty else { return "" }
    return "<path class=\"cut\" d=\"\(places.map { "M\(x($0.seconds)) 0V\(height)" }.joined())\"/>"
  }

  /// What was done when, and where checkpoints were published.
  private var phases: String {
    var bars = ""
    var (start, phase) = (0.0, report.curve.first.map(Phase.init) ?? .rows)
    for (index, point) in report.curve.enumerated() {
      let next = index + 1 < report.curve.count ? Phase(report.curve[index + 1]) : nil
      guard next != phase else { continue }
      bars +=
        "<rect class=\"p-\(phase)\" x=\"\(x(start))\" y=\"0\" width=\"\(Self.number((point.seconds - start) / total * 1000))\" height=\"12\"/>"
      (start, phase) = (point.seconds, next ?? phase)
    }
    // More than so many would be one band.
    let places = report.curve.filter { $0.checkpoints > 0 }
    let stride = max(1, (places.count + 149) / 150)
    let marks = places.indices.filter { $0 % stride == 0 }.map { "M\(x(places[$0].seconds)) 15V22" }.joined()
    return """
      <figure><svg class="strip" viewBox="0 0 1000 22" preserveAspectRatio="none" role="img" aria-label="Phases over time">\
      \(bars)<path class="mark" d="\(marks)"/>\(cuts(22))</svg></figure>
      """
  }

  private var axis: String {
    "<div class=\"axis\"><span>0</span><span>\(words.duration(total / 2))</span><span>\(words.duration(total))</span></div>"
  }

  private var legend: String {
    let seen = Set(report.curve.map(Phase.init))
    var entries = Phase.allCases.filter(seen.contains).map { phase in
      let name =
        switch phase {
        case .rows: "rows and links"
        case .changes: "late changes"
        case .indexes: "indexes"
        case .proof: "verification"
        case .waiting: "waiting"
        }
      return "<span><i class=\"p-\(phase)\"></i>\(name)</span>"
    }
    if report.checkpoints > 0 {
      entries.append("<span><i class=\"k-mark\"></i>\(report.checkpoints.counted("checkpoint"))</span>")
    }
    if !report.interruptions.isEmpty {
      entries.append("<span><i class=\"k-cut\"></i>\(words.interruptions)</span>")
    }
    return "<div class=\"legend\">\(entries.joined())</div>" + interruptions
  }

  private var interruptions: String { HTML.list(report.interruptions.prefix(20).map(words.interruption)) }
}
