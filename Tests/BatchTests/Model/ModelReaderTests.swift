import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import RunSupport

/// A folder that is removed with the test.
final class ModelFolder {
  let path: String

  init(_ files: [String: String]) throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    for (name, text) in files {
      let file = URL(fileURLWithPath: path + "/" + name)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

@Suite("Model reader")
struct ModelReaderTests {
  static let model = """
    <?xml version="1.0" encoding="UTF-8"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" userDefinedModelVersionIdentifier="v1">
      <entity name="Animal" isAbstract="YES" representedClassName="Animal" syncable="YES">
        <attribute name="name" attributeType="String" defaultValueString="" elementID="title" minValueString="1"/>
        <attribute name="born" optional="YES" attributeType="Date" defaultDateTimeInterval="-3600"/>
        <attribute name="legs" attributeType="Integer 16" defaultValueString="0.0"/>
        <attribute name="place" optional="YES" attributeType="Composite" composite="Point"/>
        <attribute name="cached" transient="YES" syncable="YES"/>
        <relationship name="owner" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Owner"
          inverseName="pets" inverseEntity="Owner"/>
        <userInfo><entry key="a" value="b"/></userInfo>
      </entity>
      <entity name="Dog" parentEntity="Animal" versionHashModifier="2"/>
      <entity name="Owner">
        <attribute name="id" attributeType="UUID" defaultValueString="00000000-0000-0000-0000-0000000000FF"/>
        <attribute name="count" attributeType="Integer 64" derived="YES" derivationExpression="pets.@count"/>
        <relationship name="pets" toMany="YES" ordered="YES" deletionRule="Cascade" destinationEntity="Animal"
          inverseName="owner" inverseEntity="Animal"/>
        <fetchIndex name="byId"><fetchIndexElement property="id" type="Binary" order="descending"/></fetchIndex>
        <uniquenessConstraints><uniquenessConstraint><constraint value="id"/><constraint value="count"/>
        </uniquenessConstraint></uniquenessConstraints>
      </entity>
      <composite name="Point"><attribute name="x" attributeType="Double"/><attribute name="y" attributeType="Double"/>
      </composite>
      <configuration name="Local"><memberEntity name="Dog"/></configuration>
    </model>
    """

  @Test("All parts of a model come into its descriptions, unknown attributes are kept")
  func parts() throws {
    let folder = try ModelFolder(["Zoo.xcdatamodel/contents": Self.model])
    let bundle = try #require(try ModelReader.read(path: folder.path).first)
    let model = try #require(bundle.versions.first)
    #expect(model.name == "Zoo" && model.versionIdentifiers == ["v1"] && model.configurations == ["Local": ["Dog"]])
    let animal = try #require(model.entity("Animal"))
    #expect(animal.isAbstract && animal.userInfo == ["a": "b"] && animal.isSyncable == true && animal.unknown == [:])
    let name = try #require(model.attribute("name", of: "Dog"))
    #expect(name.defaultValue == .text("") && name.renamingIdentifier == "title" && !name.isOptional)
    #expect(name.minimumValue == .integer(1) && name.unknown == [:])
    #expect(model.attribute("born", of: "Animal")?.defaultValue == .real(-3600))
    #expect(model.attribute("legs", of: "Animal")?.defaultValue == .integer(0))
    #expect(model.attribute("place", of: "Animal")?.elements.map(\.name) == ["x", "y"])
    #expect(model.attribute("cached", of: "Animal")?.type == .undefined)
    #expect(model.attribute("id", of: "Owner")?.defaultValue == .blob([UInt8](repeating: 0, count: 15) + [255]))
    #expect(model.attribute("count", of: "Owner")?.derivationExpression == "pets.@count")
    let pets = try #require(model.relationship("pets", of: "Owner"))
    #expect(pets.maxCount == 0 && pets.isOrdered && pets.deleteRule == .cascade && pets.inverseName == "owner")
    #expect(model.entity("Owner")?.uniquenessConstraints == [["id", "count"]])
    #expect(model.entity("Owner")?.indexes.first?.elements.first?.isAscending == false)
    #expect(model.entity("Dog")?.versionHashModifier == "2")
    try model.validate()
  }

  @Test("An empty version identifier is one, as stores of such models hold it; a missing one is none")
  func versionIdentifiers() throws {
    for (attribute, expected) in [(" userDefinedModelVersionIdentifier=\"\"", [""]), ("", [])] {
      let folder = try ModelFolder(["M.xcdatamodel/contents": "<model\(attribute)><entity name=\"A\"/></model>"])
      #expect(try ModelReader.read(path: folder.path).first?.versions.first?.versionIdentifiers == expected)
    }
  }

  @Test("Versions stand in the order of their numbers, and the current one is known")
  func order() throws {
    var files = ["Zoo.xcdatamodeld/.xccurrentversion": Self.current("Zoo 10.xcdatamodel")]
    for name in ["Zoo 10", "Zoo 2", "Zoo", "Zoo 2.5"] {
      files["Zoo.xcdatamodeld/\(name).xcdatamodel/contents"] = Self.model
    }
    let folder = try ModelFolder(files)
    let bundle = try #require(try ModelReader.read(path: folder.path + "/Zoo.xcdatamodeld").first)
    #expect(bundle.versions.map(\.name) == ["Zoo", "Zoo 2", "Zoo 2.5", "Zoo 10"])
    #expect(bundle.currentVersion == "Zoo 10")
  }

  static func current(_ name: String) -> String {
    "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>\(name)</string></dict></plist>"
  }

  @Test(
    "A file that is no model is refused with its path and what to do",
    arguments: [
      (
        "<model><entity name=\"A\"><attribute name=\"b\" attributeType=\"Text\"/></entity></model>",
        "attribute type \"Text\""
      ),
      ("<model><entity/></model>", "has no name"), ("<model><entity name=\"A\"></model>", "damaged at line 1"),
      ("<model><entity name=\"A\"/>", "damaged at line 1"), ("<model/><model/>", "damaged at line 1"),
      ("<!DOCTYPE m [<!ENTITY a \"b\">]><model/>", "declares entities"),
      ("<plist/>", "is not a model"), ("", "holds no data model"),
      ("<model><entity name=\"A\" isAbstract=\"maybe\"/></model>", "neither YES nor NO"),
      (
        "<model><entity name=\"A\"><attribute name=\"b\" attributeType=\"Composite\" composite=\"P\"/></entity>"
          + "<composite name=\"P\"><attribute name=\"p\" attributeType=\"Composite\" composite=\"P\"/></composite></model>",
        "holds itself"
      ),
    ])
  func refused(text: String, reason: String) throws {
    let folder = try ModelFolder(["A.xcdatamodel/contents": text])
    let error = #expect(throws: BatchError.self) { try ModelReader.read(path: folder.path) }
    #expect(error?.code == .badModel && error?.path?.hasSuffix("contents") == true)
    #expect(error?.message.contains(reason) == true, "\(error?.description ?? "")")
  }

  @Test("A damaged version in Xcode's old binary format is refused by its file, with what to do")
  func legacy() throws {
    let folder = try ModelFolder(["Old.xcdatamodel/elements": "bplist00", "Old.xcdatamodel/layout": ""])
    let error = #expect(throws: BatchError.self) { try ModelReader.read(path: folder.path) }
    #expect(error?.code == .badModel && error?.path?.hasSuffix("Old.xcdatamodel/elements") == true)
    #expect(error?.hint != nil)
  }

  @Test("Validation names every contradiction at once")
  func validation() throws {
    var a = EntityDescription(name: "A")
    a.superentity = "B"
    a.attributes = [AttributeDescription(name: "x", type: .string), AttributeDescription(name: "x", type: .string)]
    var b = EntityDescription(name: "B")
    b.superentity = "A"
    var c = EntityDescription(name: "C")
    c.superentity = "Nothing"
    c.relationships = [
      RelationshipDescription(name: "to", destinationEntity: "D", inverseName: nil, maxCount: 1),
      RelationshipDescription(name: "back", destinationEntity: "E", inverseName: "gone", maxCount: 1),
    ]
    let entities = [a, b, c, EntityDescription(name: "E"), EntityDescription(name: "E")]
    let error = #expect(throws: BatchError.self) { try ManagedObjectModel(name: "M", entities: entities).validate() }
    for line in [
      "two entities are named E", "A: the entity is its own ancestor", "A.x: two properties have this name",
      "C: the parent Nothing does not exist", "C.to: the destination D does not exist",
      "C.back: the inverse E.gone does not exist",
    ] { #expect(error?.message.contains(line) == true, "\(line)") }
    #expect(ManagedObjectModel(entities: entities).entityNumbers.count == 4)
    #expect(ManagedObjectModel(entities: entities).versionHashes.count == 4)
  }

  @Test("Entity numbers go depth first, names without regard to case")
  func numbers() {
    let names = [("b", nil), ("A", nil), ("_z", nil), ("C", "A"), ("d", "C"), ("B2", "A")] as [(String, String?)]
    let model = ManagedObjectModel(
      entities: names.map {
        var entity = EntityDescription(name: $0.0)
        entity.superentity = $0.1
        return entity
      })
    #expect(model.entitiesInNumberOrder == ["_z", "A", "B2", "C", "d", "b"])
    #expect(model.entityNumbers["d"] == 5)
  }
}
