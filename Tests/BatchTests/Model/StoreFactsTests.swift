import Foundation
import GRDB
import Testing

@testable import Codecs
@testable import CoreDataModel
@testable import Migrations
@testable import RunSupport

/// What Core Data wrote into real stores must follow from the models alone.
@Suite("Stores written by Core Data", .enabled(if: ModelCorpus.isPresent))
struct StoreFactsTests {
  struct Facts {
    var plist: [String: PropertyListValue] = [:]
    var hashes: [String: [UInt8]] = [:]
    var numbers: [String: Int] = [:]
    var parents: [String: Int] = [:]
  }

  /// Reads a copy: opening a store can change it.
  static func facts(_ relative: String) throws -> Facts? {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for suffix in ["", "-wal"] {
      let path = try ModelCorpus.path(relative) + suffix
      guard FileManager.default.fileExists(atPath: path) else { continue }
      try Data(contentsOf: URL(fileURLWithPath: path)).write(to: URL(fileURLWithPath: folder + "/store" + suffix))
    }
    let queue = try DatabaseQueue(path: folder + "/store")
    return try queue.read { db in
      guard let plist = try Data.fetchOne(db, sql: "SELECT Z_PLIST FROM Z_METADATA"),
        case .dictionary(let entries) = try PropertyListReader.read(Array(plist)),
        case .dictionary(let hashes)? = entries["NSStoreModelVersionHashes"]
      else { return nil }
      var facts = Facts(plist: entries)
      for (name, value) in hashes { if case .data(let bytes) = value { facts.hashes[name] = bytes } }
      for row in try Row.fetchAll(db, sql: "SELECT Z_NAME, Z_ENT, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000") {
        facts.numbers[row["Z_NAME"]] = row["Z_ENT"]
        facts.parents[row["Z_NAME"]] = row["Z_SUPER"]
      }
      return facts
    }
  }

  static let all: Result<[(path: String, facts: Facts)], any Error> = Result {
    try ModelCorpus.table(ModelCorpus.path("INDEX.tsv")).filter { $0["kind"] == "store" }.compactMap { row in
      let path = row["path"] ?? ""
      return try facts(path).map { (path, $0) }
    }
  }

  @Test("Checksum and digest in the metadata follow from the hashes")
  func digests() throws {
    var counts = (checksums: 0, digests: 0)
    for (path, facts) in try Self.all.get() {
      if case .string(let text)? = facts.plist["NSStoreModelVersionChecksumKey"] {
        #expect(ManagedObjectModel.versionChecksum(facts.hashes) == text, "\(path)")
        counts.checksums += 1
      }
      if case .string(let text)? = facts.plist["NSStoreModelVersionHashesDigest"] {
        #expect(ManagedObjectModel.versionHashesDigest(facts.hashes) == text, "\(path)")
        counts.digests += 1
      }
    }
    print("metadata: \(counts.checksums) checksums, \(counts.digests) digests equal")
    #expect(counts.checksums > 0 && counts.digests > 0)
  }

  @Test("Entity numbers and parents in the store follow from the version that its hashes name")
  func numbers() throws {
    var known = 0
    for (path, facts) in try Self.all.get() {
      guard let key = ModelCorpus.hashes.first(where: { $0.value == facts.hashes })?.key,
        let model = ModelCorpus.versions[key]
      else { continue }
      known += 1
      let numbers = model.entityNumbers
      #expect(numbers == facts.numbers, "\(path)")
      for (name, parent) in facts.parents {
        #expect(parent == model.entity(name)?.superentity.flatMap { numbers[$0] } ?? 0, "\(path) \(name)")
      }
    }
    print("entity numbers: \(known) stores equal")
    #expect(known > 0)
  }

  @Test("The nearest version to a store that no version fits is named, with what differs")
  func invalidStore() throws {
    let facts = try #require(
      try Self.all.get().first { $0.path.contains("UserData_DB_invalid") }?.facts)
    let library = try ModelLibrary(paths: [
      ModelCorpus.path("models/SRGSSR+srguserdata-apple/SRGUserData.xcdatamodeld")
    ])
    #expect(library.model(matching: facts.hashes) == nil)
    let error = library.noModel(for: facts.hashes)
    #expect(error.code == .noModel)
    #expect(
      error.message == "no version of the model fits the store; the nearest is SRGUserData_v5; "
        + "differing: HistoryEntry, User")
  }
}
