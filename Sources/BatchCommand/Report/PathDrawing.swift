import Batch

/// The path of a migration from above to below: versions as boxes, and beside the ways between them what leads along.
struct PathDrawing {
  private static let (width, row, shown) = (372, 17, 40)
  private let steps: [RunHistory.Step]
  private var body: [String] = []
  private var y = 2

  /// The drawing; empty for a path without steps.
  static func svg(_ steps: [RunHistory.Step]) -> String {
    guard let first = steps.first else { return "" }
    var drawing = PathDrawing(steps: Array(steps.prefix(shown)))
    drawing.version(first.source)
    for step in drawing.steps { drawing.add(step) }
    if steps.count > shown { drawing.way(["and \(steps.count - shown) more steps"]) }
    return """
      <svg class="path" role="img" aria-label="The path of versions" width="\(width)" height="\(drawing.y + 4)" \
      viewBox="0 0 \(width) \(drawing.y + 4)">\(SplitDrawing.tip)\(drawing.body.joined())</svg>
      """
  }

  private init(steps: [RunHistory.Step]) { self.steps = steps }

  private mutating func add(_ step: RunHistory.Step) {
    var lines: [String] = []
    if !step.passed.isEmpty {
      let names = step.passed.prefix(3).joined(separator: ", ")
      lines.append("over \(names)\(step.passed.count > 3 ? " and \(step.passed.count - 3) more" : ""), in one pass")
    }
    if step.isInferred {
      lines.append("inferred")
    } else {
      for mapping in step.mappings {
        lines.append(mapping.name)
        let rest = mapping.count - mapping.entityMappings.count
        lines += Self.wrapped(mapping.entityMappings + (rest > 0 ? ["\(rest) more"] : []))
        if !mapping.policies.isEmpty { lines += Self.wrapped(["policies:"] + mapping.policies) }
      }
    }
    way(lines)
    version(step.destination)
  }

  /// Names, so many to a line as fit, three lines at most.
  private static func wrapped(_ names: [String]) -> [String] {
    var lines: [String] = []
    for name in names {
      if let last = lines.last, last.count + name.count < 44 {
        lines[lines.count - 1] += (last.hasSuffix(":") ? " " : ", ") + name
      } else {
        lines.append("  " + name)
      }
    }
    return lines.count > 3 ? lines.prefix(2) + ["  …"] : lines
  }

  private mutating func version(_ name: String) {
    let short = Self.short(name, 34)
    let size = max(120, 28 + 9 * short.count)
    body.append(
      "<rect class=\"box\" rx=\"6\" x=\"2\" y=\"\(y)\" width=\"\(min(size, Self.width - 4))\" height=\"32\"/>")
    body.append("<text class=\"title\" x=\"14\" y=\"\(y + 21)\">\(HTML.escaped(short))</text>")
    y += 32
  }

  private mutating func way(_ lines: [String]) {
    let height = max(40, 20 + Self.row * lines.count)
    body.append("<path class=\"way\" marker-end=\"url(#tip)\" d=\"M24 \(y)V\(y + height - 2)\"/>")
    for (index, line) in lines.enumerated() {
      let (x, style) = line.hasPrefix("  ") ? (56, "line") : (44, "head")
      let text = HTML.escaped(Self.short(line.trimmingPrefix("  "), 46))
      body.append("<text class=\"\(style)\" x=\"\(x)\" y=\"\(y + 20 + Self.row * index)\">\(text)</text>")
    }
    y += height
  }

  private static func short(_ text: some StringProtocol, _ most: Int) -> String {
    text.count > most ? text.prefix(most - 1) + "…" : String(text)
  }
}
