import Foundation
import GRDB
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreVerification

/// Makes a customer of every order's text, and leaves every third order out, or refuses it when all is made.
private struct MakingPolicy {
  static func make(_ source: SourceObject, _ mapping: EntityMapping, _ manager: MigrationManager) throws {
    let order = try manager.createDestinationInstance(forSource: source, in: mapping)
    if let name = try source.string("customer") {
      try order.set("customer", to: try manager.findOrCreate("Customer", where: "name", is: .text(name)))
    }
    try manager.insert(entity: "Tag").set("word", "made")
  }
}

private struct LeavingPolicy: EntityMigrationPolicy {
  func lookups(for mapping: EntityMapping) -> [Lookup] { [Lookup(entity: "Customer", attribute: "name")] }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    if source.key % 3 != 0 { try MakingPolicy.make(source, mapping, manager) }
  }
}

private struct RefusingPolicy: EntityMigrationPolicy {
  func lookups(for mapping: EntityMapping) -> [Lookup] { [Lookup(entity: "Customer", attribute: "name")] }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try MakingPolicy.make(source, mapping, manager)
    if source.key % 3 == 0 { throw manager.rejection(of: source, "a third") }
  }
}

@Suite("Objects that cannot be migrated")
struct RejectTests {
  private struct Line: Decodable, Equatable {
    var step: Int
    var mapping: String
    var entity: String
    var key: Int64
    var reason: String
    var values: [String: Double]?
  }

  private static func lines(_ path: String) throws -> [Line] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
  }

  private static func folder(_ policy: any EntityMigrationPolicy.Type) throws -> (MigrationFolder, store: String) {
    let mapping = PolicyModels.model(
      "Orders",
      [
        PolicyModels.entity("Order", ["number"], ["lines"], policy: policy),
        PolicyModels.entity("Line", ["sku", "quantity"], ["order", "tags"]),
        PolicyModels.entity("Tag", ["word"], ["lines"]),
        EntityMapping(sourceEntity: nil, destinationEntity: "Customer"),
      ])
    let folder = try MigrationFolder(
      [PolicyModels.first, PolicyModels.second], mappings: [mapping], policies: [policy])
    return (folder, try folder.sample("P1", rows: 600, seed: 3))
  }

  @Test(
    "What a policy made for an object that it then refuses is taken back: the bytes are those of a run that leaves it out"
  )
  func takenBack() throws {
    let (leaving, plain) = try Self.folder(LeavingPolicy.self)
    let expected = try leaving.migrate(leaving.request(plain))
    let (folder, store) = try Self.folder(RefusingPolicy.self)
    #expect(try MigrationFolder.bytes(store) == MigrationFolder.bytes(expected.backup ?? ""))
    var request = folder.request(store)
    request.rejects = RejectLimit(.percent(50))
    let report = try folder.migrate(request)
    #expect(report.isVerified)
    #expect(try MigrationFolder.bytes(store) == MigrationFolder.bytes(plain))
    let rejects = try #require(report.rejects)
    let account = try #require(report.accounts.first?.objects.first { $0.source == "Order" })
    #expect(
      account.rejected == rejects.count && account.leftOut == 0 && account.written + account.rejected == account.read)
    #expect(report.accounts[0].links.contains { $0.relationship == "Line.order" && $0.cleared > 0 })
    let version = try #require(report.accounts[0].versions.first)
    let cleared = report.accounts[0].links.first { $0.relationship == "Line.order" }?.cleared
    #expect(version.lines.first { $0.path == "Line.order" }?.cleared == cleared)
    let orders = version.lines.filter { $0.entity == "Order" }
    #expect(orders.first { $0.kind == .entity }?.rejected == rejects.count)
    #expect(orders.allSatisfy { ($0.leftOut ?? 0) == 0 && ($0.rejected ?? 0) <= rejects.count })
    let lines = try Self.lines(rejects.path)
    #expect(
      UInt64(lines.count) == rejects.count
        && lines.allSatisfy { $0.key % 3 == 0 && $0.entity == "Order" && $0.step == 1 })
    #expect(
      lines.allSatisfy { $0.reason.contains("a third") && $0.values == nil }
        && lines.map(\.key) == lines.map(\.key).sorted())
  }

  @Test(
    "Trap 7: stopped again and again, no object is lost from the list or there twice, and the limit is that of the whole run"
  )
  func interrupted() throws {
    let (folder, store) = try Self.folder(RefusingPolicy.self)
    var request = folder.request(try folder.copy(store, as: "whole"))
    request.rejects = RejectLimit(.count(10_000))
    request.interval = .bytes(2000)
    // A verification that is stopped begins again, and would never end here.
    request.verification = .none
    let whole = try #require(try folder.migrate(request).rejects)
    for count in [3, 8, 17] {
      request.source = try folder.copy(store, as: "stopped-\(count)")
      request.rejects = RejectLimit(.count(whole.count))
      var (isFinished, stops) = (false, 0)
      var found: RejectReport?
      while !isFinished, stops < 200 {
        let stop = StopAfter(stops == 0 ? count : 5)
        do {
          found =
            try stops == 0
            ? folder.job().migrate(request, monitor: stop.monitor(request.interval)).rejects
            : folder.job().resume(request.source) { stop.monitor($0) }.rejects
          isFinished = true
        } catch let error as BatchError where error.code == .stopped { stops += 1 }
      }
      let path = try #require(found?.path)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == String(contentsOfFile: whole.path, encoding: .utf8))
    }
    // One less than there are: the run ends at the last one, whenever it was stopped, and goes on with more.
    request.source = try folder.copy(store, as: "over")
    request.rejects = RejectLimit(.count(whole.count - 1))
    let stop = StopAfter(8)
    #expect(throws: BatchError.self) { try folder.job().migrate(request, monitor: stop.monitor(request.interval)) }
    let error = #expect(throws: BatchError.self) {
      try folder.job().resume(request.source) { RunMonitor(interval: $0) }
    }
    #expect(error?.code == .tooManyRejects && error?.key != nil && error?.hint?.contains("step-rejects.jsonl") == true)
    let more = try folder.job().resume(request.source, rejects: RejectLimit(.count(whole.count))) {
      RunMonitor(interval: $0)
    }
    #expect(more.rejects?.count == whole.count)
  }

  @Test(
    "A value that does not fit its new type is set aside with its key, and with its values only where they are asked for"
  )
  func conversion() throws {
    let wide = ManagedObjectModel(
      name: "V1",
      entities: [StoreModels.entity("Item", [("size", .integer64)], [StoreModels.link("next", "Item", nil)])])
    let narrow = ManagedObjectModel(
      name: "V2",
      entities: [StoreModels.entity("Item", [("size", .integer16)], [StoreModels.link("next", "Item", nil)])])
    let folder = try MigrationFolder([wide, narrow])
    let store = try folder.sample("V1", rows: 50, seed: 1)
    try MigrationFolder.execute(
      store, "UPDATE ZITEM SET ZSIZE = Z_PK, ZNEXT = 37; UPDATE ZITEM SET ZSIZE = 32768 WHERE Z_PK IN (37, 40)")
    for withValues in [false, true] {
      var request = folder.request(try folder.copy(store, as: "values-\(withValues)"))
      request.rejects = RejectLimit(.count(2), withValues: withValues)
      let report = try folder.migrate(request)
      let rejects = try Self.lines(try #require(report.rejects?.path))
      #expect(
        report.isVerified && rejects.map(\.key) == [37, 40] && rejects.allSatisfy { !$0.reason.contains("32768") })
      #expect(rejects.allSatisfy { $0.values == (withValues ? ["size": 32768] : nil) })
      // References to it are NULL, as those to what a policy leaves out.
      #expect(
        try MigrationFolder.rows(request.source, "SELECT count(*), count(ZNEXT) FROM ZITEM") == ["int64(48)|int64(0)"])
    }
    var request = folder.request(try folder.copy(store, as: "over"))
    request.rejects = RejectLimit(.percent(2))
    #expect(throws: BatchError.self) { try folder.migrate(request) }
  }
}
