/// A check as people read it.
enum LockReportText {
  static func text(_ report: LockReport) -> String {
    let broken = Set(report.findings.filter { $0.level == .error }.map(\.version)).count
    let count = report.locked.count
    let head =
      broken == 0
      ? "\(report.lock): \(count.counted("locked version")), none changed"
      : "\(report.lock): \(broken) of \(count) locked versions changed or missing"
    return ([head] + lines(report.findings) + report.steps.map { "step \($0.text)" }).joined(separator: "\n")
  }

  /// A line for each finding; what to do is said once for findings that have it in common.
  static func lines(_ findings: [LockFinding]) -> [String] {
    findings.indices.flatMap { index -> [String] in
      let finding = findings[index]
      let place = finding.file.map { "\($0)\(finding.line.map { ":\($0)" } ?? ""): " } ?? ""
      let isLast = index + 1 == findings.count || findings[index + 1].advice != finding.advice
      return ["\(place)\(finding.level.rawValue): \(finding.message)"]
        + (isLast ? finding.advice.map { ["  \($0)"] } ?? [] : [])
    }
  }
}
