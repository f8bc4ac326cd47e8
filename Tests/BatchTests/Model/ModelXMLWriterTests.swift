import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import RunSupport

@Suite("Model files as they are written")
struct ModelXMLWriterTests {
  static func readBack(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
    let text = try ModelXMLWriter.contents(of: model)
    return try ModelXMLReader.read(Data(text.utf8), path: "written", name: model.name)
  }

  @Test("Random models with every feature read back equal")
  func random() throws {
    let first: UInt64 = 20_240_611
    print("seeds from \(first)")
    for seed in first..<first + 400 {
      var random = RandomModel(seed: seed)
      let model = random.model()
      #expect(ModelXMLWriter.omissions(of: model) == [])
      let copy = try Self.readBack(model)
      #expect(copy == model, "seed \(seed)")
      #expect(copy.versionHashes == model.versionHashes, "seed \(seed)")
    }
  }

  @Test("Every real model reads back equal", .enabled(if: ModelCorpus.isPresent))
  func corpus() throws {
    var equal = 0
    for (key, model) in ModelCorpus.versions {
      let copy = try Self.readBack(model)
      #expect(copy == model, "\(key)")
      equal += 1
    }
    print("\(equal) real models read back equal")
    #expect(equal == 401)
  }

  /// A model file without what the descriptions do not keep: the layout, and the ways to write one and the same number.
  static func letters(_ file: String) -> String {
    var file = file.replacing(#/ (valueTransformerName|versionHashModifier)=""/#, with: "")
    if let layout = file.range(of: "\n    <elements"), let end = file.range(of: "</elements>") {
      file.removeSubrange(layout.lowerBound..<end.upperBound)
    }
    file = file.replacing(#/ValueString="(NO|YES|[0-9]+\.0)"/#) { match in
      let value = match.output.1 == "NO" ? "0" : match.output.1 == "YES" ? "1" : match.output.1.dropLast(2)
      return "ValueString=\"\(value)\""
    }
    return file.hasSuffix("\n") ? String(file.dropLast()) : file
  }

  @Test("What Xcode wrote is written again letter for letter", .enabled(if: ModelCorpus.isPresent))
  func letters() throws {
    var different: [String] = []
    for (key, model) in ModelCorpus.versions {
      let file = try String(contentsOfFile: ModelCorpus.path("models/\(key)/contents"), encoding: .utf8)
      if try Self.letters(ModelXMLWriter.contents(of: model)) != Self.letters(file) { different.append(key) }
    }
    print("\(ModelCorpus.versions.count - different.count) real model files written again letter for letter")
    #expect(different.count { $0.hasPrefix("TwidereProject") } == 4, "empty defaults of binary data")
    #expect(different.count == 5, "and one that holds nothing: \(different)")
  }

  @Test("Composites without a name get one, also inside each other")
  func composites() throws {
    var inner = AttributeDescription(name: "inner", type: .composite)
    inner.elements = [AttributeDescription(name: "x", type: .double)]
    var outer = AttributeDescription(name: "outer", type: .composite)
    outer.elements = [inner]
    let entities = ["A", "B"].map { EntityDescription(name: $0, attributes: [outer]) }
    let model = ManagedObjectModel(entities: entities)
    let copy = try Self.readBack(model)
    #expect(copy.composites.keys.sorted() == ["A_outer", "A_outer_inner", "B_outer", "B_outer_inner"])
    #expect(copy.attribute("outer", of: "B")?.elements.first?.elements.map(\.name) == ["x"])
    #expect(copy.versionHashes == model.versionHashes)
  }

  @Test("Two composites of one name that differ are refused")
  func conflict() {
    var attributes = [
      AttributeDescription(name: "a", type: .composite), AttributeDescription(name: "b", type: .composite),
    ]
    for position in 0...1 {
      attributes[position].compositeName = "P"
      attributes[position].elements = [AttributeDescription(name: "x\(position)", type: .double)]
    }
    let model = ManagedObjectModel(entities: [EntityDescription(name: "E", attributes: attributes)])
    let error = #expect(throws: BatchError.self) { try ModelXMLWriter.contents(of: model) }
    #expect(error?.message == "two composites named P have different elements" && error?.entity == "E")
  }

  @Test("What the format cannot say is named, what XML cannot hold is refused")
  func omissions() {
    var attribute = AttributeDescription(name: "a", type: .binaryData, defaultValue: .blob([1]))
    attribute.validationPredicates = ["SELF != nil"]
    var relationship = RelationshipDescription.toMany("r", "E")
    relationship.validationPredicates = ["r.@count < 3"]
    let entity = EntityDescription(name: "E", attributes: [attribute], relationships: [relationship])
    let model = ManagedObjectModel(entities: [entity], versionIdentifiers: ["1", "2"])
    #expect(
      ModelXMLWriter.omissions(of: model) == [
        "the version identifier 2", "E.a: the condition SELF != nil", "E.a: the default value",
        "E.r: the condition r.@count < 3",
      ])
    let bad = ManagedObjectModel(entities: [EntityDescription(name: "E\u{1}")])
    let error = #expect(throws: BatchError.self) { try ModelXMLWriter.contents(of: bad) }
    #expect(error?.message.contains("XML cannot hold") == true)
  }
}

@Suite("Model folders as they are written")
struct ModelPackageWriterTests {
  static func model(_ name: String) -> ManagedObjectModel {
    ManagedObjectModel(name: name, entities: [EntityDescription(name: "E")])
  }

  @Test("A bundle reads back with its versions and its current one")
  func bundle() throws {
    let folder = try ModelFolder(["x": ""])
    let path = folder.path + "/Zoo.xcdatamodeld"
    let bundle = ModelBundle(
      path: path, name: "Zoo", versions: [Self.model("Zoo"), Self.model("Zoo & 2")], currentVersion: "Zoo & 2")
    try ModelPackageWriter.write(bundle, to: path)
    #expect(try ModelReader.read(path: path) == [bundle])
    try ModelPackageWriter.write(Self.model("One"), to: folder.path + "/One.xcdatamodel")
    #expect(try ModelReader.read(path: folder.path + "/One.xcdatamodel").first?.versions == [Self.model("One")])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 3)
  }

  @Test("What is there stays, and names that are none are refused")
  func refused() throws {
    let folder = try ModelFolder(["There.xcdatamodel/contents": "mine", "There.xcdatamodeld/x": "mine"])
    func refuse(_ reason: String, _ body: () throws -> Void) {
      let error = #expect(throws: BatchError.self, performing: body)
      #expect(error?.code == .refused && error?.message.contains(reason) == true, "\(error?.description ?? reason)")
    }
    let path = folder.path + "/New.xcdatamodeld"
    func bundle(_ names: [String], _ current: String? = nil) -> ModelBundle {
      ModelBundle(path: path, name: "New", versions: names.map(Self.model), currentVersion: current)
    }
    refuse("is there already") { try ModelPackageWriter.write(Self.model("A"), to: folder.path + "/There.xcdatamodel") }
    refuse("is there already") { try ModelPackageWriter.write(bundle(["A"]), to: folder.path + "/There.xcdatamodeld") }
    refuse("does not end with") { try ModelPackageWriter.write(Self.model("A"), to: folder.path + "/New") }
    refuse("no name of a file") { try ModelPackageWriter.write(bundle(["../A"]), to: path) }
    refuse("no name of a file") { try ModelPackageWriter.write(bundle([""]), to: path) }
    refuse("two versions are named A") { try ModelPackageWriter.write(bundle(["A", "A"]), to: path) }
    refuse("not in the model") { try ModelPackageWriter.write(bundle(["A"], "B"), to: path) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
  }
}
