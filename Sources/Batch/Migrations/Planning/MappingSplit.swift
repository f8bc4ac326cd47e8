import CoreDataModel
import MappingModels
import RunSupport

/// The parts of a step: the largest number of groups of its entity mappings that are independent of each other, with
/// the proof.
///
/// No part writes a table that another one writes. What a part reads of another one, it reads after that part is
/// finished. Relationships between parts need neither: the keys of objects of the source move by arithmetic, before any
/// of them is written.
public struct MappingSplit: Sendable, Equatable, Codable {
  /// Finished objects that a part reads.
  public struct Read: Sendable, Equatable, Codable {
    /// The entity that is looked up.
    public var entity: String
    /// The part that makes its objects, by its number.
    public var part: Int
  }

  /// A part.
  public struct Part: Sendable, Equatable, Codable {
    /// Its number, from 1: its place in an order in which parts may run.
    public var number: Int
    /// The mapping models that its entity mappings come from.
    public var mappingModels: [String]
    /// Its entity mappings, in their order.
    public var entityMappings: [String]
    /// Root entities whose tables it writes, and many-to-many relationships, as `Book.authors`, whose links it writes;
    /// sorted.
    public var writes: [String]
    /// What it reads of other parts.
    public var reads: [Read]
    /// Whether the run leaves it out.
    public var isSkipped = false

    /// The numbers of the parts that have to be finished before, rising.
    public var waitsFor: [Int] { Set(reads.map(\.part)).sorted() }
  }

  /// The parts, in an order in which they may run.
  public private(set) var parts: [Part]
  /// Relationships from one part to another: their keys move by arithmetic.
  public private(set) var arithmetic: [String]
  /// Why mapping models that make up the step together, or the order of mappings in one, are not independent as they
  /// were given.
  public private(set) var dependencies: [String]
  /// What the proof rests on because a policy does not declare it.
  public private(set) var assumptions: [String]

  /// Splits a step whose mapping models stand in the order in which they run.
  ///
  /// - Throws: ``BatchError``: `missingPolicy`, `badMapping`, and what a ``StoreLayout`` throws.
  public init(_ step: MigrationStep, policies: PolicyRegistry) throws {
    let graph = try MappingGraph(step: step, policies: policies)
    let groups = graph.parts()
    let problems = SplitProof(graph: graph).problems(groups)
    guard problems.isEmpty else {
      throw BatchError(
        .failed,
        "the parts of \(step.source.name) to \(step.destination.name) are not independent: \(problems.joined(separator: "; "))",
        hint: "Report this: it is an error of the program", effect: .nothingWritten)
    }
    var part = Array(repeating: 0, count: graph.nodes.count)
    for (index, members) in groups.enumerated() { for node in members { part[node] = index } }
    parts = groups.indices.map { Self.part($0, nodes: groups[$0], part: part, graph: graph, step: step) }
    arithmetic = Self.arithmetic(part, graph: graph, step: step)
    dependencies = Self.dependencies(part, graph: graph, step: step)
    assumptions = graph.nodes.filter(\.isAlone).map {
      "the policy of \($0.mapping.name) does not declare what it writes: its mapping model \(step.mappingModels[$0.model].name) is one part"
    }
  }

  private static func part(
    _ index: Int, nodes: [Int], part: [Int], graph: MappingGraph, step: MigrationStep
  ) -> Part {
    var reads: [Read] = []
    for node in nodes {
      for maker in graph.makers[node].sorted() where part[maker] != index {
        for entity in graph.read(by: node, from: maker) {
          let read = Read(entity: entity, part: part[maker] + 1)
          if !reads.contains(read) { reads.append(read) }
        }
      }
    }
    return Part(
      number: index + 1,
      mappingModels: Set(nodes.map { graph.nodes[$0].model }).sorted().map { step.mappingModels[$0].name },
      entityMappings: nodes.map { graph.nodes[$0].mapping.name },
      writes: nodes.reduce(into: Set<String>()) { $0.formUnion(graph.nodes[$1].writes) }.sorted(),
      reads: reads.sorted { ($0.part, $0.entity) < ($1.part, $1.entity) },
      isSkipped: nodes.contains { graph.nodes[$0].mapping.isSkipped })
  }

  private static func arithmetic(_ part: [Int], graph: MappingGraph, step: MigrationStep) -> [String] {
    var owners: [String: Set<Int>] = [:]
    for (index, node) in graph.nodes.enumerated() {
      if let entity = node.mapping.destinationEntity {
        owners[step.destination.root(of: entity), default: []].insert(part[index])
      }
    }
    let found = graph.nodes.indices.flatMap { index in
      graph.nodes[index].carried.filter {
        !(owners[step.destination.root(of: $0.destination)] ?? []).subtracting([part[index]]).isEmpty
      }
    }
    return Set(found.map(\.relationship)).sorted()
  }

  private static func dependencies(_ part: [Int], graph: MappingGraph, step: MigrationStep) -> [String] {
    let given = step.mappingModels.indices.map { model in graph.nodes.indices.filter { graph.nodes[$0].model == model }
    }
    let late = graph.nodes.indices.flatMap { reader in
      graph.makers[reader].sorted().filter { maker in
        maker > reader && part[maker] != part[reader] && graph.nodes[maker].model == graph.nodes[reader].model
      }.map {
        "\(graph.nodes[reader].mapping.name) looks up what \(graph.nodes[$0].mapping.name) creates later in the same mapping model; put \(graph.nodes[$0].mapping.name) first"
      }
    }
    let mayMake = graph.nodes.contains(where: \.isAlone)
    let missing = graph.nodes.indices.flatMap { index in
      (mayMake ? [] : graph.missing(index)).map {
        "\(graph.nodes[index].mapping.name) looks up \($0), but no entity mapping creates such objects"
      }
    }
    return SplitProof(graph: graph).problems(given) + late + missing
  }
}
