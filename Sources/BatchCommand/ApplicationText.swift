import Batch
import Streams

/// An application as people read it.
struct ApplicationText {
  private let map: ApplicationMap
  /// The folder of the sources, as it was named.
  private let folder: String
  /// The words before `policies build` that call a program which reads Swift.
  private let builder: [String]

  init(_ map: ApplicationMap, folder: String, builder: [String]) {
    (self.map, self.folder, self.builder) = (map, folder, builder)
  }

  var text: String {
    let mappings = Set(map.models.flatMap { $0.steps.flatMap { $0.mappings.map(\.path) } }).count
    let counts = [
      map.models.count.counted("model"),
      (mappings + map.unusedMappings.count).counted("mapping model"),
      map.policies.count.counted("policy", "policies"),
    ]
    var lines = ["\(map.path): \(map.kind), \(counts.joined(separator: ", "))"] + map.models.flatMap(Self.lines)
    let unused = "mapping models" + (map.models.isEmpty ? "" : " that make no step of these models")
    lines += list(unused + ":", map.unusedMappings.map(Self.line))
    lines += list(
      "policies that no mapping model names:",
      map.policies.filter { !$0.isNamed }.map { policy in
        "\(policy.name): \(policy.source)" + (policy.obstacle.map { "; it cannot be compiled here: \($0)" } ?? "")
      })
    let isOwn = builder == [Program.name]
    let program =
      "a program that has the policies"
      + (isOwn ? "" : " (this one was built without the trait SwiftData, and compiles none)")
    lines += list(program + ":", [buildCommand].compactMap { $0 })
    lines += list("not read:", map.problems.map { "\($0.path): " + Self.indented($0.reason, "    ") })
    return lines.joined(separator: "\n")
  }

  /// Makes a program of the policies that mapping models name, that this program does not have, and that can be
  /// compiled; nil if there are none.
  private var buildCommand: String? {
    let sources = Set(
      map.policies.filter { $0.isNamed && !$0.isAvailable && $0.obstacle == nil }.compactMap { policy in
        policy.source.lastIndex(of: ":").map { FilePaths.join(folder, String(policy.source[..<$0])) }
      })
    guard !sources.isEmpty else { return nil }
    return ShellWords.line(builder + ["policies", "build"] + sources.sorted() + ["--output", "godwit-policies"])
  }

  private static func indented(_ text: String, _ blanks: String) -> String { text.replacing("\n", with: "\n" + blanks) }

  private func list(_ title: String, _ lines: [String]) -> [String] {
    lines.isEmpty ? [] : [title] + lines.map { "  \($0)" }
  }

  private static func lines(_ model: ApplicationMap.Model) -> [String] {
    let current = model.currentVersion.map { ", current \($0)" } ?? ""
    var lines = ["model \(model.path): \(model.versions.count.counted("version"))\(current)"]
    if let problem = model.problem { lines.append("  problem: \(problem)") }
    if model.versions.count == 1 { lines.append("  \(model.versions[0])") }
    lines += model.steps.flatMap(Self.lines)
    return lines + model.copies.map { "  also in \($0)" }
  }

  private static func lines(_ step: ApplicationMap.Step) -> [String] {
    let pair = "  \(step.from) to \(step.to): "
    let unread =
      "refused, because a mapping model that may be for it cannot be read: "
      + step.unread.joined(separator: ", ")
    switch step.way {
    case "mapped":
      let made = pair + step.mappings.map(Self.text).joined(separator: ", ")
      return [made] + (step.unread.isEmpty ? [] : ["      \(unread)"]) + policies(step)
    case "unread": return [pair + unread]
    case "equal": return [pair + "the same version hashes, nothing to migrate"]
    case "inferred": return [pair + "can be inferred"]
    default:
      return [pair + "needs a mapping model"] + step.reasons.map { "      \($0.replacing("\n", with: "\n      "))" }
    }
  }

  private static func text(_ mapping: ApplicationMap.Mapping) -> String {
    mapping.path + (mapping.isReplaced ? " (not used, as another one stands in for it)" : "")
  }

  private static func policies(_ step: ApplicationMap.Step) -> [String] {
    step.mappings.filter { !$0.isReplaced }.flatMap(\.policies).map { policy in
      let place = policy.source ?? "no source here"
      return "      \(policy.entityMapping) needs the policy \(policy.name): \(place); \(state(policy))"
    }
  }

  private static func state(_ policy: ApplicationMap.NeededPolicy) -> String {
    if policy.isAvailable { return "this program has it" }
    let lacking = "this program does not have it"
    if let obstacle = policy.obstacle { return "\(lacking), and it cannot be compiled here: \(obstacle)" }
    return policy.source == nil ? lacking : "\(lacking), and it can be compiled"
  }

  private static func line(_ mapping: ApplicationMap.UnusedMapping) -> String {
    let versions = mapping.from.flatMap { from in mapping.to.map { ", made for \(from) to \($0)" } }
    return mapping.path + (versions ?? "")
  }
}
