import Batch

extension XMLStoreInspection {
  /// What `inspect` prints.
  var text: String {
    var lines = [path]
    lines.append("  store        XML store, \(Console.size(bytes))")
    lines.append("  version      \(version ?? versionProblem ?? "unknown (give --models)")")
    lines.append("  identifiers  \(versionIdentifiers.joined(separator: ", "))")
    lines.append("  UUID         \(uuid)")
    lines.append("  framework    \(frameworkVersion.map(String.init) ?? "unknown")")
    if !applicationKeys.isEmpty { lines.append("  metadata     \(applicationKeys.joined(separator: ", "))") }
    lines.append("  next id      \(nextObjectID.map(String.init) ?? "unknown")")
    lines.append("  entities     objects, version hash")
    lines += entities.map {
      "    \($0.name): \(Console.count($0.objects)), \($0.versionHash?.prefix(16) ?? "no hash")"
    }
    return (lines + problems.map { "  problem: \($0)" }).joined(separator: "\n")
  }
}
