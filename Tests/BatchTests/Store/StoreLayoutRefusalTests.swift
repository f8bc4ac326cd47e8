import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import RunSupport

@Suite("Models that no store can hold are refused, naming the part")
struct StoreLayoutRefusalTests {
  private func error(_ entities: [EntityDescription]) -> BatchError? {
    #expect(throws: BatchError.self) { try StoreModels.layout(entities) }
  }

  @Test("R-trees that SQLite cannot hold are refused for writing")
  func rtree() throws {
    var entity = StoreModels.entity(
      "Place", ["a", "b", "c", "d", "e", "f"].map { ($0, .double) } + [("name", .string)])
    func refusal(_ elements: [(String, String)]) -> BatchError? {
      entity.indexes = [.init(name: "byPlace", elements: elements.map { .init(property: $0.0, type: $0.1) })]
      return error([entity])
    }
    for elements in [
      [("a", "RTree"), ("b", "Binary")], [("name", "RTree")], [("a", "RTree"), ("a", "RTree")],
      ["a", "b", "c", "d", "e", "f"].map { ($0, "RTree") },
    ] {
      let found = refusal(elements)
      #expect(found?.code == .refused && found?.entity == "Place" && found?.message.contains("byPlace") == true)
    }
  }

  @Test("An R-tree is refused where the system's SQLite has none, and laid out for reading all the same")
  func noModule() throws {
    var entity = StoreModels.entity("Place", [("x", .double)])
    entity.indexes = [.init(name: "byPlace", elements: [.init(property: "x", type: "RTree")])]
    let model = ManagedObjectModel(entities: [entity])
    let layout = try StoreLayout(model: model, purpose: .reading)
    #expect(layout.rtrees.map(\.name) == ["Z_RT_Place_byPlace"])
    var planner = IndexPlanner(model: model, numbering: try EntityNumbering(model: model), hasRTrees: false) {
      property, _ in
      "Z" + property.uppercased()
    }
    let refusal = #expect(throws: BatchError.self) { try planner.add(layout.entityTables[0], joins: []) }
    #expect(refusal?.code == .refused && refusal?.message.contains("has no R-trees") == true)
  }

  @Test("Entities whose names differ in case alone cannot share a store")
  func sameTable() { #expect(error([StoreModels.entity("Foo"), StoreModels.entity("FOO")])?.code == .refused) }

  @Test("Broken hierarchies and destinations are named")
  func hierarchy() {
    #expect(error([StoreModels.entity("A", parent: "B")])?.entity == "A")
    #expect(error([StoreModels.entity("A", parent: "B"), StoreModels.entity("B", parent: "A")])?.code == .badModel)
    #expect(error([StoreModels.entity("A"), StoreModels.entity("A")])?.code == .badModel)
    let lost = error([StoreModels.entity("A", [], [StoreModels.link("b", "B", nil)])])
    #expect(lost?.message == "relationship b leads to B, which is not in the model")
  }

  @Test(
    "A property that is there twice is named; names that differ in bytes alone keep columns without a suffix, as in SQLite"
  )
  func sameNames() throws {
    let twice = error([StoreModels.entity("A", [("x", .string), ("x", .double)])])
    #expect(twice?.code == .badModel && twice?.entity == "A" && twice?.message == "two properties are named x")
    let both = error([StoreModels.entity("A", [("b", .string)], [StoreModels.link("b", "A", nil)])])
    #expect(both?.message == "two properties are named b")
    let layout = try StoreModels.layout([
      StoreModels.entity("A"), StoreModels.entity("B", parent: "A", [("z\u{E9}", .string)]),
      StoreModels.entity("C", parent: "A", [("ze\u{301}", .string)]),
    ])
    let names = layout.entityTables[0].columns.dropFirst(3).map { Array($0.name.unicodeScalars) }
    #expect(names == ["ZZ\u{C9}", "ZZE\u{301}"].map { Array($0.unicodeScalars) })
  }

  @Test("Attributes without a storable type are named")
  func types() {
    let refusal = error([StoreModels.entity("A", [("x", .undefined)])])
    #expect(refusal?.entity == "A")
    #expect(refusal?.message.contains("attribute x") == true)
  }

  @Test("A constraint needs stored, known properties")
  func constraints() {
    var entity = StoreModels.entity("A", [("x", .string)])
    entity.uniquenessConstraints = [["y"]]
    #expect(error([entity])?.message == "uniqueness constraint y names the unknown property y")
  }

  @Test("Names that SQL text cannot hold are refused")
  func names() {
    #expect(error([StoreModels.entity("A", [("x\0y", .string)])])?.code == .badModel)
    #expect(error([StoreModels.entity("")])?.code == .badModel)
  }
}
