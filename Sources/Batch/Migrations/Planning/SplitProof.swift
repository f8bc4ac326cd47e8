import MappingModels

/// Proves that parts of a step are independent: every entity mapping is in one part, no two parts write one table, and
/// what a part reads of another one is finished, because that part comes before. Knows nothing of how the parts were
/// found.
struct SplitProof {
  let graph: MappingGraph

  /// What stands against parts that run in this order; empty when they are independent.
  func problems(_ parts: [[Int]]) -> [String] {
    var part: [Int?] = Array(repeating: nil, count: graph.nodes.count)
    for (index, members) in parts.enumerated() { for node in members { part[node] = index } }
    return completeness(parts) + overlaps(part) + order(part) + companions(part)
  }

  private func name(_ node: Int) -> String { graph.nodes[node].mapping.name }

  private func completeness(_ parts: [[Int]]) -> [String] {
    var counts = Array(repeating: 0, count: graph.nodes.count)
    for node in parts.joined() { counts[node] += 1 }
    return counts.indices.filter { counts[$0] != 1 }.map { "\(name($0)) is in \(counts[$0]) parts" }
  }

  private func overlaps(_ part: [Int?]) -> [String] {
    var writers: [String: [Int]] = [:]
    for (index, node) in graph.nodes.enumerated() {
      for place in node.writes { writers[place, default: []].append(index) }
    }
    return writers.sorted { $0.key < $1.key }.compactMap { place, nodes in
      guard let other = nodes.first(where: { part[$0] != part[nodes[0]] }) else { return nil }
      return "\(name(nodes[0])) and \(name(other)) both write \(place)"
    }
  }

  private func order(_ part: [Int?]) -> [String] {
    graph.nodes.indices.flatMap { reader in
      graph.makers[reader].sorted().compactMap { maker -> String? in
        guard let own = part[reader], let other = part[maker], other > own else { return nil }
        let read = graph.read(by: reader, from: maker).joined(separator: ", ")
        return "\(name(reader)) looks up \(read) before \(name(maker)) makes it"
      }
    }
  }

  private func companions(_ part: [Int?]) -> [String] {
    graph.nodes.indices.filter { graph.nodes[$0].isAlone }.compactMap { alone in
      let others = graph.nodes.indices.filter { graph.nodes[$0].model == graph.nodes[alone].model }
      guard let other = others.first(where: { part[$0] != part[alone] }) else { return nil }
      return "the policy of \(name(alone)) does not declare what it writes, and \(name(other)) is in another part"
    }
  }
}
