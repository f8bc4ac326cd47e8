import Foundation
import FoundationXML
import Streams
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// The split of steps into independent parts: random models against brute force, and against real migrations.
@Suite struct SplitTests {
  private static let policies = PolicyRegistry([SplitPolicy.self])
  private static let chunks = 20

  private static func size(_ seed: UInt64) -> Int {
    var random = SeededRandom(seed &+ 1000)
    return seed % 500 == 0 ? 500 : Int.random(in: 1...(seed % 50 == 0 ? 120 : 24), using: &random)
  }

  @Test(
    "1,000 random steps are cut into parts that are complete, independent, ordered, and as many as possible",
    arguments: 0..<chunks)
  func random(chunk: Int) throws {
    let seeds = (0..<1000 / Self.chunks).map { UInt64(chunk * (1000 / Self.chunks) + $0) }
    var parts = 0
    for seed in seeds {
      let models = SplitModels(seed: seed, entities: Self.size(seed), declares: seed % 2 == 0)
      let graph = try MappingGraph(step: models.step([models.mapping]), policies: Self.policies)
      let found = graph.parts()
      #expect(SplitProof(graph: graph).problems(found) == [], "seed \(seed)")
      #expect(SplitOracle(models).problems(found, graph) == [], "seed \(seed)")
      parts += found.count
    }
    print("seeds \(seeds[0]) to \(seeds[seeds.count - 1]): \(parts) parts")
  }

  @Test("A part that is torn, doubled, left out or put too early is found by the proof, as by brute force")
  func faults() throws {
    var found = 0
    for seed in UInt64(0)..<20 {
      let models = SplitModels(seed: seed, entities: 12)
      let graph = try MappingGraph(step: models.step([models.mapping]), policies: Self.policies)
      let (parts, oracle) = (graph.parts(), SplitOracle(models))
      var random = SeededRandom(seed)
      var torn = parts
      let largest = parts.indices.max { parts[$0].count < parts[$1].count } ?? 0
      if parts[largest].count > 1 { torn.append([torn[largest].remove(at: 0)]) }
      for wrong in [
        torn, Array(parts.reversed()), parts + [parts[0]], Array(parts.dropLast()), parts.shuffled(using: &random),
      ] {
        let proof = SplitProof(graph: graph).problems(wrong)
        #expect(proof.isEmpty == !oracle.isWrong(wrong, graph), "seed \(seed): \(wrong) \(proof)")
        if !proof.isEmpty { found += 1 }
      }
    }
    #expect(found > 40)
  }

  @Test(
    "Parts run in any allowed order give one store, and in plan order the bytes of the whole", arguments: UInt64(0)..<12
  )
  func migrated(seed: UInt64) throws {
    let models = SplitModels(seed: seed &+ 7000, entities: 4 + Int(seed) % 9)
    let graph = try MappingGraph(step: models.step([models.mapping]), policies: Self.policies)
    let parts = graph.parts().map { $0.map { graph.nodes[$0].mapping } }
    let split = try MappingSplit(models.step([models.mapping]), policies: Self.policies)
    let source = try MigrationFolder(models.versions)
    let store = try source.sample("S1", rows: 400, seed: seed)
    let whole = try Self.migrate(store, models, [models.part("Whole", parts.flatMap { $0 })])
    print("seed \(seed): \(parts.count) parts, waits \(split.parts.map(\.waitsFor))")
    var random = SeededRandom(seed)
    for run in 0..<4 {
      let order = run == 0 ? Array(parts.indices) : Self.order(split, &random)
      let files = order.enumerated().map { place, part in
        models.part("Part\(place + 1000)", parts[part])
      }
      let (bytes, graph) = try Self.migrate(store, models, files)
      if run == 0 { #expect(bytes == whole.bytes, "seed \(seed)") }
      #expect(graph.differences(whole.graph) == [], "seed \(seed), order \(order)")
    }
  }

  /// A random order in which every part follows those that it waits for.
  private static func order(_ split: MappingSplit, _ random: inout SeededRandom) -> [Int] {
    var order: [Int] = []
    while order.count < split.parts.count {
      let free = split.parts.filter { part in
        !order.contains(part.number - 1) && part.waitsFor.allSatisfy { order.contains($0 - 1) }
      }
      guard let next = free.randomElement(using: &random) else { break }
      order.append(next.number - 1)
    }
    return order
  }

  private static func migrate(_ store: String, _ models: SplitModels, _ files: [MappingModel]) throws -> (
    bytes: Data, graph: OracleGraph
  ) {
    let folder = try MigrationFolder(models.versions, mappings: files, policies: [SplitPolicy.self])
    let path = try folder.copy(store, as: "run")
    _ = try folder.migrate(folder.request(path))
    return (try MigrationFolder.bytes(path), try OracleStore.read(path, model: models.versions[1]))
  }

  @Test("A look-up is a wait that the plan names, and a split by hand that overlaps or comes too late is named")
  func byHand() throws {
    let folder = try PolicyMigrationTests.folder()
    let plan = try folder.job().plan(folder.request(try folder.sample("P1", rows: 20, seed: 1)))
    // Neither policy declares what it writes: each mapping model is one part.
    #expect(plan.splits[0].parts.map(\.entityMappings) == [["OrderToOrder", "Customer"], ["LineToLine", "TagToTag"]])
    #expect(plan.splits[0].parts[1].reads == [MappingSplit.Read(entity: "Customer", part: 1)])
    #expect(plan.splits[0].assumptions.count == 2 && plan.splits[0].dependencies == [])
    #expect(plan.splits[0].arithmetic == ["Line.order", "Order.lines"])

    let version = ManagedObjectModel(
      name: "S1",
      entities: [
        StoreModels.entity("Animal", [("name", .string)]), StoreModels.entity("Dog", parent: "Animal"),
        StoreModels.entity("Farm"),
      ])
    var dog = EntityMapping(sourceEntity: "Dog", destinationEntity: "Dog")
    dog.policyClassName = "SplitPolicy"
    dog.userInfo = ["finds": "Farm"]
    let others = ["Animal", "Farm"].map { EntityMapping(sourceEntity: $0, destinationEntity: $0) }
    func split(_ models: [[EntityMapping]]) throws -> MappingSplit {
      try MappingSplit(
        MigrationStep(
          source: version, destination: version,
          mappingModels: models.enumerated().map { MappingModel(name: "M\($0)", entityMappings: $1) },
          isInferred: false,
          reason: ""),
        policies: Self.policies)
    }
    #expect(try split([others, [dog]]).dependencies == ["AnimalToAnimal and DogToDog both write Animal"])
    #expect(
      try split([[dog] + others]).dependencies == [
        "DogToDog looks up what FarmToFarm creates later in the same mapping model; put FarmToFarm first"
      ])
    #expect(try split([[dog]]).dependencies == ["DogToDog looks up Farm, but no entity mapping creates such objects"])
    #expect(try split([others + [dog]]).dependencies == [])
  }

  @Test("A policy that declares what it writes can write nothing else")
  func undeclared() throws {
    let models = ["S1", "S2"].map { name in
      ManagedObjectModel(
        name: name,
        entities: [
          StoreModels.entity("E0", [("note", .string)], [StoreModels.link("back", "E1", "other", many: true)]),
          StoreModels.entity("E1", name == "S1" ? [] : [("note", .string)], [StoreModels.link("other", "E0", "back")]),
        ])
    }
    for name in ["SneakyPolicy", "LatePolicy"] {
      var mappings = ["E0", "E1"].map { EntityMapping(sourceEntity: $0, destinationEntity: $0) }
      mappings[1].policyClassName = name
      var model = MappingModel(name: "M", entityMappings: mappings)
      (model.sourceModelName, model.destinationModelName) = ("S1", "S2")
      let folder = try MigrationFolder(models, mappings: [model], policies: [SneakyPolicy.self, LatePolicy.self])
      let request = folder.request(try folder.sample("S1", rows: 20, seed: 1))
      let error = #expect(throws: BatchError.self) { try folder.migrate(request) }
      #expect(error?.code == .policyFailed && error?.entity == "E1", "\(name): \(String(describing: error))")
      #expect(error?.message == "the policy \(name) writes E0, which it does not declare")
      #expect(error?.hint == "Add \"E0\" to writes(for:) of the policy")
    }
  }

  @Test("A drawing has every part, every wait and no text that breaks it")
  func drawing() throws {
    let models = SplitModels(seed: 7011, entities: 12)
    let split = try MappingSplit(models.step([models.mapping]), policies: Self.policies)
    let drawing = SplitDrawing([("S<1> to \"S2\"", split)])
    let waits = split.parts.reduce(0) { $0 + $1.waitsFor.count }
    #expect(waits > 0 && split.parts.count > 2)
    let svg = try drawing.svg
    #expect(svg.components(separatedBy: "<rect class=\"box\"").count == split.parts.count + 1)
    #expect(svg.components(separatedBy: "marker-end").count == waits + 1)
    #expect(svg.contains("S&lt;1&gt; to &quot;S2&quot;") && svg.contains("prefers-color-scheme:dark"))
    #expect(XMLParser(data: Data(svg.utf8)).parse())
    #expect(drawing.dot.components(separatedBy: " -> ").count == split.parts.reduce(0) { $0 + $1.reads.count } + 1)
    #expect(drawing.dot.contains("S<1> to \\\"S2\\\""))
  }
}

/// Makes an object of an entity that it does not declare.
struct SneakyPolicy: EntityMigrationPolicy {
  func writes(for mapping: EntityMapping) -> [String] { ["E1"] }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    _ = try manager.createDestinationInstance(forSource: source, in: mapping)
    _ = try manager.insert(entity: "E0")
  }
}

/// Changes objects that it only declares to read.
struct LatePolicy: EntityMigrationPolicy {
  func reads(for mapping: EntityMapping) -> [String] { ["E0"] }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    _ = try manager.createDestinationInstance(forSource: source, in: mapping)
    let others = try manager.destinationInstances(forSourceRelationshipNamed: "other", sourceInstances: [source])
    for other in others { try other.set("note", "changed") }
  }
}
