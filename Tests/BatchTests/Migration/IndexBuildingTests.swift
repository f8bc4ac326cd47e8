import Foundation
import GRDB
import Streams
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Indexes that SQLite builds instead of the engine.
@Suite struct IndexBuildingTests {
  let folder: MigrationFolder
  let store: String

  init() throws {
    folder = try MigrationFolder(MigrationModels.all)
    store = try folder.sample("V1", rows: 800, seed: 41)
  }

  private func request(_ output: String, _ source: String? = nil) -> MigrationJob.Request {
    var request = folder.request(source ?? store, output: output)
    request.indexBuilding = .sqlite
    return request
  }

  @Test(
    "SQLite fills the same indexes of the same rows; the store is verified and keeps its journal mode",
    arguments: ["DELETE", "WAL"])
  func same(mode: String) throws {
    let source = try folder.copy(store, as: "source")
    let queue = try DatabaseQueue(path: source)
    _ = try queue.inDatabase { try String.fetchAll($0, sql: "PRAGMA journal_mode = \(mode)") }
    try queue.close()
    let (engine, sqlite) = (try folder.place("engine"), try folder.place("sqlite"))
    _ = try folder.migrate(folder.request(source, output: engine))
    #expect(try folder.migrate(request(sqlite, source)).isVerified)
    let left = try FileManager.default.contentsOfDirectory(atPath: FilePaths.directory(of: sqlite)).sorted()
    #expect(left == [".Store.sqlite.godwit-report", "Store.sqlite"])
    #expect(try MigrationFolder.bytes(sqlite)[18..<20] == MigrationFolder.bytes(engine)[18..<20])
    #expect(try CarriedStore.schema(engine) == CarriedStore.schema(sqlite))
    #expect(try CarriedStore.contents(engine) == CarriedStore.contents(sqlite))
    #expect(try MigrationFolder.rows(sqlite, "PRAGMA integrity_check") == ["string(\"ok\")"])
  }

  @Test("Stopped anywhere and resumed, the run ends with the same store; another choice is another plan")
  func resumed() throws {
    let whole = try folder.place("whole")
    _ = try folder.migrate(request(whole))
    let expected = try CarriedStore.contents(whole)
    var stops = 0
    for count in stride(from: 3, to: 10_000, by: 11) {
      let output = try folder.place("stop-\(count)")
      let stop = StopAfter(count)
      let request = request(output)
      do {
        _ = try folder.job().migrate(request, monitor: stop.monitor(request.interval))
        if !stop.isSpent { break }
        continue
      } catch let error as BatchError where error.code == .stopped { stops += 1 }
      _ = try folder.job().resume(output) { RunMonitor(interval: $0) }
      #expect(try CarriedStore.contents(output) == expected, "stop \(count)")
      #expect(try MigrationFolder.rows(output, "PRAGMA integrity_check") == ["string(\"ok\")"], "stop \(count)")
    }
    #expect(stops > 2)
    let steps = try folder.job().plan(folder.request(store)).steps
    let fingerprints = try IndexBuilding.allCases.map {
      try PlanFingerprint.of(steps: steps, extras: ExtrasOptions(), indexes: $0, policies: folder.policies, now: 0)
    }
    #expect(fingerprints[0] != fingerprints[1])
  }

  @Test(
    "Trap 11: a unique constraint that two rows violate ends the run; the engine names both rows",
    arguments: IndexBuilding.allCases)
  func unique(building: IndexBuilding) throws {
    var second = MigrationModels.first
    second.name = "V2"
    let tag = try #require(second.entities.firstIndex { $0.name == "Tag" })
    second.entities[tag].attributes.append(AttributeDescription(name: "added", type: .string))
    second.entities[tag].uniquenessConstraints = [["word"]]
    // A computed value: what the step copies is looked at before it begins.
    var mapping = try MappingModel.inferred(from: MigrationModels.first, to: second)
    let tags = try #require(mapping.entityMappings.firstIndex { $0.destinationEntity == "Tag" })
    let word = try #require(mapping.entityMappings[tags].attributeMappings.firstIndex { $0.name == "word" })
    mapping.entityMappings[tags].attributeMappings[word].valueExpression = try Expression(
      format: "lowercase:($source.word)")
    let folder = try MigrationFolder([MigrationModels.first, second], mappings: [mapping])
    let store = try folder.sample("V1", rows: 400, seed: 42)
    try CarriedStore.write(store) { db in
      try db.execute(sql: "UPDATE ZTAG SET ZWORD = 'Word ' || Z_PK; UPDATE ZTAG SET ZWORD = NULL WHERE Z_PK IN (2, 4)")
    }
    var request = folder.request(store, output: try folder.place("sound"))
    request.indexBuilding = building
    #expect(try folder.migrate(request).isVerified)
    try CarriedStore.write(store) { try $0.execute(sql: "UPDATE ZTAG SET ZWORD = 'WORD 9' WHERE Z_PK = 3") }
    request.output = try folder.place("twice")
    let error = #expect(throws: BatchError.self) { try folder.migrate(request) }
    #expect(error?.code == .policyFailed && error?.hint != nil)
    let named = building == .engine ? "rows 3 and 9 of ZTAG" : "two rows have equal values"
    #expect(error?.message.contains(named) == true, "\(String(describing: error))")
    #expect(try LocalFileSystem().status(request.output ?? "") == nil)
  }
}
