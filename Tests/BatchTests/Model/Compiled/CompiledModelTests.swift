import Foundation
import Streams
import Testing

@testable import Batch

@Suite("Compiled models and model caches")
struct CompiledModelTests {
  /// A model with everything that an archive can hold.
  static func model() -> ManagedObjectModel {
    var animal = EntityDescription(name: "Animal", isAbstract: true, attributes: attributes())
    animal.managedObjectClassName = "Zoo.Animal"
    animal.renamingIdentifier = "Beast"
    animal.versionHashModifier = "2"
    animal.userInfo = ["a": "b", "empty": ""]
    animal.uniquenessConstraints = [["name"], ["born", "legs"]]
    animal.compoundIndexes = [["legs", "name"]]
    var area = EntityDescription.FetchIndex(
      name: "area", elements: [.init(property: "x", type: "RTree"), .init(property: "y", type: "RTree", isAscending: false)])
    area.partialPredicate = "legs > 2 AND name != nil"
    animal.indexes = [.init(name: "byName", elements: [.init(property: "name", isAscending: false)]), area]
    animal.relationships = [.toOne("keeper", "Keeper", inverse: "animals", deleteRule: .deny)]
    var dog = EntityDescription(name: "Dog", superentity: "Animal")
    dog.attributes = [AttributeDescription(name: "breed", type: .string)]
    var keeper = EntityDescription(name: "Keeper", relationships: relationships())
    keeper.attributes = derived()
    keeper.fetchedProperties = [fetched()]
    var model = ManagedObjectModel(name: "Zoo", entities: [animal, dog, keeper], versionIdentifiers: ["", "v1"])
    model.configurations = ["Local": ["Animal", "Dog"], "Remote": ["Keeper"], "None": []]
    var template = FetchRequestDescription(entity: "Dog", predicate: "breed == $breed")
    (template.fetchLimit, template.fetchOffset, template.fetchBatchSize, template.resultType) = (5, 1, 20, 2)
    model.fetchRequestTemplates = ["dogs": template, "all": FetchRequestDescription(entity: "Animal")]
    return model
  }

  private static func attributes() -> [AttributeDescription] {
    func make(
      _ name: String, _ type: AttributeType, _ value: Value? = nil, _ set: (inout AttributeDescription) -> Void = { _ in }
    )
      -> AttributeDescription
    {
      var attribute = AttributeDescription(name: name, type: type, isOptional: false, defaultValue: value)
      set(&attribute)
      return attribute
    }
    return [
      make("name", .string, .text("")) {
        ($0.minimumValue, $0.maximumValue, $0.regularExpression) = (.integer(1), .integer(9), "[a-z]\\d\"")
        $0.validationPredicates = ["SELF != \"x\""]
        $0.renamingIdentifier = "title"
      },
      make("born", .date, .real(-3600)) { ($0.minimumValue, $0.isIndexed) = (.real(0.5), true) },
      make("legs", .integer16, .integer(4)) { ($0.minimumValue, $0.maximumValue) = (.integer(0), .integer(8)) },
      make("count", .integer32, .integer(-1)), make("total", .integer64, .integer(.max)),
      make("price", .decimal, .real(123_456_789_012_345.67891)) {
        ($0.exactDefaultValue, $0.maximumValue) = ("123456789012345.678912345", .text("99999999999999999999.5"))
      },
      make("x", .double, .real(0.1)) { $0.maximumValue = .real(3) }, make("y", .float, .real(Double(Float(1.1)))),
      make("tame", .boolean, .integer(1)) { $0.versionHashModifier = "m" },
      make("photo", .binaryData) { ($0.allowsExternalBinaryDataStorage, $0.isIndexedBySpotlight) = (true, true) },
      make("icon", .binaryData, .blob([1, 2])) { $0.preservesValueInHistoryOnDeletion = true },
      make("id", .uuid, .blob(Array(0..<16))), make("page", .uri, .text("https://example.com/a")),
      make("color", .transformable) { ($0.valueTransformerName, $0.attributeValueClassName) = ("ColorTransformer", "UIColor") },
      make("cached", .undefined) { ($0.isTransient, $0.userInfo) = (true, ["k": "v"]) },
      make("reference", .string) { $0.isReadOnly = true },
      make("place", .composite) { place in
        var inner = AttributeDescription(name: "inner", type: .composite)
        inner.elements = [AttributeDescription(name: "z", type: .double), AttributeDescription(name: "a", type: .string)]
        place.elements = [AttributeDescription(name: "lon", type: .double, defaultValue: .real(1)), inner]
      },
    ]
  }

  private static func relationships() -> [RelationshipDescription] {
    var animals = RelationshipDescription.toMany("animals", "Animal", inverse: "keeper", isOrdered: true, deleteRule: .cascade)
    (animals.minCount, animals.isOptional, animals.userInfo) = (1, false, ["o": "p"])
    var limited = RelationshipDescription(name: "pupils", destinationEntity: "Keeper", inverseName: nil, maxCount: 3)
    (limited.isTransient, limited.deleteRule, limited.versionHashModifier) = (true, .noAction, "7")
    var best = RelationshipDescription.toOne("best", "Keeper", inverse: "best")
    (best.renamingIdentifier, best.isIndexed, best.isReadOnly, best.isIndexedBySpotlight) = ("friend", true, true, true)
    best.validationPredicates = ["best.name != nil"]
    return [animals, limited, best]
  }

  private static func derived() -> [AttributeDescription] {
    ["count:(animals)", "now()", "canonical:(best.name)", "best.changed"].enumerated().map { number, text in
      var attribute = AttributeDescription(name: "derived\(number)", type: number == 0 ? .integer64 : .string)
      attribute.derivationExpression = text
      if number == 0 { attribute.derivationFilter = "legs > 2" }
      return attribute
    }
  }

  private static func fetched() -> FetchedPropertyDescription {
    let request = FetchRequestDescription(entity: "Dog", predicate: "breed == $FETCH_SOURCE.name OR breed BEGINSWITH[c] \"a\"")
    var property = FetchedPropertyDescription(name: "dogs", fetchRequest: request)
    (property.isTransient, property.renamingIdentifier, property.userInfo) = (true, "hounds", ["f": "g"])
    return property
  }

  @Test("A model with every feature reads back equal from its cache, with the same hashes, and as the same bytes")
  func everything() throws {
    let model = Self.model()
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
    for seed in first..<first + 150 {
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
    entity.attributes[0].validationPredicates = ["a + 1 == 2"]
    entity.indexes = [.init(name: "i", elements: [.init(property: "a")])]
    entity.indexes[0].partialPredicate = "%@ == a"
    let (_, leftOut) = try ModelCache.encode(ManagedObjectModel(entities: [entity]))
    #expect(leftOut.count == 2 && leftOut.allSatisfy { $0.hasPrefix("A") })
    entity.attributes[0].derivationExpression = "a + 1"
    let error = #expect(throws: BatchError.self) { try ModelCache.encode(ManagedObjectModel(entities: [entity])) }
    #expect(error?.entity == "A" && error?.message.contains("the derivation") == true)
  }

  @Test("A cache that is cut off, empty or no model is an error that says what to do without it")
  func damaged() throws {
    let content = try ModelCache.encode(Self.model()).content
    let notModel = Deflate.encode(PropertyListWriter.write(.dictionary(["a": .integer(1)])))
    for bytes in [[], Array(content.dropLast(9)), Array(content.prefix(40)), Array("no cache".utf8), notModel, content + [0]] {
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
    func refused(_ objects: [PropertyListValue], _ reason: String) throws {
      let archive = PropertyListWriter.write(
        .dictionary(["$objects": .array([.string("$null")] + objects), "$top": .dictionary(["root": .uid(1)])]))
      let error = #expect(throws: BatchError.self) { try CompiledModelReader.read(archive, name: "") }
      #expect(error?.message.contains(reason) == true, "\(error?.description ?? "")")
    }
    func dictionary(_ members: [PropertyListValue]) -> PropertyListValue {
      .dictionary(["NS.keys": .array(members.map { _ in .uid(3) }), "NS.objects": .array(members)])
    }
    let name = PropertyListValue.string("E")
    // One entity, referred to 9 000 times, with one attribute, referred to 100 000 times.
    try refused(
      [
        .dictionary(["NSEntities": .uid(2)]), dictionary(Array(repeating: .uid(4), count: 9_000)), name,
        .dictionary(["NSEntityName": .uid(3), "NSProperties": .uid(5)]), dictionary(Array(repeating: .uid(6), count: 100_000)),
        .dictionary(["NSPropertyName": .uid(3)]),
      ], "too often")
    // A million references to entities that are none.
    let many = dictionary(Array(repeating: .uid(4), count: 1_000_000))
    try refused([.dictionary(["NSEntities": .uid(2)]), many, name, .dictionary([:])], "more than 10000 entities")
    // An entity that is its own dictionary, parent and property; a composite that holds itself.
    let own: [String: PropertyListValue] = [
      "NSEntities": .uid(1), "NSEntityName": .uid(3), "NSSuperentity": .uid(1), "NSProperties": .uid(1),
      "NS.keys": .array([.uid(3)]),
      "NS.objects": .array([.uid(1)]), "NSCompositeElements": .uid(2), "NSUnderlyingProperty": .uid(1),
    ]
    try refused([.dictionary(own), .dictionary(["NS.objects": .array([.uid(1)])]), name], "nested too deeply")
    // A chain of 200 parents.
    let chain = (0..<200).map { number -> PropertyListValue in
      .dictionary(["NSEntityName": .string("E\(number)"), "NSSuperentity": .uid(4 + number + 1)])
    }
    try refused(
      [.dictionary(["NSEntities": .uid(2)]), dictionary((0..<200).map { .uid(4 + $0) }), name] + chain, "more than 64 ancestors")
  }

  @Test("Damaged archives and caches end in a model or an error, never in a trap")
  func mutations() throws {
    let seed: UInt64 = 20_250_103
    print("seed \(seed)")
    var random = SeededRandom(seed)
    let (archive, _) = CompiledModelWriter.write(Self.model())
    let content = Deflate.encode(archive)
    var read = 0
    for _ in 0..<1_000 {
      if let model = try? CompiledModelReader.read(PropertyListFormTests.mutated(archive, &random), name: "") {
        _ = (model.versionHashes, model.entityNumbers, try? model.validate(), CompiledModelWriter.write(model).bytes.count)
        read += 1
      }
      _ = try? ModelCache.decode(PropertyListFormTests.mutated(content, &random))
    }
    print("\(read) damaged archives were still models")
  }
}
