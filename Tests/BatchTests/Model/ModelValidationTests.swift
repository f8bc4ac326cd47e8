import Foundation
import Streams
import Testing

@testable import CoreDataModel

@Suite("Validation of models")
struct ModelValidationTests {
  static func attribute(_ name: String, _ type: AttributeType = .string) -> AttributeDescription {
    AttributeDescription(name: name, type: type)
  }

  static func problems(_ entities: EntityDescription..., edit: (inout ManagedObjectModel) -> Void = { _ in })
    -> [String]
  {
    var model = ManagedObjectModel(name: "M", entities: entities)
    edit(&model)
    return model.problems.map { "\($0.severity) \($0)" }
  }

  @Test("Names: empty, repeated, reserved, of no identifier, of one name but for case")
  func names() {
    let unnamed = EntityDescription(name: "", attributes: [Self.attribute("")])
    let entity = EntityDescription(
      name: "1 E",
      attributes: [Self.attribute("hash"), Self.attribute("a-b"), Self.attribute("žluť"), Self.attribute("x")],
      relationships: [.toOne("x", "1 E")])
    let child = EntityDescription(name: "Child", superentity: "1 E", attributes: [Self.attribute("x")])
    #expect(
      Self.problems(unnamed, entity, child, EntityDescription(name: "E"), EntityDescription(name: "e"))
        == [
          "warning the entities E and e differ in upper and lower case only", "error an entity has no name",
          "error a property has no name", "warning 1 E: the name is no identifier",
          "warning 1 E.hash: Core Data reserves this name", "warning 1 E.a-b: the name is no identifier",
          "error 1 E.x: two properties have this name", "error Child.x: 1 E has a property of this name already",
        ])
    #expect(
      Self.problems(EntityDescription(name: "E"), EntityDescription(name: "E")) == ["error two entities are named E"])
  }

  @Test("Parents: unknown, in a ring, abstract without heirs")
  func parents() {
    #expect(
      Self.problems(
        EntityDescription(name: "A", superentity: "B"), EntityDescription(name: "B", superentity: "A"),
        EntityDescription(name: "C", superentity: "None"), EntityDescription(name: "D", isAbstract: true),
        EntityDescription(name: "F", isAbstract: true), EntityDescription(name: "G", superentity: "F"))
        == [
          "error A: the entity is its own ancestor", "error B: the entity is its own ancestor",
          "error C: the parent None does not exist",
          "warning D: the entity is abstract and no concrete entity has it as an ancestor",
        ])
  }

  @Test("Relationships: unknown destination or inverse, an inverse that does not point back, impossible counts")
  func relationships() {
    var counted = RelationshipDescription.toMany("counted", "B")
    (counted.minCount, counted.maxCount) = (3, 2)
    var ordered = RelationshipDescription.toOne("ordered", "B")
    ordered.isOrdered = true
    let a = EntityDescription(
      name: "A",
      relationships: [
        .toOne("far", "None"), .toOne("gone", "B", inverse: "none"), .toOne("one", "B", inverse: "other"),
        .toOne("two", "B", inverse: "silent"), .toOne("good", "B", inverse: "back"), .toOne("me", "A", inverse: "me"),
        .toOne("wrong", "B", inverse: "wrong"), counted, ordered,
      ])
    let b = EntityDescription(
      name: "B",
      relationships: [
        .toOne("other", "A"), .toOne("silent", "A", inverse: "elsewhere"), .toOne("back", "C", inverse: "good"),
        .toOne("wrong", "D", inverse: "wrong"),
      ])
    // The inverse may lead to an entity that inherits the relationship.
    let heirs = [EntityDescription(name: "C", superentity: "A"), EntityDescription(name: "D", relationships: [])]
    #expect(
      Self.problems(a, b, heirs[0], heirs[1]) == [
        "error A.far: the destination None does not exist", "error A.gone: the inverse B.none does not exist",
        "warning A.one: the inverse B.other names no inverse",
        "warning A.two: the inverse B.silent names elsewhere as its inverse",
        "warning A.wrong: the inverse B.wrong leads to D",
        "error A.counted: at least 3 objects are wanted, but at most 2 allowed",
        "warning A.ordered: a to-one relationship is marked as ordered",
        "error B.silent: the inverse A.elsewhere does not exist", "error B.wrong: the inverse D.wrong does not exist",
      ])
  }

  @Test("Indexes and constraints: unknown properties, and those without a column")
  func indexes() {
    var transient = Self.attribute("t")
    transient.isTransient = true
    var place = Self.attribute("place", .composite)
    place.elements = [Self.attribute("x")]
    var entity = EntityDescription(
      name: "E", attributes: [Self.attribute("a"), transient, place], relationships: [.toMany("many", "E")])
    entity.fetchedProperties = [FetchedPropertyDescription(name: "f", fetchRequest: .init(entity: "E"))]
    entity.uniquenessConstraints = [["a"], ["place.x"], ["t"], ["none", "many"], []]
    entity.indexes = [
      .init(name: "i", elements: ["a", "place.x", "t", "f", "none", "place.y"].map { .init(property: $0) }),
      .init(name: "i", elements: []),
    ]
    entity.compoundIndexes = [["a", "many"]]
    #expect(
      Self.problems(entity) == [
        "warning E: the index a, many is over the to-many property many",
        "warning E: the index i is over the transient property t",
        "warning E: the index i is over the fetched property f",
        "error E: the index i names the unknown property none",
        "error E: the index i names the unknown property place.y",
        "error E: two indexes are named i", "error E: the uniqueness constraint t names the transient property t",
        "error E: the uniqueness constraint none, many names the unknown property none",
        "error E: the uniqueness constraint none, many names the to-many property many",
        "error E: a uniqueness constraint names no property",
      ])
  }

  @Test("The same index twice is one index, as in models that Core Data wrote into stores")
  func repeatedIndex() {
    var entity = EntityDescription(name: "E", attributes: [Self.attribute("a")], relationships: [])
    entity.indexes = Array(repeating: .init(name: "a", elements: [.init(property: "a")]), count: 2)
    #expect(Self.problems(entity) == [])
  }

  @Test("Attributes, fetched properties, configurations and what was left out")
  func rest() {
    var composite = Self.attribute("c", .composite)
    composite.elements = [Self.attribute("x", .undefined), Self.attribute("x")]
    var filtered = Self.attribute("filtered")
    filtered.derivationFilter = "a == 1"
    var entity = EntityDescription(
      name: "E", attributes: [Self.attribute("u", .undefined), composite, Self.attribute("none", .composite), filtered])
    entity.fetchedProperties = [
      FetchedPropertyDescription(name: "f", fetchRequest: .init(entity: "None")), FetchedPropertyDescription(name: "g"),
    ]
    #expect(
      Self.problems(entity) {
        $0.configurations = ["Local": ["E", "None"]]
        $0.fetchRequestTemplates = ["all": .init(entity: "None")]
        $0.unknownElements = ["model/new"]
      } == [
        "error E.u: the type undefined cannot be stored", "error E.c.x: the type undefined cannot be stored",
        "error E.c: two elements are named x", "error E.none: the composite has no elements",
        "warning E.filtered: it has a derivation filter, but is not derived",
        "warning E.f: it fetches the unknown entity None", "warning E.g: it fetches no entity",
        "error the configuration Local names the unknown entity None",
        "warning the fetch request all names the unknown entity None",
        "warning the element model/new is not known and was left out",
      ])
  }

  @Test("Real models are valid, but for what their authors got wrong", .enabled(if: ModelCorpus.isPresent))
  func corpus() {
    var errors: [String] = []
    var warnings: [String] = []
    for (key, model) in ModelCorpus.versions {
      for problem in model.problems {
        if problem.severity == .error {
          errors.append("\(key) \(problem)")
        } else {
          warnings.append("\(key) \(problem)")
        }
      }
    }
    print("\(ModelCorpus.versions.count) real models: \(errors.count) errors, \(warnings.count) warnings")
    #expect(errors == [])
    #expect(warnings.count == 6)
    #expect(warnings.allSatisfy { $0.hasSuffix("is over the to-many property usedByQuorums") }, "\(warnings)")
  }
}
