/// A check as a workflow of GitHub reads it: each finding at its line of the source.
enum GitHubAnnotations {
  static func text(_ report: LockReport) -> String {
    (report.findings.map(line) + report.steps.map { "step \($0.text)" }).joined(separator: "\n")
  }

  private static func line(_ finding: LockFinding) -> String {
    let command =
      switch finding.level {
      case .error: "error"
      case .warning: "warning"
      case .note: "notice"
      }
    let place = finding.file.map { [("file", $0)] + (finding.line.map { [("line", "\($0)")] } ?? []) } ?? []
    let properties = (place + [("title", finding.rule.meaning)]).map { "\($0.0)=\(escaped($0.1, more: [":", ","]))" }
    let text = [finding.message, finding.advice].compactMap(\.self).joined(separator: ". ")
    return "::\(command) \(properties.joined(separator: ","))::\(escaped(text))"
  }

  /// Text that ends nothing.
  private static func escaped(_ text: String, more: Set<Character> = []) -> String {
    text.unicodeScalars.map { scalar in
      let isEscaped = ["%", "\r", "\n"].contains(scalar) || more.contains(Character(scalar))
      let hex = String(scalar.value, radix: 16, uppercase: true)
      return isEscaped ? "%\(hex.count == 1 ? "0" : "")\(hex)" : String(scalar)
    }.joined()
  }
}
