import Foundation
import Streams
import Testing

@testable import Codecs
@testable import CoreDataModel
@testable import RunSupport

@Suite("Compiled models and model caches")
struct CompiledModelTests {
  @Test("A model with every feature reads back equal from its cache, with the same hashes, and as the same bytes")
  func everything() throws {
    let model = CompiledSample.model()
    try model.validate()
    let (content, leftOut) = try ModelCache.encode(model)
    let copy = try ModelCache.decode(content, name: "Zoo")
    #expect(leftOut == [] && copy.unknownElements == [])
    #expect(copy == CompiledCorpus.archivable(model))
    #expect(copy.versionHashes == model.versionHashes)
    #expect(try ModelCache.encode(copy).content == content)
  }

  @Test("Random models read back equal from their caches")
  func random() throws {
    let first: UInt64 = 20_240_613
    print("seeds from \(first)")
    for seed in first..<first + 100 {
      var random = RandomModel(seed: seed)
      let model = Self.readable(random.model(), seed)
      let (content, leftOut) = try ModelCache.encode(model)
      let copy = try ModelCache.decode(content, name: model.name)
      #expect(copy == CompiledCorpus.archivable(model), "seed \(seed)")
      #expect(leftOut.allSatisfy { $0.contains("an element with an expression") }, "seed \(seed)")
    }
  }

  /// The model with predicates that are some, and without properties that a parent has already.
  private static func readable(_ model: ManagedObjectModel, _ seed: UInt64) -> ManagedObjectModel {
    let predicates = ArchivedExpressionTests.predicates
    let predicate = predicates[Int(seed % UInt64(predicates.count))]
    var model = model
    for position in model.entities.indices {
      let owner = model.entities[position].name
      model.entities[position].attributes = model.entities[position].attributes.map {
        var attribute = readable($0, predicate)
        attribute.name += owner
        return attribute
      }
      for relationship in model.entities[position].relationships.indices {
        model.entities[position].relationships[relationship].name += owner
      }
      for property in model.entities[position].fetchedProperties.indices {
        model.entities[position].fetchedProperties[property].name += owner
        model.entities[position].fetchedProperties[property].fetchRequest.predicate = predicate
      }
      for index in model.entities[position].indexes.indices {
        model.entities[position].indexes[index].partialPredicate = predicate
      }
    }
    for name in model.fetchRequestTemplates.keys { model.fetchRequestTemplates[name]?.predicate = predicate }
    return model
  }

  private static func readable(_ attribute: AttributeDescription, _ predicate: String) -> AttributeDescription {
    var attribute = attribute
    attribute.elements = attribute.elements.map { readable($0, predicate) }
    guard attribute.derivationExpression != nil else { return attribute }
    (attribute.derivationExpression, attribute.derivationFilter) = ("count:(a)", predicate)
    return attribute
  }

  @Test("What has no place in a cache is named, and a derivation that cannot be written is refused by its entity")
  func leftOut() throws {
    var entity = EntityDescription(name: "A", attributes: [AttributeDescription(name: "a", type: .string)])
    entity.attributes[0].validationPredicates = ["%K == 2"]
    entity.indexes = [.init(name: "i", elements: [.init(property: "a")])]
    entity.indexes[0].partialPredicate = "%@ == a"
    let (_, leftOut) = try ModelCache.encode(ManagedObjectModel(entities: [entity]))
    #expect(leftOut.count == 2 && leftOut.allSatisfy { $0.hasPrefix("A") })
    entity.attributes[0].derivationExpression = "%K"
    let error = #expect(throws: BatchError.self) { try ModelCache.encode(ManagedObjectModel(entities: [entity])) }
    #expect(error?.entity == "A" && error?.message.contains("the derivation") == true)
  }

  @Test("A cache that is cut off, empty or no model is an error that says what to do without it")
  func damaged() throws {
    let content = try ModelCache.encode(CompiledSample.model()).content
    let notModel = Deflate.encode(PropertyListWriter.write(.dictionary(["a": .integer(1)])))
    for bytes in [
      [], Array(content.dropLast(9)), Array(content.prefix(40)), Array("no cache".utf8), notModel, content + [0],
    ] {
      let error = #expect(throws: BatchError.self) { try ModelCache.decode(bytes) }
      #expect(error?.code == .badModel && error?.message.contains("Z_MODELCACHE") == true)
      #expect(error?.hint?.contains("model file") == true)
    }
  }

  @Test("Fields that are not understood are named with their place")
  func unknown() throws {
    var builder = ArchiveBuilder()
    let attribute = builder.object(
      ["NSAttributeDescription"],
      [
        "NSPropertyName": builder.text("a"), "NSAttributeType": .integer(700), "NSNew": .integer(1), "NSEmpty": .uid(0),
        "_P": .integer(1 + 2048), "NSFlagsKey": .integer(4 + 32),
      ])
    let entity = builder.object(
      ["NSEntityDescription"],
      [
        "NSEntityName": builder.text("E"), "NSProperties": builder.dictionary([("a", attribute)]),
        "NSFuture": builder.text("x"),
      ])
    let root = builder.object(["NSManagedObjectModel"], ["NSEntities": builder.dictionary([("E", entity)])])
    let model = try CompiledModelReader.read(builder.bytes(root: root), name: "M")
    #expect(model.unknownElements == ["E.a: NSFlagsKey 32", "E.a: NSNew", "E.a: _P 2048", "entity E: NSFuture"])
    #expect(model.attribute("a", of: "E")?.allowsExternalBinaryDataStorage == true)
  }

  @Test("Archives that hold themselves, nest or refer too often end in an error, in bounded time")
  func bombs() throws {
    let name = PropertyListValue.string("E")
    // One entity, referred to 9 000 times, with one attribute, referred to 100 000 times.
    try Self.refused(
      [
        .dictionary(["NSEntities": .uid(2)]), Self.dictionary(Array(repeating: .uid(4), count: 9_000)), name,
        .dictionary(["NSEntityName": .uid(3), "NSProperties": .uid(5)]),
        Self.dictionary(Array(repeating: .uid(6), count: 100_000)),
        .dictionary(["NSPropertyName": .uid(3)]),
      ], "too often")
    // A million references to entities that are none.
    let many = Self.dictionary(Array(repeating: .uid(4), count: 1_000_000))
    try Self.refused([.dictionary(["NSEntities": .uid(2)]), many, name, .dictionary([:])], "more than 10000 entities")
    // An entity that is its own dictionary, parent and property; a composite that holds itself.
    let own: [String: PropertyListValue] = [
      "NSEntities": .uid(1), "NSEntityName": .uid(3), "NSSuperentity": .uid(1), "NSProperties": .uid(1),
      "NS.keys": .array([.uid(3)]),
      "NS.objects": .array([.uid(1)]), "NSCompositeElements": .uid(2), "NSUnderlyingProperty": .uid(1),
    ]
    try Self.refused([.dictionary(own), .dictionary(["NS.objects": .array([.uid(1)])]), name], "nested too deeply")
    // A chain of 200 parents.
    let chain = (0..<200).map { number -> PropertyListValue in
      .dictionary(["NSEntityName": .string("E\(number)"), "NSSuperentity": .uid(4 + number + 1)])
    }
    try Self.refused(
      [.dictionary(["NSEntities": .uid(2)]), Self.dictionary((0..<200).map { .uid(4 + $0) }), name] + chain,
      "more than 64 ancestors")
  }

  /// Reads an archive of these objects, the first of them its root.
  private static func refused(_ objects: [PropertyListValue], _ reason: String) throws {
    let archive = PropertyListWriter.write(
      .dictionary(["$objects": .array([.string("$null")] + objects), "$top": .dictionary(["root": .uid(1)])]))
    let error = #expect(throws: BatchError.self) { try CompiledModelReader.read(archive, name: "") }
    #expect(error?.message.contains(reason) == true, "\(error?.description ?? "")")
  }

  /// A dictionary of the objects of these numbers, all under the text that is object 3.
  private static func dictionary(_ members: [PropertyListValue]) -> PropertyListValue {
    .dictionary(["NS.keys": .array(members.map { _ in .uid(3) }), "NS.objects": .array(members)])
  }

  @Test("Damaged archives and caches end in a model or an error, never in a trap")
  func mutations() throws {
    let seed: UInt64 = 20_250_103
    print("seed \(seed)")
    var random = SeededRandom(seed)
    let (archive, _) = CompiledModelWriter.write(CompiledSample.model())
    let content = Deflate.encode(archive)
    var read = 0
    for _ in 0..<1_000 {
      if let model = try? CompiledModelReader.read(PropertyListFormTests.mutated(archive, &random), name: "") {
        _ = (
          model.versionHashes, model.entityNumbers, try? model.validate(), CompiledModelWriter.write(model).bytes.count
        )
        read += 1
      }
      _ = try? ModelCache.decode(PropertyListFormTests.mutated(content, &random))
    }
    print("\(read) damaged archives were still models")
  }
}
