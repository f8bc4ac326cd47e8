import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreVerification

/// Places with R-trees over floats, and towns among them with one of their own.
struct PlaceStore {
  let folder: MigrationFolder
  let store: String

  init(rows: UInt64) throws {
    var place = StoreModels.entity("Place", [("lat", .double), ("lon", .float), ("name", .string)])
    place.indexes = [.init(name: "byPlace", elements: ["lat", "lon"].map { .init(property: $0, type: "RTree") })]
    var town = StoreModels.entity("Town", parent: "Place", [("people", .integer64), ("seen", .date)])
    town.indexes = [.init(name: "byPeople", elements: ["people", "seen"].map { .init(property: $0, type: "RTree") })]
    var later = place
    later.attributes.append(AttributeDescription(name: "extra", type: .string))
    folder = try MigrationFolder([
      ManagedObjectModel(name: "V1", entities: [place, town]), ManagedObjectModel(name: "V2", entities: [later, town]),
    ])
    store = try folder.sample("V1", rows: rows, seed: 11)
  }

  /// A copy that was migrated without interruption.
  func migrated(_ name: String) throws -> String {
    let path = try folder.copy(store, as: name)
    #expect(try folder.migrate(folder.request(path)).isVerified)
    return path
  }
}

@Suite("R-trees") struct RTreeTests {
  @Test("I5, I8: a run that is stopped at any sign of progress, also within an R-tree, ends with the undisturbed bytes")
  func stopped() throws {
    let places = try PlaceStore(rows: 4000)
    let folder = places.folder
    let expected = try MigrationFolder.bytes(places.migrated("whole"))
    let stops = try folder.stopped(every: 2) { count in
      var request = folder.request(try folder.copy(places.store, as: "stop-\(count)"))
      request.verification = .none
      return request
    } finished: { path, count in
      let bytes = try MigrationFolder.bytes(path)
      #expect(bytes == expected, "stop \(count)")
      try FileManager.default.removeItem(atPath: FilePaths.directory(of: path))
    }
    #expect(stops > 4)
  }

  @Test(
    "I3, I5: a run that is killed at any change of the disk once its tables are written ends with the undisturbed bytes"
  )
  func killed() throws {
    let places = try PlaceStore(rows: 3000)
    let folder = places.folder
    let expected = try MigrationFolder.bytes(places.migrated("whole"))
    let whole = DyingFileSystem()
    var request = folder.request(try folder.copy(places.store, as: "counted"))
    request.verification = .none
    _ = try folder.job(whole).migrate(request, monitor: RunMonitor(interval: request.interval))
    var resumed = 0
    for point in stride(from: whole.calls / 3, to: whole.calls, by: 4) {
      let path = try folder.copy(places.store, as: "kill-\(point)")
      request.source = path
      do {
        _ = try folder.job(DyingFileSystem(at: point)).migrate(request, monitor: RunMonitor(interval: request.interval))
      } catch {}
      if try MigrationFolder.bytes(path) != expected {
        _ = try folder.job().resume(path) { RunMonitor(interval: $0) }
        resumed += 1
      }
      #expect(try MigrationFolder.bytes(path) == expected, "killed at change \(point) of \(whole.calls)")
      let left = try FileManager.default.subpathsOfDirectory(atPath: FilePaths.directory(of: path))
      #expect(!left.contains { $0.contains("rtree") })
      try FileManager.default.removeItem(atPath: FilePaths.directory(of: path))
    }
    #expect(resumed > 5)
  }

  struct Fault: Sendable {
    var sql: String
    var key: Int64?
    var words: String
  }

  static let faults = [
    Fault(sql: "DELETE FROM Z_RT_Place_byPlace WHERE Z_PK = 7", key: 7, words: "lacks objects"),
    Fault(sql: "UPDATE Z_RT_Place_byPlace SET ZLAT_MIN = ZLAT_MIN - 9e9 WHERE Z_PK = 8", key: 8, words: "bounds"),
    Fault(sql: "UPDATE Z_RT_Place_byPlace SET ZLON_MIN = 1e9, ZLON_MAX = 1e9 WHERE Z_PK = 9", key: 9, words: "bounds"),
    Fault(sql: "INSERT INTO Z_RT_Place_byPlace VALUES (9999, 1, 1, 2, 2)", key: 9999, words: "without objects"),
    Fault(sql: "DELETE FROM Z_RT_Town_byPeople", key: nil, words: "lacks objects"),
    Fault(sql: "UPDATE ZPLACE SET ZLAT = 12345.5 WHERE Z_PK = 10", key: 10, words: "bounds"),
  ]

  @Test(
    "A row that is missing in an R-tree, is too many, or has other bounds is found and named", arguments: Self.faults)
  func found(_ fault: Fault) throws {
    let places = try PlaceStore(rows: 300)
    let path = try places.migrated("whole")
    func violations(_ mode: VerificationMode) throws -> [Violation] {
      let uuid = try MigrationFolder.rows(path, "SELECT Z_UUID FROM Z_METADATA")[0].dropFirst(8).dropLast(2)
      return try StoreVerifier(path: path, model: try places.folder.model("V2"))
        .verify(.init(uuid: String(uuid), rows: [:]), mode: mode).violations
    }
    #expect(try violations(.fast) == [] && violations(.full) == [] && violations(.sqlite) == [])
    try MigrationFolder.execute(path, fault.sql)
    for mode in [VerificationMode.fast, .full, .sqlite] {
      let found = try violations(mode)
      #expect(found.contains { $0.kind == .index && $0.message.contains(fault.words) }, "\(found)")
      #expect(fault.key == nil || found.contains { $0.examples.contains { $0.key == fault.key } }, "\(found)")
    }
  }

  @Test(
    "A node that is changed is found by the digest of what was written; one that hangs elsewhere by SQLite's own check, too"
  )
  func node() throws {
    let places = try PlaceStore(rows: 300)
    let path = try places.migrated("whole")
    let model = try places.folder.model("V2")
    let digests = try MutatedStore.digests(path, try StoreLayout(model: model, purpose: .reading))
    let uuid = try MigrationFolder.rows(path, "SELECT Z_UUID FROM Z_METADATA")[0].dropFirst(8).dropLast(2)
    func found() throws -> [Violation] {
      try StoreVerifier(path: path, model: model)
        .verify(.init(uuid: String(uuid), rows: [:], digests: digests), mode: .fast).violations
    }
    #expect(try found() == [])
    let whole = try MigrationFolder.bytes(path)
    try MigrationFolder.execute(
      path, "UPDATE Z_RT_Place_byPlace_node SET data = zeroblob(length(data)) WHERE nodeno = 2")
    #expect(try found().contains { $0.kind == .contents && $0.table == "Z_RT_Place_byPlace_node" })
    try whole.write(to: URL(fileURLWithPath: path))
    try MigrationFolder.execute(path, "UPDATE Z_RT_Place_byPlace_parent SET parentnode = parentnode + 1")
    #expect(try found().contains { $0.kind == .index && $0.message.contains("SQLite reports") })
  }

  @Test(
    "An identity migration makes the R-trees anew, under the store's own text, and keeps what is no R-tree of the model's"
  )
  func identity() throws {
    let places = try PlaceStore(rows: 500)
    let (folder, store) = (places.folder, places.store)
    try MigrationFolder.execute(
      store,
      """
      DROP TABLE Z_RT_Town_byPeople;
      CREATE VIRTUAL TABLE "Z_RT_Town_byPeople" using rtree(Z_PK integer primary key, ZPEOPLE_MIN FLOAT, ZPEOPLE_MAX FLOAT, ZSEEN_MIN FLOAT, ZSEEN_MAX FLOAT);
      CREATE VIRTUAL TABLE Z_RT_Other_area USING rtree(Z_PK, x0, x1);
      INSERT INTO Z_RT_Other_area VALUES (1, 0, 1), (2, 5, 6);
      """)
    let output = try folder.place("identity")
    var request = folder.request(store, output: output)
    request.target = .identity
    #expect(try folder.migrate(request).isVerified)
    let texts = "SELECT name, sql FROM sqlite_master WHERE name LIKE 'Z_RT_%' ORDER BY name"
    #expect(try MigrationFolder.rows(output, texts) == MigrationFolder.rows(store, texts))
    let towns = "SELECT count(*) FROM Z_RT_Town_byPeople"
    #expect(try MigrationFolder.rows(store, towns) == ["int64(0)"])
    #expect(
      try MigrationFolder.rows(output, towns)
        == MigrationFolder.rows(store, "SELECT count(*) FROM ZPLACE WHERE Z_ENT = 2"))
    #expect(try MigrationFolder.rows(output, "SELECT count(*) FROM Z_RT_Other_area") == ["int64(2)"])
  }
}
