import Streams

@testable import CoreDataModel

enum CompiledSample {
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
      name: "area",
      elements: [.init(property: "x", type: "RTree"), .init(property: "y", type: "RTree", isAscending: false)])
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
      _ name: String, _ type: AttributeType, _ value: Value? = nil,
      _ set: (inout AttributeDescription) -> Void = { _ in }
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
      make("color", .transformable) {
        ($0.valueTransformerName, $0.attributeValueClassName) = ("ColorTransformer", "UIColor")
      },
      make("cached", .undefined) { ($0.isTransient, $0.userInfo) = (true, ["k": "v"]) },
      make("reference", .string) { $0.isReadOnly = true },
      make("place", .composite) { place in
        var inner = AttributeDescription(name: "inner", type: .composite)
        inner.elements = [
          AttributeDescription(name: "z", type: .double), AttributeDescription(name: "a", type: .string),
        ]
        place.elements = [AttributeDescription(name: "lon", type: .double, defaultValue: .real(1)), inner]
      },
    ]
  }

  private static func relationships() -> [RelationshipDescription] {
    var animals = RelationshipDescription.toMany(
      "animals", "Animal", inverse: "keeper", isOrdered: true, deleteRule: .cascade)
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
    let request = FetchRequestDescription(
      entity: "Dog", predicate: "breed == $FETCH_SOURCE.name OR breed BEGINSWITH[c] \"a\"")
    var property = FetchedPropertyDescription(name: "dogs", fetchRequest: request)
    (property.isTransient, property.renamingIdentifier, property.userInfo) = (true, "hounds", ["f": "g"])
    return property
  }
}
