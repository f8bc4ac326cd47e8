extension ModelDifference: CustomStringConvertible {
  /// Lines for people: the verdict, every entity with its changes, and what forbids inference.
  public var description: String {
    var lines = ["\(source) to \(destination): \(verdict)"]
    lines += changes.map { "  \($0)" }
    for entity in entities {
      lines.append("  \(entity.title)")
      lines += entity.changes.map { "    \($0)" }
      for property in entity.properties {
        lines.append("    \(property.title)")
        lines += property.changes.filter { $0.facet != "name" }.map { "      \($0)" }
        if let condition = property.condition { lines.append("      can be inferred \(condition)") }
      }
    }
    for obstacle in obstacles { lines += ["  not inferable: \(obstacle)", "    \(obstacle.remedy)."] }
    return lines.joined(separator: "\n")
  }

  private var verdict: String {
    guard changesVersionHashes || changesColumns else {
      return entities.isEmpty && changes.isEmpty ? "no difference" : "the same version hashes, nothing to migrate"
    }
    let columns = changesColumns ? "the same version hashes, but their columns hold different attributes; " : ""
    return columns + (isInferable ? "a mapping model can be inferred" : "no mapping model can be inferred")
  }
}

extension EntityDifference {
  fileprivate var title: String {
    let names = kind == .renamed ? "\(destination ?? ""), renamed from \(source ?? "")" : destination ?? source ?? ""
    let what = kind == .renamed ? "" : " \(kind.rawValue)"
    return names + what + (kind == .added || kind == .removed || !changesVersionHash ? "" : ", new version hash")
  }
}

extension PropertyDifference {
  fileprivate var title: String {
    switch kind {
    case .renamed, .moved: "\(property.rawValue) \(destination ?? ""), \(kind.rawValue) from \(source ?? "")"
    case .added, .removed, .changed: "\(property.rawValue) \(destination ?? source ?? "") \(kind.rawValue)"
    }
  }
}

extension FacetChange: CustomStringConvertible {
  /// `facet: old -> new`, with a mark for what version hashes hold.
  public var description: String {
    let values = old == nil && new == nil ? "changed" : "\(old ?? "none") -> \(new ?? "none")"
    return "\(facet): \(values)\(changesVersionHash ? " (hashed)" : "")"
  }
}

extension Obstacle: CustomStringConvertible {
  /// `Entity.property: reason`.
  public var description: String {
    let places = properties.isEmpty ? entities : properties.map { "\(entities.first ?? "").\($0)" }
    return "\(places.joined(separator: " and ")): \(reason)"
  }
}
