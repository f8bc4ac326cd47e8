extension ManagedObjectModel {
  /// Names of the entities in the order of their numbers: depth first, parents before children, siblings in
  /// case-insensitive order. Source of the rule: B.3, measured on real stores.
  public var entitiesInNumberOrder: [String] {
    let all = entities
    var children: [String?: [(folded: String, name: String)]] = [:]
    for place in all.indices {
      let (name, parent) = (all[place].name, all[place].superentity)
      // A parent that is missing counts as none, so that every entity gets a number.
      children[parent.flatMap { hasEntity($0) ? $0 : nil }, default: []].append((name.lowercased(), name))
    }
    let sorted = children.mapValues { $0.sorted(by: Self.precedesIgnoringCase).map(\.name) }
    var ordered: [String] = []
    var pending = Array((sorted[nil] ?? []).reversed())
    var seen: Set<String> = []
    while let next = pending.popLast() {
      guard seen.insert(next).inserted else { continue }
      ordered.append(next)
      pending += (sorted[next] ?? []).reversed()
    }
    // Rings of parents have no root; such a model does not pass validate().
    return ordered + entities.map(\.name).filter { seen.insert($0).inserted }
  }

  /// Z_ENT of every entity, from 1.
  public var entityNumbers: [String: Int] {
    var numbers: [String: Int] = [:]
    for (position, name) in entitiesInNumberOrder.enumerated() { numbers[name] = position + 1 }
    return numbers
  }

  private static func precedesIgnoringCase(
    _ left: (folded: String, name: String), _ right: (folded: String, name: String)
  )
    -> Bool
  {
    if left.folded != right.folded { return left.folded.utf8.lexicographicallyPrecedes(right.folded.utf8) }
    return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
  }
}
