import Foundation
import GRDB
import Streams
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreSamples
@testable import StoreVerification

/// Photos whose contents and captions are far beyond the memory budget.
enum LongValueModels {
  private static func photo(_ more: [(String, AttributeType)]) -> EntityDescription {
    var photo = StoreModels.entity(
      "Photo", more + [("caption", .string), ("content", .binaryData), ("title", .string)])
    photo.userInfo = [SampleSettings.Key.share: "0.5"]
    return photo
  }

  private static func model(_ name: String, _ photo: EntityDescription) -> ManagedObjectModel {
    var photo = photo
    photo.relationships = [StoreModels.link("notes", "Note", "photo", many: true)]
    return ManagedObjectModel(
      name: name,
      entities: [photo, StoreModels.entity("Note", [("text", .string)], [StoreModels.link("photo", "Photo", "notes")])])
  }

  static let first = model("L1", photo([("size", .integer32), ("zone", .string)]))

  /// An attribute is added before the long ones, and one behind them.
  static let second: ManagedObjectModel = {
    var entity = photo([("size", .double), ("zone", .string), ("zoom", .double)])
    entity.attributes.append(AttributeDescription(name: "album", type: .string))
    entity.attributes[entity.attributes.count - 1].defaultValue = .text("none")
    return model("L2", entity)
  }()

  /// The title is indexed, zone and caption are gone.
  static let third: ManagedObjectModel = {
    var entity = photo([("size", .double), ("zoom", .double)])
    entity.attributes.removeAll { $0.name == "caption" }
    entity.attributes.append(AttributeDescription(name: "album", type: .string))
    entity.uniquenessConstraints = [["title"]]
    return model("L3", entity)
  }()
}

/// Hands contents on untouched, changes objects that are written already, and looks into what it is told to.
struct PhotoPolicy: EntityMigrationPolicy {
  let createsRelationships = true

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let photo = try manager.createDestinationInstance(forSource: source, in: mapping)
    try photo.set("zoom", .real(Double(source.key)))
    if let key = mapping.userInfo["read"], source.key == Int64(key) {
      let (old, new) = (try source.value("content"), try photo.value("content"))
      guard case .blob(let bytes) = old, old == new else { throw BatchError(.failed, "the content differs") }
      try photo.set("album", "\(bytes.count) bytes")
    }
  }

  func createRelationships(
    forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try destination.set("title", "late \(destination.key)")
    if destination.key == 6 { try destination.set("content", .blob([1, 2, 3])) }
  }
}

/// Makes a second photo of every one with a long content, which it hands on as it lies in the source.
struct DoublingPolicy: EntityMigrationPolicy {
  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    _ = try manager.createDestinationInstance(forSource: source, in: mapping)
    guard source.key % 3 == 0, source.key < 20 else { return }
    let copy = try manager.insert(entity: "Photo")
    try copy.set("content", from: source, "content")
    try copy.set("caption", from: source, "caption")
    try copy.set("zoom", .integer(source.key))
  }
}

/// Rows whose values are larger than the memory for a row: they go from file to file.
@Suite struct LongValueMigrationTests {
  static let content = "SELECT count(*) FROM ZPHOTO p JOIN old.ZPHOTO q USING (Z_PK) WHERE p.ZCONTENT IS NOT q.ZCONTENT"

  /// A store with contents up to 7 MB and captions up to 3 MB in an eighth of its rows. Of 48 MiB, 2 MiB are for a row.
  static func store(_ folder: MigrationFolder, autoVacuum: Int = 2) throws -> String {
    let store = try folder.sample("L1", rows: 120, seed: 5)
    var random = SplitMix(state: 99)
    let queue = try DatabaseQueue(path: store)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "UPDATE ZPHOTO SET ZTITLE = 'title ' || Z_PK")
      for (key, length) in [(3, 7_000_000), (6, 300_000), (9, 16_384), (12, 16_383), (15, 5_000_000), (18, 70_000)] {
        var bytes = Data(repeating: UInt8(random.next(256)), count: length)
        for position in stride(from: 0, to: length, by: 1000) { bytes[position] = UInt8(random.next(256)) }
        try db.execute(sql: "UPDATE ZPHOTO SET ZCONTENT = ? WHERE Z_PK = ?", arguments: [bytes, key])
      }
      try db.execute(
        sql: "UPDATE ZPHOTO SET ZCAPTION = ?, ZTITLE = 'behind' || Z_PK WHERE Z_PK IN (6, 21)",
        arguments: [String(repeating: "Plötzlich ", count: 300_000)])
      try db.execute(sql: "PRAGMA auto_vacuum = \(autoVacuum); VACUUM")
    }
    try queue.close()
    return store
  }

  private func request(_ folder: MigrationFolder, _ store: String, _ output: String? = nil) -> MigrationJob.Request {
    var request = folder.request(store, output: output)
    request.memory = MemoryBudget(total: MemoryBudget.minimum)
    return request
  }

  /// Values of a query over a store and the one that it was made of, attached as `old`.
  private func compare(_ new: String, _ old: String, _ sql: String) throws -> [String] {
    let queue = try DatabaseQueue(path: new)
    defer { try? queue.close() }
    return try queue.inDatabase { db in
      try db.execute(sql: "ATTACH ? AS old", arguments: [old])
      return try Row.fetchAll(db, sql: sql).map { $0.databaseValues.map { "\($0.storage)" }.joined(separator: "|") }
    }
  }

  private func expectSame(_ new: String, _ old: String, _ columns: [String], table: String = "ZPHOTO") throws {
    for column in columns {
      let sql = "SELECT count(*) FROM \(table) p JOIN old.\(table) q USING (Z_PK) WHERE p.\(column) IS NOT q.\(column)"
      #expect(try compare(new, old, sql) == ["int64(0)"], "\(column)")
    }
    let counts = "SELECT (SELECT count(*) FROM \(table)) - (SELECT count(*) FROM old.\(table))"
    #expect(try compare(new, old, counts) == ["int64(0)"])
    #expect(try MigrationFolder.rows(new, "PRAGMA integrity_check") == ["string(\"ok\")"])
  }

  @Test(
    "Values beyond the memory for a row are migrated and verified, in one step, in two, and in two at once",
    arguments: [0, 1, 2])
  func migrated(autoVacuum: Int) throws {
    let folder = try MigrationFolder([LongValueModels.first, LongValueModels.second, LongValueModels.third])
    let store = try Self.store(folder, autoVacuum: autoVacuum)
    var request = request(folder, store, try folder.place("second"))
    request.target = .version("L2")
    #expect(try folder.migrate(request).isVerified)
    try expectSame(request.output!, store, ["ZCONTENT", "ZCAPTION", "ZTITLE", "ZZONE"])
    request.target = .version("L3")
    for fuses in [false, true] {
      request.fuses = fuses
      request.output = try folder.place("third-\(fuses)")
      #expect(try folder.migrate(request).isVerified)
      try expectSame(request.output!, store, ["ZCONTENT", "ZTITLE"])
    }
  }

  @Test("An identity migration keeps them, in the model's tables and in others")
  func identity() throws {
    let folder = try MigrationFolder([LongValueModels.first])
    let store = try Self.store(folder)
    try CarriedStore.write(store) { db in
      try db.execute(
        sql:
          "CREATE TABLE Notes (id INTEGER PRIMARY KEY, a BLOB, b TEXT); INSERT INTO Notes VALUES (4, zeroblob(6000000), 'b')"
      )
    }
    var request = request(folder, store, try folder.place("identity"))
    request.target = .identity
    #expect(try folder.migrate(request).isVerified)
    try expectSame(request.output!, store, ["ZCONTENT", "ZCAPTION", "ZTITLE", "ZZONE", "ZSIZE", "Z_OPT"])
    let notes = "SELECT count(*) FROM Notes n JOIN old.Notes o USING (id) WHERE n.a = o.a AND n.b = o.b"
    #expect(try compare(request.output!, store, notes) == ["int64(1)"])
  }

  @Test("I5, I8: killed at any change of the disk and resumed, a run with them has the undisturbed bytes")
  func kill() throws {
    let folder = try MigrationFolder([LongValueModels.first, LongValueModels.second, LongValueModels.third])
    let store = try Self.store(folder)
    let whole = DyingFileSystem()
    var request = request(folder, store, try folder.place("whole"))
    request.verification = .none
    request.fuses = false
    request.interval = .bytes(1 << 20)
    _ = try folder.job(whole).migrate(request, monitor: RunMonitor(interval: request.interval))
    let expected = try MigrationFolder.bytes(request.output!)
    var random = SplitMix(state: 2024)
    var resumed = 0
    for _ in 0..<8 {
      let point = whole.calls / 8 + random.next(whole.calls * 3 / 4)
      let output = try folder.place("kill-\(point)")
      request.output = output
      _ = try? folder.job(DyingFileSystem(at: point)).migrate(request, monitor: RunMonitor(interval: request.interval))
      _ = try folder.job().resume(output) { RunMonitor(interval: $0) }
      #expect(try MigrationFolder.bytes(output) == expected, "killed at change \(point) of \(whole.calls)")
      try FileManager.default.removeItem(atPath: FilePaths.directory(of: output))
      resumed += 1
    }
    #expect(resumed == 8)
  }

  @Test("Further objects get them too, whose records wait for others, beside tables that the model does not know")
  func doubled() throws {
    let folder = try policyFolder(read: nil, policy: DoublingPolicy.self)
    let store = try Self.store(folder)
    try CarriedStore.write(store) { db in
      try db.execute(
        sql:
          "CREATE TABLE Notes (a); CREATE TABLE More (b); INSERT INTO Notes VALUES ('n'); INSERT INTO More VALUES (1)")
    }
    let request = request(folder, store, try folder.place("doubled"))
    #expect(try folder.migrate(request).isVerified)
    let copies =
      "SELECT count(*), sum(n.ZCONTENT IS q.ZCONTENT), sum(n.ZCAPTION IS q.ZCAPTION), max(length(n.ZCONTENT)) FROM ZPHOTO n "
      + "JOIN old.ZPHOTO q ON q.Z_PK = n.ZZOOM WHERE n.Z_PK > (SELECT max(Z_PK) FROM old.ZPHOTO)"
    #expect(try compare(request.output!, store, copies) == ["int64(6)|int64(6)|int64(6)|int64(7000000)"])
    #expect(try MigrationFolder.rows(request.output!, "SELECT a, b FROM Notes, More") == ["string(\"n\")|int64(1)"])
  }

  private func policyFolder(
    read key: Int?, policy: any EntityMigrationPolicy.Type = PhotoPolicy.self
  ) throws -> MigrationFolder {
    let info = key.map { ["read": "\($0)"] } ?? [:]
    var mapping = MappingModel(
      name: "Photos",
      entityMappings: [
        PolicyModels.entity(
          "Photo", ["size", "zone", "caption", "content", "title"], ["notes"], policy: policy, info: info),
        PolicyModels.entity("Note", ["text"], ["photo"]),
      ])
    (mapping.sourceModelName, mapping.destinationModelName) = ("L1", "L2")
    return try MigrationFolder(
      [LongValueModels.first, LongValueModels.second], mappings: [mapping], policies: [policy])
  }

  @Test("A policy hands them on untouched, and late changes of their rows leave the others alone")
  func policy() throws {
    let folder = try policyFolder(read: 9)
    let store = try Self.store(folder)
    let request = request(folder, store, try folder.place("policy"))
    #expect(try folder.migrate(request).isVerified)
    try expectSame(request.output!, store, ["ZCAPTION", "ZZONE"])
    #expect(try compare(request.output!, store, Self.content) == ["int64(1)"])
    #expect(
      try MigrationFolder.rows(request.output!, "SELECT hex(ZCONTENT), ZTITLE FROM ZPHOTO WHERE Z_PK = 6")
        == ["string(\"010203\")|string(\"late 6\")"])
    #expect(
      try MigrationFolder.rows(request.output!, "SELECT ZALBUM FROM ZPHOTO WHERE Z_PK = 9") == [
        "string(\"16384 bytes\")"
      ])
  }

  @Test("A policy that looks into one larger than the memory for a row is refused, with entity and key")
  func lookedInto() throws {
    let folder = try policyFolder(read: 15)
    let store = try Self.store(folder)
    let error = #expect(throws: BatchError.self) {
      try folder.migrate(request(folder, store, try folder.place("policy")))
    }
    #expect(error?.code == .refused && error?.entity == "Photo" && error?.key == 15, "\(String(describing: error))")
    #expect(error?.hint?.contains("--memory") == true)
    // What fits the memory is looked into.
    var larger = request(folder, store, try folder.place("larger"))
    larger.memory = MemoryBudget(total: 128 << 20)
    #expect(try folder.migrate(larger).isVerified)
  }

  @Test("An index over long values is built as far as they fit the memory for a row, and refused beyond")
  func indexed() throws {
    let folder = try MigrationFolder([LongValueModels.first, LongValueModels.second, LongValueModels.third])
    let store = try Self.store(folder)
    try CarriedStore.write(store) { db in
      try db.execute(
        sql: "UPDATE ZPHOTO SET ZTITLE = ? WHERE Z_PK = 15", arguments: [String(repeating: "long ", count: 20_000)])
    }
    let sound = request(folder, store, try folder.place("sound"))
    #expect(try folder.migrate(sound).isVerified)
    try expectSame(sound.output!, store, ["ZCONTENT", "ZTITLE"])
    try CarriedStore.write(store) { db in
      try db.execute(
        sql: "UPDATE ZPHOTO SET ZTITLE = ? WHERE Z_PK = 15", arguments: [String(repeating: "long ", count: 500_000)])
    }
    let error = #expect(throws: BatchError.self) {
      try folder.migrate(request(folder, store, try folder.place("long")))
    }
    #expect(error?.code == .refused, "\(String(describing: error))")
    #expect(error?.message.contains("row 15 of ZPHOTO") == true, "\(String(describing: error))")
  }
}
