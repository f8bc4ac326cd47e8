import Foundation
import Streams
import Synchronization
import Testing

@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Lists of keys and links that a step keeps on disk: what is damaged is refused before it is used.
@Suite("Damaged working files") struct WorkingFileDamageTests {
  private let folder: String
  private var path: String { folder + "/step-1.relation.x" }
  private var files: StepFiles {
    StepFiles(prefix: folder + "/step-1", fileSystem: LocalFileSystem(), budget: .standard)
  }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("working-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private func run(owners: Int64) throws -> RelationRun {
    try RelationRun(path: path, identifier: "x", scratch: files) { add in
      for owner in (0..<owners).reversed() { for other in 0...owner % 4 { try add(owner, -other, other * 7 - owner) } }
    }
  }

  @Test(
    "Sorted links are read in order, forwards and at random, however many blocks they take",
    arguments: [0, 1, 102, 5000])
  func links(owners: Int64) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let run = try run(owners: owners)
    func expected(_ owner: Int64) -> [Int64] { (0...owner % 4).reversed().map { $0 * 7 - owner } }
    for owner in 0..<owners { #expect(try run.values(owner) == expected(owner)) }
    for step in 0..<min(owners, 300) {
      let owner = step * 7919 % owners
      #expect(try run.values(owner) == expected(owner))
    }
    #expect(try run.values(-1) == [] && run.values(owners) == [])
    #expect(try MigrationFolder.bytes(path).count % 4096 == 0)
  }

  @Test(
    "A flipped bit in sorted links, a block that is missing, doubled or swapped, is an error that says what to remove")
  func damagedLinks() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    _ = try run(owners: 2000)
    let whole = try MigrationFolder.bytes(path)
    let blocks = stride(from: 0, to: whole.count, by: 4096).map { whole.subdata(in: $0..<$0 + 4096) }
    #expect(blocks.count == 20)
    var random = SplitMix(state: 4)
    var damaged: [Data] = (0..<40).map { _ in
      var bytes = whole
      bytes[random.next(bytes.count)] ^= 1 << UInt8(random.next(8))
      return bytes
    }
    damaged += [
      Data(), whole.dropLast(4096), whole.dropLast(1), whole + blocks[19],
      Data(([blocks[1], blocks[0]] + blocks[2...]).joined()),
    ]
    for (number, bytes) in damaged.enumerated() {
      try bytes.write(to: URL(fileURLWithPath: path))
      let error = #expect(throws: StreamsError.self, "damage \(number)") {
        let run = try run(owners: 0)
        for owner in Int64(0)..<2000 { _ = try run.values(owner) }
      }
      #expect(error?.code == .damagedCheckpoint && error?.hint?.contains("remove this file and resume") == true)
    }
  }

  @Test("A stop while links are sorted ends that at once, and they are made again", arguments: [0, 1, 9])
  func stopped(calls: Int) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let left = Mutex(calls)
    var files = files
    files.throwIfStopped = {
      let isDue = left.withLock { left in
        left -= 1
        return left < 0
      }
      if isDue { throw BatchError(.stopped, "stop") }
    }
    let scratch = files
    #expect(throws: BatchError.self) {
      try RelationRun(path: path, identifier: "x", scratch: scratch) { add in
        for owner in Int64(0)..<5000 { try add(owner, 0, owner) }
      }
    }
    #expect(try LocalFileSystem().status(path) == nil && left.withLock { $0 } == -1)
    #expect(try run(owners: 900).values(899) == [-878, -885, -892, -899])
  }

  @Test(
    "A flipped bit in the list of objects that were left out ends a resumed run with one error; without it the run goes on"
  )
  func damagedKeys() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let folder = try MigrationFolder(
      [PolicyModels.first, PolicyModels.second], mappings: [Self.mapping], policies: [EveryThirdPolicy.self])
    let sample = try folder.sample("P1", rows: 2000, seed: 8)
    let whole = try folder.copy(sample, as: "whole")
    _ = try folder.migrate(folder.request(whole))
    let (store, list) = try stopped(folder, sample)
    let bytes = try MigrationFolder.bytes(list)
    var damaged = bytes
    damaged[5] ^= 4
    try damaged.write(to: URL(fileURLWithPath: list))
    let error = #expect(throws: BatchError.self) { try folder.job().resume(store) { RunMonitor(interval: $0) } }
    #expect(
      error?.code == BatchError.Code(.damagedCheckpoint) && error?.path == list
        && error?.hint?.contains("start again") == true)
    try bytes.write(to: URL(fileURLWithPath: list))
    _ = try folder.job().resume(store) { RunMonitor(interval: $0) }
    #expect(try MigrationFolder.bytes(store) == MigrationFolder.bytes(whole))
  }

  private static let mapping = PolicyModels.model(
    "Thirds",
    [
      PolicyModels.entity("Order", ["number"], ["lines"]),
      PolicyModels.entity("Line", ["sku", "quantity"], ["order", "tags"], policy: EveryThirdPolicy.self),
      PolicyModels.entity("Tag", ["word"], ["lines"]),
    ])

  /// A run that stopped when objects had been left out, and their list.
  private func stopped(_ folder: MigrationFolder, _ sample: String) throws -> (store: String, list: String) {
    for count in 6..<60 {
      let store = try folder.copy(sample, as: "stopped-\(count)")
      let (request, stop) = (folder.request(store), StopAfter(count))
      #expect(throws: BatchError.self) { try folder.job().migrate(request, monitor: stop.monitor(request.interval)) }
      let job = try JobDirectory(destination: store)
      let lists = try LocalFileSystem().list(job.path).filter { $0.contains(".dropped.") }.map(job.file)
      if let list = try lists.first(where: { try MigrationFolder.bytes($0).count > 100 }) { return (store, list) }
    }
    throw BatchError(.failed, "no run stops with objects left out")
  }
}

/// Leaves out every third object, and makes relationships of the others.
private struct EveryThirdPolicy: EntityMigrationPolicy {
  var createsRelationships: Bool { true }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    if source.key % 3 != 0 { _ = try manager.createDestinationInstance(forSource: source, in: mapping) }
  }
}
