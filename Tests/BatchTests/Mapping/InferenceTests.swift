import Streams
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import RunSupport

@Suite("Inference")
struct InferenceTests {
  static func entity(
    _ name: String, parent: String? = nil, id: String? = nil, _ attributes: [AttributeDescription] = [],
    _ relationships: [RelationshipDescription] = []
  ) -> EntityDescription {
    var entity = EntityDescription(name: name)
    entity.superentity = parent
    entity.renamingIdentifier = id
    entity.attributes = attributes
    entity.relationships = relationships
    return entity
  }

  static func attribute(_ name: String, _ type: AttributeType = .string, id: String? = nil) -> AttributeDescription {
    var attribute = AttributeDescription(name: name, type: type)
    attribute.renamingIdentifier = id
    return attribute
  }

  static func toOne(
    _ name: String, _ destination: String, id: String? = nil, max: Int32 = 1
  ) -> RelationshipDescription {
    var relationship = RelationshipDescription(
      name: name, destinationEntity: destination, inverseName: nil, maxCount: max)
    relationship.renamingIdentifier = id
    return relationship
  }

  static func infer(_ source: [EntityDescription], _ destination: [EntityDescription]) throws -> MappingModel {
    try .inferred(
      from: ManagedObjectModel(name: "Old", entities: source),
      to: ManagedObjectModel(name: "New", entities: destination))
  }

  @Test("Expressions are given for renamed properties only")
  func renaming() throws {
    var hidden = Self.attribute("hidden")
    hidden.isTransient = true
    let model = try Self.infer(
      [
        Self.entity("Car", [Self.attribute("name"), Self.attribute("same")], [Self.toOne("driver", "Man")]),
        Self.entity("Man"), Self.entity("Gone"),
      ],
      [
        Self.entity(
          "Auto", id: "Car",
          [Self.attribute("title", id: "name"), Self.attribute("same"), Self.attribute("new"), hidden],
          [Self.toOne("owner", "Man", id: "driver", max: 0)]), Self.entity("Man"), Self.entity("Fresh"),
      ])
    #expect(model.entityMappings.map(\.name) == ["CarToAuto", "Fresh", "ManToMan", "Gone"])
    let auto = model.entityMappings[0]
    #expect(auto.attributeMappings.map(\.name) == ["title", "same", "new"])
    #expect(auto.attributeMappings.map { $0.valueExpression?.description } == ["$source.name", nil, nil])
    #expect(
      auto.relationshipMappings.map { $0.valueExpression?.description } == [
        "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", \"driver\", "
          + "$source.driver)"
      ])
    #expect(model.entityMappings[3].destinationEntity == nil && model.entityMappings[1].sourceEntity == nil)
    #expect(model.sourceHashes.count == 3 && model.sourceModelName == "Old")
  }

  @Test("A new attribute does not copy from an old one of its name that lives on under another name")
  func takenName() throws {
    var new = Self.attribute("a", id: "fresh")
    new.defaultValue = .text("x")
    let model = try Self.infer(
      [Self.entity("E", [Self.attribute("a")])], [Self.entity("E", [Self.attribute("b", id: "a"), new])])
    #expect(
      model.entityMappings[0].attributeMappings == [
        PropertyMapping(name: "b", valueExpression: .keyPath(operand: .variable("source"), path: ["a"])),
        PropertyMapping(name: "a", valueExpression: .constant(.text("x"))),
      ])
  }

  @Test("An identifier that was added or removed without a renaming loses nothing")
  func identifierAlone() throws {
    let model = try Self.infer(
      [Self.entity("E", id: "Before", [Self.attribute("a", id: "z")])],
      [Self.entity("E", [Self.attribute("a", id: "y")])])
    #expect(model.entityMappings.map(\.name) == ["EToE"])
    #expect(model.entityMappings[0].attributeMappings == [PropertyMapping(name: "a")])
  }

  @Test("A relationship whose old destination is gone starts empty")
  func destinationGone() throws {
    let model = try Self.infer(
      [Self.entity("E", [], [Self.toOne("to", "Old")]), Self.entity("Old")],
      [Self.entity("E", [], [Self.toOne("to", "New")]), Self.entity("New")])
    #expect(
      model.entityMappings[0].relationshipMappings == [PropertyMapping(name: "to", valueExpression: .constant(.null))])
    #expect(model.entityMappings.map(\.name) == ["EToE", "New", "Old"])
  }

  @Test("Numbers and Booleans change into each other")
  func numbers() throws {
    let types: [AttributeType] = [.integer16, .integer32, .integer64, .decimal, .double, .float, .boolean]
    for old in types {
      for new in types {
        _ = try Self.infer(
          [Self.entity("E", [Self.attribute("a", old)])], [Self.entity("E", [Self.attribute("a", new)])])
      }
    }
  }

  @Test("Whatever cannot be inferred is named, all in one error")
  func refused() throws {
    var abstract = Self.entity("Was")
    abstract.isAbstract = true
    let error = #expect(throws: BatchError.self) {
      try Self.infer(
        [
          Self.entity("E", [Self.attribute("when"), Self.attribute("x")], [Self.toOne("many", "E", max: 0)]),
          Self.entity("One"), Self.entity("Two"), Self.entity("Was"), Self.entity("Far", [], [Self.toOne("to", "One")]),
        ],
        [
          Self.entity(
            "E", [Self.attribute("when", .date), Self.attribute("x"), Self.attribute("y", id: "x")],
            [Self.toOne("many", "E")]), Self.entity("One", parent: "Root"), Self.entity("Root"),
          Self.entity("Two", parent: "Root"), abstract, Self.entity("Far", [], [Self.toOne("to", "E")]),
        ])
    }
    #expect(error?.code == .refused)
    #expect(
      error?.message.split(separator: "\n").map(String.init) == [
        "no mapping model can be inferred from Old to New:",
        "Two: the entity shares the ancestor Root with One, but had none in common with it",
        "E.x and E.y: both come from x", "E.when: the type changed from string to date",
        "E.many: the to-many became a to-one, so all but one object would be lost",
        "Far.to: the destination changed from One to E, which has no place for objects of One",
        "Was: the entity became abstract, so its objects have no place",
      ])
  }
}
