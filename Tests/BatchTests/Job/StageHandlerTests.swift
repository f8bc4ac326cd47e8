import Foundation
import GRDB
import Streams
import Synchronization
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Handlers of custom stages.
@Suite struct StageHandlerTests {
  private static func folder() throws -> MigrationFolder {
    let versions = (1...4).map { number in
      ManagedObjectModel(
        name: "H\(number)",
        entities: [StoreModels.entity("Book", [("title", .string)] + (1..<number).map { ("new\($0)", .string) })])
    }
    let mappings = [2, 3].map { number in
      var book = EntityMapping(sourceEntity: "Book", destinationEntity: "Book")
      book.attributeMappings = [PropertyMapping(name: "title")]
      var model = MappingModel(name: "Step\(number)", entityMappings: [book])
      (model.sourceModelName, model.destinationModelName) = ("H\(number)", "H\(number + 1)")
      return model
    }
    return try MigrationFolder(versions, mappings: mappings)
  }

  private static func request(_ folder: MigrationFolder, _ store: String) -> MigrationJob.Request {
    var request = folder.request(store)
    request.order = .stages(
      StagedMigration(stages: [
        .lightweight(versionChecksums: ["H1", "H2"]), .custom(from: "H2", to: "H3"), .custom(from: "H3", to: "H4"),
      ]))
    return request
  }

  @Test("A handler is told before and after every custom stage, and sees its stores; other stages have none")
  func told() throws {
    let folder = try Self.folder()
    let store = try folder.sample("H1", rows: 30, seed: 1)
    let told = Mutex<[String]>([])
    let job = MigrationJob(stageHandler: { event in
      var configuration = Configuration()
      configuration.readonly = true
      let queue = try DatabaseQueue(path: event.store, configuration: configuration)
      defer { try? queue.close() }
      let (rows, columns) = try queue.read { db in
        (try Int.fetchOne(db, sql: "SELECT count(*) FROM ZBOOK") ?? 0, try db.columns(in: "ZBOOK").count)
      }
      told.withLock { $0.append("\(event.moment) \(event.source.name) \(event.destination.name) \(rows) \(columns)") }
    })
    let request = Self.request(folder, store)
    _ = try job.migrate(request, monitor: RunMonitor(interval: request.interval))
    #expect(
      told.withLock { $0 } == [
        "willMigrate H2 H3 30 5", "didMigrate H2 H3 30 6", "willMigrate H3 H4 30 6", "didMigrate H3 H4 30 7",
      ])
  }

  @Test("A handler that fails ends the run, which is resumed at its stage; one that changes a store is found out")
  func failing() throws {
    struct Failure: Error {}
    let folder = try Self.folder()
    let store = try folder.sample("H1", rows: 30, seed: 2)
    let failing = MigrationJob(stageHandler: { if $0.moment == .didMigrate { throw Failure() } })
    let request = Self.request(folder, store)
    let error = #expect(throws: BatchError.self) {
      try failing.migrate(request, monitor: RunMonitor(interval: request.interval))
    }
    #expect(error?.message == "the didMigrate handler of the stage H2 to H3 failed" && error?.code == .policyFailed)
    let told = Mutex<[String]>([])
    let mended = MigrationJob(stageHandler: { event in
      told.withLock { $0.append("\(event.moment) \(event.source.name)") }
    })
    _ = try mended.resume(store) { RunMonitor(interval: $0) }
    #expect(told.withLock { $0 } == ["didMigrate H2", "willMigrate H3", "didMigrate H3"])

    let other = try folder.sample("H1", rows: 30, seed: 3)
    let changing = MigrationJob(stageHandler: { event in
      let queue = try DatabaseQueue(path: event.store)
      try queue.write { try $0.execute(sql: "UPDATE ZBOOK SET ZTITLE = 'changed'") }
      try queue.close()
    })
    let found = #expect(throws: BatchError.self) {
      try changing.migrate(Self.request(folder, other), monitor: RunMonitor(interval: request.interval))
    }
    #expect(
      found?.message == "the willMigrate handler of the stage H2 to H3 changed the store",
      "\(String(describing: found))")
  }
}
