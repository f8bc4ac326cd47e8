import Batch

/// A trace as people read it.
struct TraceText {
  private let trace: ObjectTrace
  private let result: String?

  init(_ trace: ObjectTrace, result: String?) { (self.trace, self.result) = (trace, result) }

  var text: String {
    var lines = ["\(trace.store): \(Self.name(trace.object)) of version \(trace.version)"]
    lines += trace.properties.map { "  " + Self.line($0) }
    guard !trace.steps.isEmpty else {
      return (lines + ["at version \(trace.target), nothing to do"]).joined(separator: "\n")
    }
    for (index, step) in trace.steps.enumerated() {
      let kind = step.isInferred ? "inferred" : "mapped"
      lines.append("step \(index + 1): \(step.from) to \(step.to), \(kind) (\(step.reason))")
      lines += step.passages.flatMap(Self.lines)
    }
    lines += found
    let near = trace.near.counted("more object")
    lines.append(
      "migrated alone, with \(near) that it leads to\(trace.isCutOff ? "; it leads to others, which were not migrated" : "")"
    )
    return lines.joined(separator: "\n")
  }

  private static func lines(_ passage: ObjectTrace.Passage) -> [String] {
    let object = name(passage.object)
    guard !passage.takings.isEmpty else { return ["  \(object) is not migrated: \(passage.reason ?? "")"] }
    return passage.takings.flatMap { lines($0, object) }
  }

  private static func lines(_ taking: ObjectTrace.Taking, _ object: String) -> [String] {
    let policy = taking.policy.map { ", policy \($0)" } ?? ""
    let by = "\(taking.entityMapping) of \(taking.mappingModel)\(policy)"
    let reason = taking.reason.map { ": \($0)" } ?? ""
    var lines: [String]
    switch taking.outcome {
    case .taken: lines = ["  \(object) becomes \(taking.object.map(name) ?? "nothing"), by \(by)\(reason)"]
    case .leftOut: lines = ["  \(object) is left out, by \(by)\(reason)"]
    case .rejected: lines = ["  \(object) is rejected, by \(by)\(reason)"]
    }
    lines += taking.properties.map { "    " + line($0) }
    for made in taking.made {
      lines.append("    and creates \(name(made.object))")
      lines += made.properties.map { "      " + line($0) }
    }
    return lines
  }

  private var found: [String] {
    guard let found = trace.found, let result else { return [] }
    guard !found.isEmpty else {
      let isGone =
        trace.steps.last?.passages.flatMap(\.takings).allSatisfy { $0.object == nil && $0.made.isEmpty } != false
      return [
        "in \(result): " + (isGone ? "nothing to look for: no object stands for it" : "nothing has a key that is known")
      ]
    }
    var lines = ["in \(result):"]
    for object in found {
      let name = Self.name(object.object)
      guard object.isThere else {
        lines.append("  \(name) is missing")
        continue
      }
      let others = object.differing.joined(separator: ", ")
      lines.append("  \(name) is there, \(others.isEmpty ? "as predicted" : "but not as predicted: \(others)")")
      if let names = object.unforetold {
        lines.append("    cannot be foretold, as each run gives another value: \(names.joined(separator: ", "))")
      }
      lines += object.properties.map { "    " + Self.line($0) }
    }
    return lines
  }

  private static func line(_ property: ObjectTrace.Property) -> String {
    let value = property.value.map { " = \($0)" } ?? ""
    let objects = property.objects.map { $0.isEmpty ? " -> none" : " -> \($0.map(name).joined(separator: ", "))" } ?? ""
    let origin = property.origin.map { ": \($0)" } ?? ""
    return "\(property.name) (\(property.type))\(value)\(objects)\(origin)"
  }

  /// Keys that only a whole run knows are marked.
  private static func name(_ object: ObjectTrace.Object) -> String {
    "\(object.entity) \(object.key)\(object.isExact ? "" : "*")"
  }
}
