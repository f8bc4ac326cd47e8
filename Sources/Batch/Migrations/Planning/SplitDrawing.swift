import Codecs
import CoreDataModel
import Streams

/// Draws the parts of a plan's steps: what waits stands to the right of what it waits for.
public struct SplitDrawing {
  private let steps: [(title: String, split: MappingSplit)]

  /// Draws the steps of a plan, one below the other.
  public init(_ plan: MigrationPlan) {
    self.init(zip(plan.steps, plan.splits).map { ("\($0.origin.name) to \($0.destination.name)", $1) })
  }

  init(_ steps: [(title: String, split: MappingSplit)]) { self.steps = steps }

  /// A text for graphviz: a cluster a step, a node a part, an edge a finished look-up.
  public var dot: String {
    var lines = ["digraph parts {", "  rankdir=LR;", "  node [shape=box, fontname=\"sans-serif\"];"]
    for (index, step) in steps.enumerated() {
      lines.append("  subgraph cluster_\(index + 1) {")
      lines.append("    label=\(Self.quoted("step \(index + 1): \(step.title)"));")
      for part in step.split.parts {
        let names = part.entityMappings.map(Self.escaped).joined(separator: "\\n")
        lines.append("    s\(index + 1)p\(part.number) [label=\"part \(part.number)\\n\(names)\"];")
      }
      for part in step.split.parts {
        for read in part.reads {
          let (from, to) = ("s\(index + 1)p\(read.part)", "s\(index + 1)p\(part.number)")
          lines.append("    \(from) -> \(to) [label=\(Self.quoted(read.entity))];")
        }
      }
      lines.append("  }")
    }
    return (lines + ["}"]).joined(separator: "\n") + "\n"
  }

  private static func escaped(_ text: String) -> String {
    text.replacing(["\\": "\\\\", "\"": "\\\"", "\n": " ", "\r": " "])
  }

  private static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

  /// A picture for light and dark pages. Throws `badModel` for names with characters that XML cannot hold.
  public var svg: String {
    get throws {
      var (body, width, y): ([String], Int, Int) = ([], 400, 16)
      for (index, step) in steps.enumerated() {
        let layers = SplitLayers(step.split)
        let title = try XMLText.escaped("step \(index + 1): \(step.title)")
        body.append("<text class=\"title\" x=\"16\" y=\"\(y + 16)\">\(title)</text>")
        body += try layers.elements(below: y + 32)
        width = max(width, layers.width)
        y += 32 + layers.height + 32
      }
      return """
        <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(y)" viewBox="0 0 \(width) \(y)">
        <style>\(Self.style)</style>
        \(Self.tip)
        <rect class="page" width="100%" height="100%"/>
        \(body.joined(separator: "\n"))
        </svg>

        """
    }
  }

  /// The tip of a way, which other drawings have, too.
  public static let tip = """
    <defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">\
    <path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>
    """

  /// How drawings look on light and dark pages.
  public static let style = """
    .title{font:600 15px sans-serif;fill:#222}.head{font:600 12px sans-serif;fill:#222}.line{font:12px sans-serif;fill:#444}
    .box{fill:#f4f6fa;stroke:#7a8699}.way{fill:none;stroke:#2f6fd0;stroke-width:1.5}.tip{fill:#2f6fd0}.page{fill:#fff}
    @media (prefers-color-scheme:dark){.page{fill:#16181d}.title,.head{fill:#eee}.line{fill:#c4c9d2}.box{fill:#23272f;\
    stroke:#6b7585}.way{stroke:#7fb0ff}.tip{fill:#7fb0ff}}
    """
}

/// Where the boxes of one step stand: in columns by how long the chain of parts before them is.
private struct SplitLayers {
  private struct Box {
    var x = 0
    var y = 0
    let width: Int
    let lines: [String]
    var height: Int { 14 + 16 * lines.count }
  }

  private let split: MappingSplit
  private var boxes: [Box]
  private(set) var width = 0
  private(set) var height = 0
  private static let (margin, gap, way, columnHeight, shownMappings) = (16, 14, 72, 720, 8)

  init(_ split: MappingSplit) {
    self.split = split
    boxes = split.parts.map(Self.box)
    var depths: [Int] = []
    for part in split.parts { depths.append((part.waitsFor.map { depths[$0 - 1] }.max() ?? -1) + 1) }
    var x = Self.margin
    for depth in 0...max(0, depths.max() ?? 0) {
      x = place(boxes.indices.filter { depths[$0] == depth }, x) + Self.way
    }
    width = x - Self.way + Self.margin
  }

  private static func box(_ part: MappingSplit.Part) -> Box {
    var lines = ["part \(part.number)"] + part.entityMappings.prefix(shownMappings)
    if part.entityMappings.count > shownMappings {
      lines.append("and \(part.entityMappings.count - shownMappings) more")
    }
    lines += part.reads.map { "reads \($0.entity) of part \($0.part)" }
    return Box(width: 20 + 7 * min(48, lines.map(\.count).max() ?? 0), lines: lines)
  }

  /// Puts boxes below each other, in a further column where they become too many; returns where the last column ends.
  private mutating func place(_ indexes: [Int], _ start: Int) -> Int {
    var (x, y, end) = (start, 0, start)
    for index in indexes {
      if y > 0, y + boxes[index].height > Self.columnHeight { (x, y) = (end + Self.gap, 0) }
      (boxes[index].x, boxes[index].y) = (x, y)
      y += boxes[index].height + Self.gap
      end = max(end, x + boxes[index].width)
      height = max(height, y)
    }
    return end
  }

  func elements(below top: Int) throws -> [String] {
    try split.parts.flatMap { part in part.waitsFor.map { way(from: boxes[$0 - 1], to: boxes[part.number - 1], top) } }
      + boxes.map { try element($0, top) }
  }

  private func way(from: Box, to: Box, _ top: Int) -> String {
    let (x1, y1) = (from.x + from.width, top + from.y + from.height / 2)
    let (x2, y2) = (to.x, top + to.y + to.height / 2)
    let bend = max(24, (x2 - x1) / 2)
    return
      "<path class=\"way\" marker-end=\"url(#tip)\" d=\"M\(x1) \(y1)C\(x1 + bend) \(y1) \(x2 - bend) \(y2) \(x2) \(y2)\"/>"
  }

  private func element(_ box: Box, _ top: Int) throws -> String {
    let frame =
      "<rect class=\"box\" rx=\"4\" x=\"\(box.x)\" y=\"\(top + box.y)\" width=\"\(box.width)\" height=\"\(box.height)\"/>"
    let texts = try box.lines.enumerated().map { index, line in
      let short = line.count > 48 ? line.prefix(47) + "…" : line[...]
      return
        "<text class=\"\(index == 0 ? "head" : "line")\" x=\"\(box.x + 10)\" y=\"\(top + box.y + 20 + 16 * index)\">"
        + "\(try XMLText.escaped(String(short)))</text>"
    }
    return ([frame] + texts).joined()
  }
}
