import Foundation
import GRDB
import Streams
import Testing

@testable import Codecs
@testable import CoreDataModel
@testable import CoreDataStore
@testable import RunSupport
@testable import StoreSamples

@Suite("Sample stores")
struct SampleStoreTests {
  static let seed: UInt64 = 20_250_101

  @Test("A sample of every shape of model is a whole store", arguments: SampleModels.all)
  func isWhole(model: ManagedObjectModel) throws {
    // Few rows bring out what has no partner, many rows what needs more than one page a level.
    for rows in [0, 1, 2, 7, 40, 6000] as [UInt64] {
      let store = try SampleTestStore(model, rows: rows, seed: Self.seed)
      #expect(try store.problems() == [], "\(model.name), \(rows) rows, seed \(Self.seed)")
      #expect(try LocalFileSystem().list(store.folder) == ["Sample.sqlite"])
    }
  }

  @Test("A sample is a store that this tool can read, and its metadata names the model")
  func canBeRead() throws {
    let store = try SampleTestStore(StoreModels.library(), rows: 500, seed: Self.seed)
    let reader = try StoreReader(path: store.path, fileSystem: LocalFileSystem(), locking: .none)
    defer { reader.close() }
    #expect(reader.metadata.versionHashes == store.model.versionHashes)
    #expect(UUID(uuidString: reader.metadata.uuid)?.uuidString == reader.metadata.uuid)
    let binding = try StoreBinding(
      layout: try StoreLayout(model: store.model), schema: reader.schema, modelName: "Library", path: store.path)
    #expect(binding.extras == StoreBinding.Extras())
    #expect(reader.snapshot.header.pageSize == 4096 && reader.snapshot.header.autoVacuum == 2)
    #expect(reader.snapshot.header.version == .rollback)
  }

  @Test("The same seed gives the same bytes whatever the memory; another seed, another store")
  func isRepeatable() throws {
    for model in SampleModels.all {
      let first = try SampleTestStore(model, rows: 3000, seed: 1)
      let second = try SampleTestStore(model, rows: 3000, seed: 1, budget: MemoryBudget(total: 0))
      let third = try SampleTestStore(model, rows: 3000, seed: 2)
      #expect(try first.bytes() == second.bytes(), "\(model.name)")
      #expect(try first.bytes() != third.bytes(), "\(model.name)")
      let uuids = try [first, third].map { try $0.fetch("SELECT Z_UUID FROM Z_METADATA")[0][0] as String }
      #expect(uuids[0] != uuids[1])
    }
  }

  @Test("A seed stands for the same values in every build and on every machine")
  func isStable() throws {
    let digests = try SampleModels.all.map { model in
      let store = try SampleTestStore(model, rows: 300, seed: Self.seed)
      let layout = try StoreLayout(model: model)
      var text = ""
      for name in layout.entityTables.map(\.name) + layout.joinTables.map(\.name) {
        for row in try store.fetch("SELECT * FROM \"\(name)\" ORDER BY rowid") {
          for value in row.databaseValues {
            if case .blob(let data) = value.storage { text += data.base64EncodedString() } else { text += "\(value) " }
          }
        }
      }
      return SHA256.hash(Array(text.utf8)).prefix(4).map { String(format: "%02x", $0) }.joined()
    }
    #expect(digests == Self.digests)
  }

  /// By model, in the order of ``SampleModels/all``. They change only when samples are meant to change.
  static let digests = ["77b2b24b", "50f8268f", "0572ee4d", "a0e96299", "e0aa3b54", "1463f164", "da5984ce"]

  @Test("Objects are shared out by weight, and entities of one table are mixed")
  func shares() throws {
    let plain = try SampleTestStore(SampleModels.plain(), rows: 10_001, seed: Self.seed)
    #expect(try plain.number("SELECT count(*) FROM ZAUTHOR") == 2000)
    #expect(try plain.number("SELECT count(*) FROM ZBOOK") == 8001)
    // Shares: Person, Folder, Photo, RawPhoto 1, File 3.
    let store = try SampleTestStore(SampleModels.hierarchy(), rows: 7000, seed: Self.seed)
    let counts = try store.fetch("SELECT count(*) FROM ZITEM GROUP BY Z_ENT ORDER BY Z_ENT").map { $0[0] as Int }
    #expect(counts == [3000, 1000, 1000, 1000])
    let halves = try store.fetch("SELECT count(*) FROM ZITEM WHERE Z_PK <= 3000 GROUP BY Z_ENT ORDER BY Z_ENT")
    for (half, whole) in zip(halves.map({ $0[0] as Int }), counts) { #expect(abs(2 * half - whole) <= 20) }
  }

  @Test("User infos choose the number of values, the beginning of texts, and whether there are gaps")
  func settings() throws {
    let store = try SampleTestStore(SampleModels.plain(), rows: 10_000, seed: Self.seed)
    #expect(try store.number("SELECT count(DISTINCT ZSERIES) FROM ZBOOK") == 20)
    #expect(try store.number("SELECT count(*) FROM ZBOOK WHERE ZTITLE NOT LIKE 'The %' OR ZTITLE IS NULL") == 0)
    #expect(try store.number("SELECT count(*) FROM ZBOOK WHERE ZAUTHOR IS NULL OR ZSERIES IS NULL") == 0)
    let gaps = try store.number("SELECT count(*) FROM ZBOOK WHERE ZPAGES IS NULL")
    #expect((400...600).contains(gaps), "\(gaps) of 8000")
  }

  @Test(
    "A setting that cannot be followed is refused by name",
    arguments: [
      (SampleSettings.Key.distinct, "0"), (SampleSettings.Key.distinct, "many"), (SampleSettings.Key.null, "sometimes"),
      (SampleSettings.Key.prefix, "x"), (SampleSettings.Key.share, "-1"), (SampleSettings.Key.share, "inf"),
    ])
  func badSettings(key: String, value: String) throws {
    var book = StoreModels.entity("Book", [("pages", .integer32)])
    book.attributes[0].userInfo = [key: value]
    book.userInfo = [key: value]
    let error = #expect(throws: BatchError.self) {
      try SampleTestStore(ManagedObjectModel(entities: [book]), rows: 1, seed: 1)
    }
    #expect(error?.code == .badModel && error?.entity == "Book" && error?.message.contains(key) == true)
  }

  @Test("Distinct names are distinct, however many there are", arguments: [1, 2, 5000, 300_000] as [UInt64])
  func distinctNames(count: UInt64) {
    let bits = SampleWords.nameBits(count: count)
    var seen: Set<[UInt8]> = []
    for index in stride(from: 0, to: count, by: Int(max(1, count / 5000))) {
      var name: [UInt8] = []
      SampleWords.appendName(index, bits: bits, base: SampleHash.mix(count), to: &name)
      #expect(seen.insert(name).inserted)
    }
  }

  @Test("A transformable's value is a keyed archive of a text")
  func archives() throws {
    let store = try SampleTestStore(SampleModels.everyType(), rows: 400, seed: Self.seed)
    for row in try store.fetch("SELECT ZOBJECT FROM ZREQUIRED") {
      let data: Data = row[0]
      #expect(try KeyedArchive([UInt8](data)).root?.string?.utf8.count == SampleArchive.textLength)
    }
  }

  @Test("Many-to-many links are one and a half for an object, one-to-ones mostly there")
  func links() throws {
    let store = try SampleTestStore(StoreModels.library(), rows: 6000, seed: Self.seed)
    let authors = try store.number("SELECT count(*) FROM ZAUTHOR")
    for table in try StoreLayout(model: store.model).joinTables {
      let links = try store.number("SELECT count(*) FROM \"\(table.name)\"")
      #expect(links > authors * 13 / 10 && links < authors * 17 / 10, "\(table.name): \(links) of \(authors)")
    }
    let pairs = try SampleTestStore(SampleModels.oneToOne(), rows: 6000, seed: Self.seed)
    for column in ["ZACCOUNT", "ZNEXT", "ZPREVIOUS", "ZSPOUSE"] {
      let found = try pairs.number("SELECT count(*) FROM ZUSER WHERE \(column) NOT NULL")
      // Half as many accounts as users.
      let range = column == "ZACCOUNT" ? 1800...1950 : 3600...3900
      #expect(range.contains(found), "\(column): \(found) of 4000")
    }
  }

  @Test("Progress grows from 0 to 1 and ends there")
  func progress() throws {
    var reports: [Double] = []
    _ = try SampleTestStore(StoreModels.library(), rows: 40_000, seed: 1) { reports.append($0) }
    #expect(reports.last == 1)
    #expect(reports == reports.sorted())
    #expect(reports.count > 10)
  }

  @Test("An output that exists is refused and stays as it is", arguments: ["", "-wal", "-journal"])
  func refusesExisting(suffix: String) throws {
    let folder = try SampleTestStore.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/Sample.sqlite"
    try LocalFileSystem().writeDurably([1, 2, 3], to: path + suffix)
    let error = #expect(throws: BatchError.self) {
      try StoreSampler(model: SampleModels.plain(), rows: 10, seed: 1)
        .write(to: path, fileSystem: LocalFileSystem()) { _ in }
    }
    #expect(error?.code == .refused && error?.path == path + suffix)
    #expect(try LocalFileSystem().list(folder) == ["Sample.sqlite" + suffix])
    #expect(try LocalFileSystem().readAll(path + suffix, cap: 10) == [1, 2, 3])
  }

  @Test(
    "A full disk leaves nothing behind, wherever it fills up",
    arguments: [(0, .max), (4096, .max), (300_000, .max), (1 << 20, .max), (.max, 0)] as [(Int, Int)])
  func leavesNothingBehind(room: Int, sortRoom: Int) throws {
    let folder = try SampleTestStore.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // Enough keys of one index that sorting needs its scratch file.
    let error = #expect(throws: BatchError.self) {
      try StoreSampler(model: SampleModels.plain(), rows: sortRoom == 0 ? 500_000 : 160_000, seed: 1).write(
        to: folder + "/Sample.sqlite", fileSystem: FullFileSystem(room: room, sortRoom: sortRoom),
        budget: MemoryBudget(total: 0)
      ) { _ in }
    }
    #expect(error?.code == BatchError.Code(.diskFull))
    #expect(try LocalFileSystem().list(folder) == [])
  }

  @Test("A model that contradicts itself, has no objects, or asks for too many rows writes nothing")
  func refusesModels() throws {
    var abstract = StoreModels.entity("Ghost")
    abstract.isAbstract = true
    let broken = StoreModels.entity("Book", [], [StoreModels.link("author", "Author", nil)])
    for (entities, rows, code) in [
      ([abstract], 1, .badModel), ([broken], 1, .badModel), ([StoreModels.entity("Book")], 1 << 32, .refused),
    ] as [([EntityDescription], UInt64, BatchError.Code)] {
      let error = #expect(throws: BatchError.self) {
        try SampleTestStore(ManagedObjectModel(entities: entities), rows: rows, seed: 1)
      }
      #expect(error?.code == code)
    }
  }
}

@Suite("Samples into the log, and values at the borders of their types")
struct SampleEdgeTests {
  @Test("With the log the main file is an empty store, and SQLite and our reader find every row in the log")
  func log() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let plain = try folder.sample("V1", rows: 3000, seed: 5)
    let store = try folder.place("log")
    try StoreSampler(model: try folder.model("V1"), rows: 3000, seed: 5, intoLog: true)
      .write(to: store, fileSystem: LocalFileSystem(), progress: { _ in })
    let copy = try folder.copy(store, as: "copy")
    let reader = try StoreReader(path: store, fileSystem: LocalFileSystem(), locking: .none)
    #expect(reader.snapshot.logFrames > 10)
    #expect(try reader.rowCounts(table: #require(reader.schema.table("ZBOOK"))).values.reduce(0, +) > 100)
    reader.close()
    #expect(try CarriedStore.contents(copy) == CarriedStore.contents(plain))
    #expect(try MigrationFolder.rows(copy, "PRAGMA integrity_check") == ["string(\"ok\")"])
    let without = try folder.place("without")
    try FileManager.default.copyItem(atPath: store, toPath: without)
    #expect(try MigrationFolder.rows(without, "SELECT count(*) FROM ZBOOK") == ["int64(0)"])
  }

  @Test("Least and greatest numbers, empty and long texts occur; an entry in the user info keeps them out")
  func edges() throws {
    var entity = EntityDescription(name: "Thing")
    var calm = AttributeDescription(name: "calm", type: .integer64)
    calm.userInfo["godwit.sample.edges"] = "never"
    entity.attributes = [
      AttributeDescription(name: "number", type: .integer64), AttributeDescription(name: "small", type: .integer16),
      AttributeDescription(name: "text", type: .string), AttributeDescription(name: "day", type: .date), calm,
    ]
    let folder = try MigrationFolder([ManagedObjectModel(name: "V1", entities: [entity])])
    let store = try folder.place("edges")
    try StoreSampler(model: ManagedObjectModel(name: "V1", entities: [entity]), rows: 5000, seed: 2)
      .write(to: store, fileSystem: LocalFileSystem(), progress: { _ in })
    func holds(_ condition: String) throws -> Bool {
      try MigrationFolder.rows(store, "SELECT count(*) > 0 FROM ZTHING WHERE \(condition)") == ["int64(1)"]
    }
    #expect(try holds("ZNUMBER = 9223372036854775807"))
    #expect(try holds("ZNUMBER = -9223372036854775808"))
    #expect(try holds("ZSMALL = -32768"))
    #expect(try holds("ZTEXT = ''"))
    #expect(try holds("length(CAST(ZTEXT AS BLOB)) > 5000"))
    #expect(try holds("ZDAY < -900000000"))
    #expect(try !holds("ZCALM = -9223372036854775808"))
  }
}
