import Foundation
import Streams
import Synchronization
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Runs that make some parts of a step: `--only` and `--skip`.
@Suite(.serialized) struct PartSelectionTests {
  /// Fails from key 400 on, as long as the test wants it to.
  struct BrokenPolicy: EntityMigrationPolicy {
    static let isBroken = Mutex(true)

    func writes(for mapping: EntityMapping) -> [String] { ["Line"] }

    func createDestinationInstances(
      forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      guard source.key < 400 || !Self.isBroken.withLock({ $0 }) else {
        throw BatchError(.policyFailed, "broken on purpose")
      }
      _ = try manager.createDestinationInstance(forSource: source, in: mapping)
    }
  }

  private static func folder() throws -> MigrationFolder {
    try MigrationFolder(
      [PolicyModels.first, PolicyModels.second],
      mappings: [
        PolicyModels.model("Orders", [PolicyModels.entity("Order", ["number"], ["lines"])]),
        PolicyModels.model(
          "Others",
          [
            PolicyModels.entity("Tag", ["word"], ["lines"]),
            PolicyModels.entity("Line", ["sku", "quantity"], ["order", "tags"], policy: BrokenPolicy.self),
          ]),
      ], policies: [BrokenPolicy.self])
  }

  private static func run(_ folder: MigrationFolder, _ store: String, as name: String, _ parts: PartSelection) throws
    -> (report: MigrationJob.Report, path: String)
  {
    var request = folder.request(store, output: try folder.place(name))
    request.parts = parts
    return (try folder.migrate(request), request.output ?? "")
  }

  @Test(
    "Parts that are made alone have the objects and keys of a whole run; what leads to the others is NULL",
    arguments: UInt64(1)..<5)
  func alone(seed: UInt64) throws {
    let models = SplitModels(seed: seed &+ 9000, entities: 4 + Int(seed) % 7)
    let folder = try MigrationFolder(models.versions, mappings: [models.mapping], policies: [SplitPolicy.self])
    let store = try folder.sample("S1", rows: 160, seed: seed)
    let split = try MappingSplit(models.step([models.mapping]), policies: folder.policies)
    var random = SeededRandom(seed)
    var wanted: Set<Int> = [Int.random(in: 1...split.parts.count, using: &random)]
    // A part is before those that wait for it.
    for part in split.parts.reversed() where wanted.contains(part.number) { wanted.formUnion(part.waitsFor) }
    let left = split.parts.filter { !wanted.contains($0.number) }
    print("seed \(seed): parts \(wanted.sorted()) of \(split.parts.count)")
    let whole = try OracleStore.read(
      Self.run(folder, store, as: "whole", PartSelection()).path, model: models.versions[1])
    let (report, path) = try Self.run(folder, store, as: "only", PartSelection(only: wanted.map { "1.\($0)" }))
    let found = try OracleStore.read(path, model: models.versions[1])
    #expect(found.differences(Self.without(left.flatMap(\.writes), whole)) == [], "seed \(seed)")
    #expect(report.isVerified && report.notes.contains { $0.contains("is skipped") } == !left.isEmpty)
    guard !left.isEmpty else { return }
    let other = try Self.run(folder, store, as: "skip", PartSelection(skip: left.map { "1.\($0.number)" })).path
    #expect(try MigrationFolder.bytes(other) == MigrationFolder.bytes(path), "seed \(seed)")
  }

  /// A store as it is without the tables of some parts.
  private static func without(_ tables: [String], _ whole: OracleGraph) -> OracleGraph {
    var graph = whole
    let kept = whole.objects.filter { !tables.contains(whole.model.root(of: $0.key.entity)) }
    graph.objects = kept.mapValues { object in
      var object = object
      object.links = object.links.mapValues { $0.filter { kept[$0] != nil } }
      return object
    }
    return graph
  }

  @Test(
    "Names that no part has, parts that read what is left out, and replacing the whole store are refused by name (trap 1)"
  )
  func refused() throws {
    let folder = try PolicyMigrationTests.folder()
    let store = try folder.sample("P1", rows: 20, seed: 1)
    func error(_ parts: PartSelection, output: String?) -> BatchError? {
      var request = folder.request(store, output: output)
      request.parts = parts
      return #expect(throws: BatchError.self) { try folder.migrate(request) }
    }
    let place = try folder.place("out")
    let unknown = error(PartSelection(only: ["Nothing"]), output: place)
    #expect(unknown?.code == .refused && unknown?.message == "no part of the migration is named Nothing")
    #expect(
      unknown?.hint?.contains("1.1, 1.2, A_Lines, B_Orders, Customer, LineToLine, OrderToOrder, TagToTag") == true)
    let reads = error(PartSelection(skip: ["B_Orders"]), output: place)
    #expect(reads?.message == "part 1.2 looks up Customer of part 1.1, which is left out")
    let inPlace = error(PartSelection(skip: ["A_Lines"]), output: nil)
    #expect(inPlace?.code == .refused && inPlace?.message.contains("place of the whole") == true)
    let plan = try folder.job().plan(
      {
        var request = folder.request(store)
        request.parts = PartSelection(skip: ["LineToLine"])
        return request
      }())
    #expect(plan.splits[0].parts.map(\.isSkipped) == [false, true])
    #expect(
      plan.notes == [
        "part 1.2 is skipped (LineToLine, TagToTag): Line, Line.tags, Tag stay empty",
        "references to objects of skipped parts are cleared: Order.lines",
      ])
  }

  @Test("A part that fails can be left out, is mended and resumed where it failed, and the others are not made again")
  func failed() throws {
    let folder = try Self.folder()
    let store = try folder.sample("P1", rows: 3000, seed: 3)
    defer { BrokenPolicy.isBroken.withLock { $0 = true } }
    let output = try folder.place("failed")
    var request = folder.request(store, output: output)
    request.interval = .bytes(4096)
    let error = #expect(throws: BatchError.self) { try folder.migrate(request) }
    #expect(error?.entity == "Line" && error?.key == 400, "\(String(describing: error))")
    // The other parts alone.
    let (report, path) = try Self.run(folder, store, as: "rest", PartSelection(skip: ["LineToLine"]))
    let count = try MigrationFolder.rows(store, "SELECT count(*) FROM ZLINE")
    #expect(report.rows["Line"] == 0 && (report.rows["Order"] ?? 0) > 100 && (report.rows["Tag"] ?? 0) > 100)
    let lines = try #require(Int(count[0].filter(\.isNumber).dropFirst(2))).grouped
    #expect(
      report.notes.contains("\(lines) of \(lines) objects of Line were left out by LineToLine, which was skipped"),
      "\(report.notes)")
    #expect(try MigrationFolder.rows(path, "SELECT count(*) FROM ZLINE") == ["int64(0)"])
    // Mended, the run goes on within the part.
    BrokenPolicy.isBroken.withLock { $0 = false }
    let resumed = try folder.job().resume(output) { RunMonitor(interval: $0) }
    let whole = try Self.run(folder, store, as: "whole", PartSelection())
    #expect(resumed.rowsRead < whole.report.rowsRead - 300, "\(resumed.rowsRead) of \(whole.report.rowsRead)")
    #expect(
      try OracleStore.read(output, model: folder.model("P2")).differences(
        OracleStore.read(whole.path, model: folder.model("P2")))
        == [])
  }

  @Test("I5, I8: a run of some parts that is stopped is resumed with those parts, and has the undisturbed bytes")
  func stopped() throws {
    let folder = try Self.folder()
    BrokenPolicy.isBroken.withLock { $0 = true }
    let store = try folder.sample("P1", rows: 1500, seed: 5)
    let expected = try MigrationFolder.bytes(
      Self.run(folder, store, as: "whole", PartSelection(skip: ["LineToLine"])).path)
    var request = folder.request(store, output: try folder.place("stopped"))
    request.parts = PartSelection(skip: ["LineToLine"])
    let stop = StopAfter(3)
    let error = #expect(throws: BatchError.self) {
      try folder.job().migrate(request, monitor: stop.monitor(request.interval))
    }
    #expect(error?.code == .stopped)
    _ = try folder.job().resume(request.output ?? "") { RunMonitor(interval: $0) }
    #expect(try MigrationFolder.bytes(request.output ?? "") == expected)
  }
}
