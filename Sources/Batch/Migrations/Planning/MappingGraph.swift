import MappingModels

/// The entity mappings of a step and what ties them to each other. Relationships whose keys move by arithmetic tie
/// nothing: that is how cycles of relationships are broken.
struct MappingGraph {
  /// The entity mappings, in the order in which they were given.
  let nodes: [MappingFootprint]
  /// For every node: the nodes that make objects which it reads.
  let makers: [Set<Int>]
  private let kinds: [String: Set<String>]

  /// Makes the graph of a step. Throws what ``FootprintReader`` throws.
  init(step: MigrationStep, policies: PolicyRegistry) throws {
    let reader = try FootprintReader(step: step, policies: policies)
    let (nodes, kinds) = (try reader.read(), reader.kinds)
    (self.nodes, self.kinds) = (nodes, kinds)
    makers = nodes.indices.map { index in
      guard !nodes[index].reads.isEmpty else { return [] }
      return Set(nodes.indices.filter { $0 != index && !Self.read(by: nodes[index], from: nodes[$0], kinds).isEmpty })
    }
  }

  /// Two policies that both find or make objects of an entity do not wait for each other, but they write one table.
  private static func read(
    by reader: MappingFootprint, from maker: MappingFootprint, _ kinds: [String: Set<String>]
  ) -> [String] {
    reader.reads.filter { entity in
      guard let kinds = kinds[entity] else { return false }
      guard reader.makes.isDisjoint(with: kinds) else {
        return maker.mapping.destinationEntity.map(kinds.contains) ?? false
      }
      return !maker.makes.isDisjoint(with: kinds)
    }.sorted()
  }

  /// The declared entities by which one node reads what another one makes.
  func read(by reader: Int, from maker: Int) -> [String] { Self.read(by: nodes[reader], from: nodes[maker], kinds) }

  /// Entities that a node looks up although no node makes objects of them.
  func missing(_ reader: Int) -> [String] {
    nodes[reader].reads.filter { entity in nodes.allSatisfy { $0.makes.isDisjoint(with: kinds[entity] ?? []) } }
      .sorted()
  }

  /// The largest number of parts that write nothing in common and can wait for each other, each in the order of its
  /// nodes, in an order in which every part follows those that it waits for.
  func parts() -> [[Int]] {
    var groups = Groups(count: nodes.count)
    joinWriters(&groups)
    joinCircles(&groups)
    return ordered(groups.members())
  }

  /// Who writes one table must stay together, and who may write anything stays with its mapping model.
  private func joinWriters(_ groups: inout Groups) {
    var first: [String: Int] = [:]
    var alone: [Int: Int] = [:]
    for (index, node) in nodes.enumerated() {
      for name in node.writes {
        groups.join(index, first[name] ?? index)
        first[name] = first[name] ?? index
      }
      if node.isAlone { alone[node.model] = index }
    }
    for (index, node) in nodes.enumerated() { if let other = alone[node.model] { groups.join(index, other) } }
  }

  /// Parts that wait for each other, however far around, become one.
  private func joinCircles(_ groups: inout Groups) {
    let members = groups.members()
    let waits = waits(members)
    let reached = members.indices.map { reach(from: $0, waits) }
    for start in members.indices {
      for other in reached[start] where reached[other].contains(start) {
        groups.join(members[start][0], members[other][0])
      }
    }
  }

  /// For every part those that make what it reads.
  private func waits(_ parts: [[Int]]) -> [Set<Int>] {
    var part = Array(repeating: 0, count: nodes.count)
    for (index, members) in parts.enumerated() { for node in members { part[node] = index } }
    return parts.indices.map { index in Set(parts[index].flatMap { makers[$0].map { part[$0] } }).subtracting([index]) }
  }

  private func reach(from start: Int, _ waits: [Set<Int>]) -> Set<Int> {
    var found = waits[start]
    var open = Array(found)
    while let next = open.popLast() {
      for other in waits[next] where found.insert(other).inserted { open.append(other) }
    }
    return found
  }

  /// The first part that waits for nothing comes first, and so on.
  private func ordered(_ parts: [[Int]]) -> [[Int]] {
    var waits = waits(parts)
    var left = Array(parts.indices)
    var order: [[Int]] = []
    while let place = left.firstIndex(where: { waits[$0].isEmpty }) {
      let next = left.remove(at: place)
      order.append(parts[next])
      for other in left { waits[other].remove(next) }
    }
    return order
  }
}

/// Groups of numbers that are joined two by two.
private struct Groups {
  private var parent: [Int]

  init(count: Int) { parent = Array(0..<count) }

  private func root(_ number: Int) -> Int {
    var number = number
    while parent[number] != number { number = parent[number] }
    return number
  }

  mutating func join(_ left: Int, _ right: Int) {
    let (left, right) = (root(left), root(right))
    parent[max(left, right)] = min(left, right)
  }

  /// Every group in rising order, by its first member.
  func members() -> [[Int]] {
    var found: [Int: [Int]] = [:]
    for number in parent.indices { found[root(number), default: []].append(number) }
    return found.keys.sorted().compactMap { found[$0] }
  }
}
