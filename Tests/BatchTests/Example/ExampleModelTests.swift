import Foundation
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MappingModels
@testable import Migrations

@Suite("The library model of the example")
struct ExampleModelTests {
  @Test("The model has three versions, of which the last is current")
  func versions() throws {
    let library = try ExampleLibrary.models()
    #expect(library.versions.map(\.name) == ["Library 1", "Library 2", "Library 3"])
    #expect(try library.target(named: nil).name == "Library 3")
    for version in library.versions { try version.validate() }
  }

  @Test("Version hashes stay what they were when the first stores were made")
  func hashes() throws {
    let checksums = try ExampleLibrary.models().versions.map { ManagedObjectModel.versionChecksum($0.versionHashes) }
    #expect(
      checksums == [
        "mNP6biXZzrjWGBPoVvP+B7kupkMq85N5H8Bs4/6+Bqs=", "UDu6jpGX3kExLC8g6UWLbPx36XLHsV60+T9V499TZbM=",
        "rxsPjt+YJopa070EnwVUO0rXT8xHJlYCSpZ1TWXaFwg=",
      ])
  }

  @Test("The hints for sample data stand in version 1, and no version hash depends on them")
  func hints() throws {
    let model = try ExampleLibrary.version(1)
    let book = try #require(model.entity("Book"))
    #expect(book.userInfo == ["godwit.sample.share": "40"])
    #expect(model.entity("User")?.userInfo == ["godwit.sample.share": "1"])
    let author = model.attribute("authorName", of: "Book")?.userInfo
    #expect(author == ["godwit.sample.distinct": "50000", "godwit.sample.null": "never"])
    let url = model.attribute("fileURL", of: "Book")?.userInfo
    #expect(url == ["godwit.sample.null": "never", "godwit.sample.prefix": "file:///Library/"])
    let bare = ManagedObjectModel(
      name: model.name,
      entities: model.entities.map { entity in
        var entity = entity
        entity.userInfo = [:]
        for attribute in entity.attributes.indices { entity.attributes[attribute].userInfo = [:] }
        return entity
      })
    #expect(bare.versionHashes == model.versionHashes)
  }

  @Test("Two mapped steps lead from version 1 to version 3; the second is made up of two mapping models")
  func path() throws {
    let steps = try ExampleLibrary.path(from: 1, to: 3)
    #expect(steps.map(\.isInferred) == [false, false])
    #expect(
      steps.map { $0.mappingModels.map(\.name) } == [
        ["Library1_to_Library2"], ["Library2_to_Library3", "Library2_to_Library3_User"],
      ])
    #expect(try ExampleLibrary.path(from: 2, to: 3).count == 1)
    #expect(try ExampleLibrary.path(from: 3, to: 3).isEmpty)
  }

  @Test("Books are moved by the policy, which is told the version that the step leads to")
  func policy() throws {
    for (step, version) in zip(try ExampleLibrary.path(from: 1, to: 3), ["2", "3"]) {
      let mappings = step.mappingModels.flatMap(\.entityMappings)
      let named = mappings.filter { $0.policyClassName != nil }
      #expect(named.map(\.name) == ["BookToBook"])
      #expect(named.map(\.policyClassName) == ["LibraryBookPolicy"])
      #expect(named.map(\.userInfo) == [["modelVersion": version]])
      #expect(mappings.contains { $0.name == "UserToUser" })
    }
  }

  @Test("Each step maps every entity once, with all of its properties")
  func coverage() throws {
    for step in try ExampleLibrary.path(from: 1, to: 3) {
      let mappings = step.mappingModels.flatMap(\.entityMappings)
      #expect(mappings.compactMap(\.destinationEntity).sorted() == step.destination.entities.map(\.name).sorted())
      for mapping in mappings {
        let entity = try #require(mapping.destinationEntity)
        let attributes = step.destination.attributes(of: entity).map(\.name)
        let relationships = step.destination.relationships(of: entity).map(\.name)
        #expect(mapping.attributeMappings.map(\.name).sorted() == attributes.sorted())
        #expect(mapping.relationshipMappings.map(\.name).sorted() == relationships.sorted())
      }
    }
  }

  @Test("The benchmark's SQL makes the tables and indexes of version 3, all of them and nothing else")
  func peer() throws {
    let text = try String(contentsOfFile: ExampleLibrary.root + "/Benchmarks/peer.sql", encoding: .utf8)
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("CREATE ") && !$0.hasPrefix("CREATE TEMP ") }
    let layout = try StoreLayout(model: ExampleLibrary.version(3))
    let wanted = StoreSchemaText.entries(layout, hasIndexes: true, hasModelCache: false).compactMap(\.sql)
    #expect(lines.map { $0.dropLast() }.sorted() == wanted.map { $0[...] }.sorted())
  }
}
