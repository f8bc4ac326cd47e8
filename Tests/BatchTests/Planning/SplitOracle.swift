@testable import CoreDataModel
@testable import CoreDataStore
@testable import MappingModels
@testable import Migrations

/// Says whether parts are independent, from the models alone and pair by pair. Knows neither the graph's edges nor its
/// footprints.
struct SplitOracle {
  private struct Effects {
    var tables: Set<String> = []
    var entities: Set<String> = []
    var finds: Set<String> = []
    var isSilent = false
  }

  private let model: ManagedObjectModel
  private let effects: [String: Effects]

  init(_ models: SplitModels) {
    let model = models.versions[1]
    self.model = model
    var effects: [String: Effects] = [:]
    for mapping in models.mapping.entityMappings {
      var found = Effects()
      found.isSilent = mapping.userInfo["silent"] != nil
      found.finds = Set(["finds", "makes"].compactMap { mapping.userInfo[$0] })
      var written = [mapping.destinationEntity ?? ""]
      if !found.isSilent, let made = mapping.userInfo["makes"] { written.append(made) }
      found.entities = Set(written)
      // A policy that declares an entity may make objects of its sub-entities.
      if mapping.policyClassName != nil {
        for entity in model.entities where written.contains(where: { model.isKind(entity.name, of: $0) }) {
          found.entities.insert(entity.name)
        }
      }
      found.tables = Set(found.entities.map { model.root(of: $0) })
      let name = mapping.name
      effects[name] = found
      for entity in mapping.policyClassName == nil ? [] : Array(found.entities) {
        effects[name]?.tables.formUnion(Self.joins(of: entity, model))
      }
    }
    // Of the two sides of a many-to-many relationship, that of the naming entity fills the table; all of its kind share
    // one table.
    if let layout = try? StoreLayout(model: model, purpose: .reading) {
      for join in layout.joinTables {
        for mapping in models.mapping.entityMappings
        where model.isKind(mapping.destinationEntity ?? "", of: join.relationship.entity) {
          effects[mapping.name]?.tables.insert(Self.label(join.relationship.name, join.inverse.name))
        }
      }
    }
    self.effects = effects
  }

  private static func label(_ name: String, _ inverse: String) -> String {
    "links " + [name, inverse].sorted().joined(separator: " ")
  }

  private static func joins(of entity: String, _ model: ManagedObjectModel) -> [String] {
    model.relationships(of: entity).compactMap { relationship in
      guard relationship.isToMany, let inverse = relationship.inverseName,
        model.relationship(inverse, of: relationship.destinationEntity)?.isToMany == true
      else { return nil }
      return label(relationship.name, inverse)
    }
  }

  private func joined(_ parts: [[Int]], _ graph: MappingGraph) -> [Effects] {
    parts.map { nodes in
      nodes.reduce(into: Effects()) { all, node in
        guard let own = effects[graph.nodes[node].mapping.name] else { return }
        all.tables.formUnion(own.tables)
        all.entities.formUnion(own.entities)
        all.finds.formUnion(own.finds)
        all.isSilent = all.isSilent || own.isSilent
      }
    }
  }

  private func reads(_ reader: Effects, _ maker: Effects) -> Bool {
    !reader.finds.isEmpty && maker.entities.contains { made in reader.finds.contains { model.isKind(made, of: $0) } }
  }

  /// Is any rule broken?
  func isWrong(_ parts: [[Int]], _ graph: MappingGraph) -> Bool { !problems(parts, graph, isComplete: false).isEmpty }

  /// The rules that are broken: also that of two parts which could not be one less, by trying to tell every part from
  /// all others.
  func problems(_ parts: [[Int]], _ graph: MappingGraph) -> [String] { problems(parts, graph, isComplete: true) }

  private func problems(_ parts: [[Int]], _ graph: MappingGraph, isComplete: Bool) -> [String] {
    var found: [String] = []
    if parts.joined().sorted() != Array(graph.nodes.indices) { found.append("not every mapping is in one part") }
    let all = joined(parts, graph)
    for left in all.indices {
      if all[left].isSilent, parts.count > 1 { found.append("a silent policy is not with all others") }
      for right in all.indices where left < right {
        if !all[left].tables.isDisjoint(with: all[right].tables) {
          found.append("\(left) and \(right) write one table")
        }
        if reads(all[left], all[right]) { found.append("\(left) reads what \(right) makes later") }
      }
    }
    if isComplete {
      for part in parts where isDivisible(part, graph) { found.append("\(part) could be more than one part") }
    }
    return found
  }

  /// A part must stay whole if every of its nodes can be reached from every other one by shared tables and by reading.
  private func isDivisible(_ part: [Int], _ graph: MappingGraph) -> Bool {
    guard let first = part.first, !part.contains(where: { effects[graph.nodes[$0].mapping.name]?.isSilent == true })
    else {
      return false
    }
    let own = joined(part.map { [$0] }, graph)
    func reached(_ isWay: (Effects, Effects) -> Bool) -> Int {
      var (seen, open) = (Set([first]), [0])
      while let next = open.popLast() {
        for other in part.indices where !seen.contains(part[other]) && isWay(own[next], own[other]) {
          seen.insert(part[other])
          open.append(other)
        }
      }
      return seen.count
    }
    let forward = reached { !$0.tables.isDisjoint(with: $1.tables) || reads($0, $1) }
    let backward = reached { !$0.tables.isDisjoint(with: $1.tables) || reads($1, $0) }
    return forward < part.count || backward < part.count
  }
}
