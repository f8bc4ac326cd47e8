import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import RunSupport

@Suite("Difference of models")
struct ModelDifferenceTests {
  static func base() -> ManagedObjectModel {
    var value = AttributeDescription(name: "value", type: .integer32, defaultValue: .integer(1))
    value.minimumValue = .integer(0)
    var count = AttributeDescription(name: "count", type: .integer64)
    count.derivationExpression = "others.@count"
    var place = AttributeDescription(name: "place", type: .composite)
    place.elements = [AttributeDescription(name: "x", type: .double), AttributeDescription(name: "y", type: .double)]
    var hidden = AttributeDescription(name: "hidden", type: .string)
    hidden.isTransient = true
    var entity = EntityDescription(
      name: "E", superentity: "Parent", attributes: [value, count, place, hidden],
      relationships: [.toMany("others", "Other", inverse: "owner"), .toOne("me", "E", inverse: "me")])
    entity.fetchedProperties = [FetchedPropertyDescription(name: "found", fetchRequest: .init(entity: "Other"))]
    entity.uniquenessConstraints = [["value"], ["hidden"]]
    let parent = EntityDescription(name: "Parent", attributes: [AttributeDescription(name: "inherited", type: .string)])
    let other = EntityDescription(name: "Other", relationships: [.toOne("owner", "E", inverse: "others")])
    return ManagedObjectModel(name: "Old", entities: [entity, parent, other])
  }

  static func changed(_ edit: (inout EntityDescription) -> Void) -> ManagedObjectModel {
    var model = base()
    edit(&model.entities[0])
    return model
  }

  /// The facets that differ, `!` behind those that are hashed; and that marks and hashes agree.
  static func facets(_ edit: (inout EntityDescription) -> Void) -> [String] {
    let (old, new) = (base(), changed(edit))
    let difference = ModelDifference(from: old, to: new)
    let isMarked = difference.entities.contains { $0.changesVersionHash && $0.source == "E" }
    #expect(isMarked == (old.versionHashes["E"] != new.versionHashes["E"]), "\(difference)")
    return difference.entities.filter { $0.source == "E" }.flatMap { entity in
      (entity.changes + entity.properties.flatMap(\.changes)).map { $0.facet + ($0.changesVersionHash ? "!" : "") }
        + entity.properties.filter { $0.changes.isEmpty }.map { "\($0.kind)" + ($0.changesVersionHash ? "!" : "") }
    }
  }

  static let attributeEdits: [(facet: String, edit: @Sendable (inout AttributeDescription) -> Void)] = [
    ("type!", { $0.type = .integer64 }), ("isOptional!", { $0.isOptional = false }),
    ("isTransient!", { $0.isTransient = true }), ("isReadOnly!", { $0.isReadOnly = true }),
    ("versionHashModifier!", { $0.versionHashModifier = "2" }),
    ("allowsExternalBinaryDataStorage!", { $0.allowsExternalBinaryDataStorage = true }),
    ("preservesValueInHistoryOnDeletion!", { $0.preservesValueInHistoryOnDeletion = true }),
    ("derivationExpression!", { $0.derivationExpression = "inherited" }),
    ("defaultValue", { $0.defaultValue = .integer(2) }),
    ("minimumValue", { $0.minimumValue = .integer(1) }), ("maximumValue", { $0.maximumValue = .integer(1) }),
    ("regularExpression", { $0.regularExpression = "a" }),
    ("validationPredicates", { $0.validationPredicates = ["a"] }),
    ("valueTransformerName", { $0.valueTransformerName = "T" }),
    ("attributeValueClassName", { $0.attributeValueClassName = "C" }), ("compositeName", { $0.compositeName = "C" }),
    ("allowsCloudEncryption", { $0.allowsCloudEncryption = true }),
    ("usesScalarValueType", { $0.usesScalarValueType = true }), ("isIndexed", { $0.isIndexed = true }),
    ("isStoredInExternalRecord", { $0.isStoredInExternalRecord = true }),
    ("isIndexedBySpotlight", { $0.isIndexedBySpotlight = true }), ("isSyncable", { $0.isSyncable = true }),
    ("renamingIdentifier", { $0.renamingIdentifier = "value" }), ("userInfo", { $0.userInfo = ["a": "b"] }),
    ("unknown", { $0.unknown = ["a": "b"] }),
  ]

  @Test("Every facet of an attribute is named, hashed ones as such")
  func attributes() {
    for (facet, edit) in Self.attributeEdits {
      #expect(Self.facets { edit(&$0.attributes[0]) } == [facet])
      // Of what is transient nothing is hashed, nor of what is derived or composite but the derivation and the
      // elements.
      let plain = facet.replacing("!", with: "")
      if facet != "isTransient!" { #expect(Self.facets { edit(&$0.attributes[3]) }.contains(plain), "\(facet)") }
      if facet != "derivationExpression!" { _ = Self.facets { edit(&$0.attributes[1]) } }
      _ = Self.facets { edit(&$0.attributes[2]) }
    }
    #expect(Self.facets { $0.attributes[0].versionHashModifier = "" } == [])
    #expect(Self.facets { $0.attributes[1].isOptional = false } == ["isOptional"])
    #expect(Self.facets { $0.attributes[1].derivationFilter = "a == 1" } == ["derivationFilter!"])
    #expect(Self.facets { $0.attributes[1].derivationExpression = "count:(others)" } == ["derivationExpression"])
    #expect(Self.facets { $0.attributes[2].elements[0].isOptional = false } == ["elements!"])
    #expect(Self.facets { $0.attributes[2].elements[0].userInfo = ["a": "b"] } == ["elements"])
    #expect(Self.facets { $0.attributes[2].elements.swapAt(0, 1) } == ["elements"])
  }

  @Test("Every facet of a relationship is named, hashed ones as such")
  func relationships() {
    typealias Edit = (inout RelationshipDescription) -> Void
    let edits: [(String, Edit)] = [
      ("destinationEntity!", { $0.destinationEntity = "Parent" }), ("inverseName!", { $0.inverseName = nil }),
      ("inverseEntity", { $0.inverseEntity = "Parent" }), ("maxCount!", { $0.maxCount = 5 }),
      ("minCount!", { $0.minCount = 1 }), ("isOrdered!", { $0.isOrdered = true }),
      ("isOptional!", { $0.isOptional = false }), ("isTransient!", { $0.isTransient = true }),
      ("isReadOnly!", { $0.isReadOnly = true }), ("versionHashModifier!", { $0.versionHashModifier = "2" }),
      ("deleteRule", { $0.deleteRule = .deny }), ("isIndexed", { $0.isIndexed = true }),
      ("isStoredInExternalRecord", { $0.isStoredInExternalRecord = true }),
      ("isIndexedBySpotlight", { $0.isIndexedBySpotlight = true }), ("isSyncable", { $0.isSyncable = false }),
      ("validationPredicates", { $0.validationPredicates = ["a"] }),
      ("renamingIdentifier", { $0.renamingIdentifier = "others" }), ("userInfo", { $0.userInfo = ["a": "b"] }),
      ("unknown", { $0.unknown = ["a": "b"] }),
    ]
    for (facet, edit) in edits { #expect(Self.facets { edit(&$0.relationships[0]) } == [facet]) }
    // A relationship that is its own inverse hashes none.
    #expect(Self.facets { $0.relationships[1].inverseName = nil } == ["inverseName"])
    #expect(Self.facets { $0.relationships[1].inverseName = "others" } == ["inverseName!"])
  }

  @Test("Every facet of an entity and of a fetched property is named, hashed ones as such")
  func entities() {
    typealias Edit = (inout EntityDescription) -> Void
    let edits: [(String, Edit)] = [
      ("isAbstract!", { $0.isAbstract = true }), ("superentity!", { $0.superentity = nil }),
      ("versionHashModifier!", { $0.versionHashModifier = "2" }),
      ("uniquenessConstraints!", { $0.uniquenessConstraints = [] }),
      ("uniquenessConstraints", { $0.uniquenessConstraints.reverse() }),
      ("managedObjectClassName", { $0.managedObjectClassName = "C" }),
      ("indexes", { $0.indexes = [.init(name: "i", elements: [.init(property: "value", isAscending: false)])] }),
      ("compoundIndexes", { $0.compoundIndexes = [["value", "hidden"]] }),
      ("renamingIdentifier", { $0.renamingIdentifier = "E" }),
      ("codeGenerationType", { $0.codeGenerationType = "class" }),
      ("coreSpotlightDisplayNameExpression", { $0.coreSpotlightDisplayNameExpression = "value" }),
      ("isSyncable", { $0.isSyncable = true }), ("userInfo", { $0.userInfo = ["a": "b"] }),
      ("unknown", { $0.unknown = ["a": "b"] }),
      ("fetchRequest", { $0.fetchedProperties[0].fetchRequest.predicate = "a == 1" }),
      ("isOptional", { $0.fetchedProperties[0].isOptional = false }),
      ("removed", { $0.fetchedProperties = [] }), ("removed!", { $0.attributes.removeFirst() }),
      ("removed", { $0.attributes.removeLast() }),
      ("added!", { $0.attributes.append(AttributeDescription(name: "new", type: .string)) }),
    ]
    for (facet, edit) in edits { #expect(Self.facets(edit) == [facet]) }
    var new = Self.base()
    new.entities[2].attributes[0].isOptional = false
    let difference = ModelDifference(from: Self.base(), to: new)
    #expect(difference.entities.map(\.destination) == ["E", "Parent"])
    #expect(difference.entities[0].changes.map(\.facet) == ["ancestors"])
  }

  @Test("What was renamed or moved is found again")
  func renamed() {
    var new = Self.base()
    new.entities[2].attributes.append(new.entities[0].attributes.removeFirst())
    new.entities[0].attributes.append(new.entities[2].attributes.removeFirst())
    new.entities[0].relationships[0].renamingIdentifier = "others"
    new.entities[0].relationships[0].name = "friends"
    new.entities[1].name = "Friend"
    new.entities[1].renamingIdentifier = "Other"
    new.entities[0].relationships[0].destinationEntity = "Friend"
    let difference = ModelDifference(from: Self.base(), to: new)
    #expect(
      difference.entities.map { "\($0.kind) \($0.source ?? "") \($0.destination ?? "")" } == [
        "changed E E", "renamed Other Friend", "changed Parent Parent",
      ])
    #expect(
      difference.entities[0].properties.map { "\($0.kind) \($0.source ?? "") \($0.destination ?? "")" } == [
        "moved Parent.inherited E.inherited", "moved E.value Parent.value", "renamed others friends",
      ])
    #expect(difference.isInferable && difference.changesVersionHashes)
  }

  @Test("What cannot be inferred is named with its reason, what depends on the rows with its condition")
  func obstacles() throws {
    let new = Self.changed {
      $0.attributes[0].type = .date
      $0.attributes.append(AttributeDescription(name: "needed", type: .string, isOptional: false))
      $0.relationships[0].maxCount = 1
    }
    let difference = ModelDifference(from: Self.base(), to: new)
    #expect(!difference.isInferable)
    #expect(
      difference.obstacles.map(\.description) == [
        "E.value: the type changed from integer32 to date",
        "E.others: the to-many became a to-one, so all but one object would be lost",
      ])
    let error = #expect(throws: BatchError.self) { try MappingModel.inferred(from: Self.base(), to: new) }
    for obstacle in difference.obstacles { #expect(error?.message.contains(obstacle.description) == true) }
    #expect(
      difference.description == """
        Old to Old: no mapping model can be inferred
          E changed, new version hash
            attribute value changed
              type: integer32 -> date (hashed)
            attribute needed added
              can be inferred only while there is no object
            relationship others changed
              maxCount: 0 -> 1 (hashed)
          not inferable: E.value: the type changed from integer32 to date
            Map the attribute with a value expression or a policy that converts the value.
          not inferable: E.others: the to-many became a to-one, so all but one object would be lost
            Map the relationship with a rule of a mapping file or a policy that chooses the one object.
        """)
  }

  @Test("As JSON it has the same keys whenever, and reads back equal")
  func json() throws {
    let new = Self.changed {
      $0.attributes[0].type = .date
      $0.managedObjectClassName = "C"
    }
    let difference = ModelDifference(from: Self.base(), to: new)
    let data = try JSONEncoder().encode(difference)
    #expect(try JSONDecoder().decode(ModelDifference.self, from: data) == difference)
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(
      object.keys.sorted() == [
        "changes", "changesColumns", "changesVersionHashes", "destination", "entities", "isInferable", "obstacles",
        "source",
      ])
    let entity = try #require((object["entities"] as? [[String: Any]])?.first)
    #expect(entity.keys.sorted() == ["changes", "changesVersionHash", "destination", "kind", "properties", "source"])
    let property = try #require((entity["properties"] as? [[String: Any]])?.first)
    #expect(property.keys.sorted() == ["changes", "changesVersionHash", "destination", "kind", "property", "source"])
    let change = try #require((property["changes"] as? [[String: Any]])?.first)
    #expect(change as NSDictionary == ["facet": "type", "old": "integer32", "new": "date", "changesVersionHash": true])
  }

  @Test("Two equal models do not differ")
  func equal() {
    let difference = ModelDifference(from: Self.base(), to: Self.base())
    #expect(difference.entities == [] && !difference.changesVersionHashes && difference.isInferable)
    #expect(difference.description == "Old to Old: no difference")
  }
}
