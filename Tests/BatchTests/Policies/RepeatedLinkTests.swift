import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreVerification

/// Adds every author again: once in the book's own call, once when all objects exist, from the author's side.
struct RepeatingPolicy: EntityMigrationPolicy {
  var createsRelationships: Bool { true }

  private func others(_ destination: DestinationObject, _ mapping: EntityMapping, _ manager: MigrationManager) throws
    -> [DestinationObject]
  {
    guard let source = try manager.sourceInstance(forEntityMappingNamed: mapping.name, destination: destination) else {
      return []
    }
    return try manager.destinationInstances(
      forSourceRelationshipNamed: mapping.userInfo["relationship"] ?? "", sourceInstances: [source])
  }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let object = try manager.createDestinationInstance(forSource: source, in: mapping)
    for other in try others(object, mapping, manager) {
      try object.add(other, to: mapping.userInfo["relationship"] ?? "")
    }
  }

  func createRelationships(
    forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
  )
    throws
  {
    // The other way round than before.
    for other in try others(destination, mapping, manager).reversed() {
      try other.add(destination, to: mapping.userInfo["inverse"] ?? "")
    }
  }
}

/// Links that policies add in several calls.
@Suite struct RepeatedLinkTests {
  private static func version(_ number: Int, isOrdered: Bool) -> ManagedObjectModel {
    ManagedObjectModel(
      name: "L\(number)",
      entities: [
        StoreModels.entity(
          "Author", [("name", .string)], [StoreModels.link("books", "Book", "authors", many: true)]),
        StoreModels.entity(
          "Book", [("title", .string)] + (1..<number).map { ("added\($0)", .integer16) },
          [StoreModels.link("authors", "Author", "books", many: true, ordered: isOrdered)]),
      ])
  }

  private static func folder(carries: Bool, isOrdered: Bool) throws -> MigrationFolder {
    let mappings = [("Author", "books", "authors"), ("Book", "authors", "books")].map { name, relationship, inverse in
      var mapping = EntityMapping(sourceEntity: name, destinationEntity: name)
      mapping.attributeMappings = [PropertyMapping(name: name == "Book" ? "title" : "name")]
      mapping.relationshipMappings = [
        PropertyMapping(name: relationship, valueExpression: carries ? nil : .constant(.null))
      ]
      mapping.policyClassName = "RepeatingPolicy"
      mapping.userInfo = ["relationship": relationship, "inverse": inverse]
      return mapping
    }
    var model = MappingModel(name: "M", entityMappings: mappings)
    (model.sourceModelName, model.destinationModelName) = ("L1", "L2")
    return try MigrationFolder(
      (1...3).map { version($0, isOrdered: isOrdered) }, mappings: [model], policies: [RepeatingPolicy.self])
  }

  /// The links of a store, each as often as it is there.
  private static func links(_ store: String, _ model: ManagedObjectModel) throws -> [String] {
    let join = try #require(StoreLayout(model: model).joinTables.first)
    return try MigrationFolder.rows(
      store, "SELECT \(join.sourceColumn), \(join.destinationColumn) FROM \(join.name) ORDER BY 1, 2")
  }

  @Test(
    "A link that policies add in several calls is there once, beside those of the source and without",
    arguments: [true, false])
  func once(carries: Bool) throws {
    for isOrdered in [false, true] {
      let folder = try Self.folder(carries: carries, isOrdered: isOrdered)
      let store = try folder.sample("L1", rows: 400, seed: 6)
      let before = try Self.links(store, folder.model("L1"))
      #expect(before.count > 100)
      let output = try folder.place("output")
      #expect(try folder.migrate(folder.request(store, output: output)).isVerified)
      #expect(try Self.links(output, folder.model("L3")) == before)
    }
  }

  @Test(
    "I5, I8: stopped anywhere and resumed, a run that removes links which are there twice has the undisturbed bytes")
  func interrupted() throws {
    let folder = try Self.folder(carries: false, isOrdered: false)
    let store = try folder.sample("L1", rows: 300, seed: 6)
    let undisturbed = try folder.place("undisturbed")
    _ = try folder.migrate(folder.request(store, output: undisturbed))
    for count in StopAfter.counts(every: 19) {
      let output = try folder.place("stopped-\(count)")
      var request = folder.request(store, output: output)
      (request.interval, request.verification) = (.bytes(2000), .none)
      let stop = StopAfter(count)
      do {
        _ = try folder.job().migrate(request, monitor: stop.monitor(request.interval))
      } catch let error as BatchError where error.code == .stopped {
        _ = try folder.job().resume(output) { RunMonitor(interval: $0) }
      }
      #expect(try MigrationFolder.bytes(output) == MigrationFolder.bytes(undisturbed), "stopped after \(count)")
      if !stop.isSpent { return }
    }
  }

  @Test("Links whose calls ascend on one side are not looked at again")
  func ascending() {
    var links = LinkOrder()
    for (call, link) in [(1, 9), (1, 4), (2, 9), (2, 4), (7, 1)].enumerated() {
      links.add(source: Int64(link.0), destination: Int64(link.1), call: UInt64(call / 2))
    }
    #expect(!links.mayRepeat && links.count == 5)
    links.add(source: 7, destination: 1, call: 9)
    #expect(links.mayRepeat)
  }
}
