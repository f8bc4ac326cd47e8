extension ManagedObjectModel {
  /// Names of the entities in the order of their numbers: depth first, parents before children, siblings in
  /// case-insensitive order. Source of the rule: B.3, measured on real stores.
  public var entitiesInNumberOrder: [String] {
    var children: [String?: [EntityDescription]] = [:]
    for entity in entities {
      // A parent that is missing counts as none, so that every entity gets a number.
      children[entity.superentity.flatMap { self.entity($0)?.name }, default: []].append(entity)
    }
    let sorted = children.mapValues { $0.sorted(by: Self.precedesIgnoringCase) }
    var ordered: [String] = []
    var pending = Array((sorted[nil] ?? []).reversed())
    var seen: Set<String> = []
    while let next = pending.popLast() {
      guard seen.insert(next.name).inserted else { continue }
      ordered.append(next.name)
      pending += (sorted[next.name] ?? []).reversed()
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

  private static func precedesIgnoringCase(_ left: EntityDescription, _ right: EntityDescription) -> Bool {
    let folded = (left.name.lowercased(), right.name.lowercased())
    if folded.0 != folded.1 { return folded.0.utf8.lexicographicallyPrecedes(folded.1.utf8) }
    return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
  }
}
