import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Leaves out every third object of its entity.
struct ThirdPolicy: EntityMigrationPolicy {
  func writes(for mapping: EntityMapping) -> [String] { [mapping.destinationEntity ?? ""] }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard source.key % 3 != 0 else { return }
    _ = try manager.createDestinationInstance(forSource: source, in: mapping)
  }
}

/// Objects that a policy leaves out while others refer to them.
@Suite struct LostReferenceTests {
  private static func version(_ name: String) -> ManagedObjectModel {
    let shelf = StoreModels.entity(
      "Shelf", [("name", .string)],
      [
        StoreModels.link("items", "Item", "shelf", many: true, ordered: true),
        StoreModels.link("loose", "Item", nil, many: true),
      ])
    let item = StoreModels.entity(
      "Item", [("title", .string)] + (name == "N1" ? [] : [("note", .string)]),
      [StoreModels.link("shelf", "Shelf", "items"), StoreModels.link("next", "Item", nil)])
    return ManagedObjectModel(
      name: name,
      entities: [
        shelf, item,
        StoreModels.entity("Book", parent: "Item", [], [StoreModels.link("tags", "Tag", "books", many: true)]),
        StoreModels.entity("Tag", [("word", .string)], [StoreModels.link("books", "Book", "tags", many: true)]),
      ])
  }

  private static func folder(dropping: Set<String>) throws -> MigrationFolder {
    let second = version("N2")
    let mappings = ["Tag", "Book", "Item", "Shelf"].map { name in
      var mapping = EntityMapping(sourceEntity: name, destinationEntity: name)
      mapping.attributeMappings = version("N1").attributes(of: name).map { PropertyMapping(name: $0.name) }
      mapping.relationshipMappings = second.relationships(of: name).map { PropertyMapping(name: $0.name) }
      mapping.policyClassName = dropping.contains(name) ? "ThirdPolicy" : nil
      return mapping
    }
    var model = MappingModel(name: "M", entityMappings: mappings)
    (model.sourceModelName, model.destinationModelName) = ("N1", "N2")
    return try MigrationFolder([version("N1"), second], mappings: [model], policies: [ThirdPolicy.self])
  }

  @Test(
    "References to objects that a policy leaves out become NULL, links are left out, the rest stays, and the report counts them",
    arguments: [["Item", "Book"], ["Shelf"], ["Tag", "Shelf"], ["Item", "Book", "Shelf", "Tag"]])
  func cleared(dropping: [String]) throws {
    let folder = try Self.folder(dropping: Set(dropping))
    let store = try folder.sample("N1", rows: 900, seed: 4)
    let before = try OracleStore.read(store, model: folder.model("N1"))
    let report = try folder.migrate(folder.request(store))
    #expect(report.isVerified)
    var expected = before
    expected.model = try folder.model("N2")
    let kept = before.objects.filter { !dropping.contains($0.key.entity) || $0.key.key % 3 != 0 }
    expected.objects = kept.mapValues { object in
      var object = object
      object.links = object.links.mapValues { $0.filter { kept[$0] != nil } }
      return object
    }
    let found = try OracleStore.read(store, model: folder.model("N2"))
    #expect(found.differences(expected) == [], "\(dropping)")
    let cleared = report.notes.filter { $0.contains("were cleared: their objects were left out") }
    #expect(!cleared.isEmpty)
    let account = try #require(report.accounts.first)
    #expect(
      account.objects.allSatisfy {
        $0.read == $0.written + $0.leftOut && ($0.leftOut > 0) == dropping.contains($0.source)
      })
    #expect(account.objects.reduce(0) { $0 + $1.read } == UInt64(before.objects.count) && account.unmapped == 0)
    for link in account.links where link.read > 0 {
      #expect(link.read == link.written + link.cleared && link.leftOut == 0, "\(link)")
    }
    // What goes with a key goes with it.
    let layout = try StoreLayout(model: folder.model("N2"))
    let columns = layout.entityTables.first { $0.rootEntity == "Item" }?.columns ?? []
    func column(_ role: ColumnRole) throws -> String { try #require(columns.first { $0.role == role }).name }
    let order = try column(.orderingKey(entity: "Item", name: "shelf"))
    let number = try column(.toOneEntity(entity: "Item", name: "next"))
    let rest = try MigrationFolder.rows(
      store,
      "SELECT count(*) FROM ZITEM WHERE ZSHELF IS NULL AND \(order) IS NOT NULL OR ZNEXT IS NULL AND \(number) IS NOT NULL"
    )
    #expect(rest == ["int64(0)"])
  }

  @Test("I5, I8, trap 7: stopped anywhere, such a run is resumed to the undisturbed bytes, and its account is the same")
  func stopped() throws {
    let folder = try Self.folder(dropping: ["Item", "Book", "Shelf"])
    let store = try folder.sample("N1", rows: 700, seed: 5)
    let whole = try folder.copy(store, as: "whole")
    let expected = try folder.migrate(folder.request(whole))
    for count in StopAfter.counts(every: 4) {
      let path = try folder.copy(store, as: "stop-\(count)")
      let request = folder.request(path)
      let stop = StopAfter(count)
      var report: MigrationJob.Report?
      do { report = try folder.job().migrate(request, monitor: stop.monitor(request.interval)) } catch let error
        as BatchError
      {
        #expect(error.code == .stopped)
      }
      let isEnd = report != nil
      let resumed = try report ?? folder.job().resume(path) { RunMonitor(interval: $0) }
      #expect(try MigrationFolder.bytes(path) == MigrationFolder.bytes(whole), "stop \(count)")
      #expect(resumed.notes == expected.notes && resumed.accounts == expected.accounts)
      if isEnd { break }
    }
  }
}
