import Foundation
import GRDB
import Testing

@testable import Codecs
@testable import CoreDataStore
@testable import RunSupport

@Suite("Metadata of stores")
struct StoreMetadataTests {
  private let hashes = ["Book": [UInt8](repeating: 1, count: 32), "Author": [UInt8](0..<32)]

  @Test("Fresh metadata says what a reader needs and reads back as written")
  func fresh() throws {
    let metadata = StoreMetadata.new(uuid: "A", versionHashes: hashes, identifiers: ["v1"])
    let read = try StoreMetadata(uuid: "A", plist: metadata.encoded())
    #expect(read == metadata)
    #expect(read.versionHashes == hashes)
    #expect(read.versionIdentifiers == ["v1"])
    #expect(read.frameworkVersion == StoreMetadata.freshFrameworkVersion)
    #expect(read.entries["NSStoreModelVersionHashesVersion"] == .integer(3))
    #expect(read.entries["_NSAutoVacuumLevel"] == .string("2"))
    #expect(read.entries["NSStoreType"] == .string("SQLite"))
  }

  @Test("Migrated metadata keeps UUID and foreign keys, and renews digests only where there were some")
  func migrated() throws {
    var entries = StoreMetadata.new(uuid: "A", versionHashes: hashes, identifiers: ["v1"]).entries
    entries["com.example.key"] = .array([.boolean(true), .real(1.5), .date(2), .unsigned(.max)])
    entries["NSStoreModelVersionChecksumKey"] = nil
    let source = try StoreMetadata(uuid: "A", plist: PropertyListWriter.write(.dictionary(entries)))
    let next = source.migrated(to: ["Book": [UInt8](repeating: 2, count: 32)], identifiers: [""])
    #expect(next.uuid == "A")
    #expect(next.versionHashes == ["Book": [UInt8](repeating: 2, count: 32)])
    #expect(next.versionIdentifiers == [""])
    #expect(next.entries["com.example.key"] == entries["com.example.key"])
    #expect(next.entries["NSStoreModelVersionHashesDigest"] != source.entries["NSStoreModelVersionHashesDigest"])
    #expect(next.entries["NSStoreModelVersionHashesDigest"] != nil)
    #expect(next.entries["NSStoreModelVersionChecksumKey"] == nil)
    #expect(next.frameworkVersion == source.frameworkVersion)
  }

  @Test("Missing or damaged metadata is an error that names it")
  func damaged() {
    let bad: [[UInt8]?] = [
      nil, [], Array("bplist00".utf8), Array(repeating: 0, count: 100), PropertyListWriter.write(.array([])),
      PropertyListWriter.write(.dictionary([:])),
      PropertyListWriter.write(.dictionary(["NSStoreModelVersionHashes": .dictionary(["A": .data([1])])])),
      Array(repeating: 0, count: StoreMetadata.maximumSize + 1),
    ]
    for plist in bad {
      let error = #expect(throws: BatchError.self) { try StoreMetadata(uuid: "A", plist: plist, path: "a.sqlite") }
      #expect(error?.code == .badStore)
      #expect(error?.path == "a.sqlite")
      #expect(error?.message.contains("Z_METADATA.Z_PLIST") == true)
    }
  }
}

@Suite("Property lists are written deterministically and read with suspicion")
struct MetadataListTests {
  private let sample = PropertyListValue.dictionary([
    "text": .string("plain"), "größe": .string("π ≠ 😀"), "empty": .string(""),
    "long": .string(String(repeating: "x", count: 70_000)),
    "numbers": .array([0, 255, 256, 65_536, 4_294_967_296, .max, -1, .min].map { .integer($0) }),
    "unsigned": .unsigned(.max), "real": .real(-0.1), "date": .date(7e8), "yes": .boolean(true), "no": .boolean(false),
    "data": .data(Array(repeating: 9, count: 20)),
    "nested": .dictionary(["text": .array([.array([]), .dictionary([:])])]),
  ])

  @Test("Values read back as written")
  func roundTrip() throws {
    let bytes = PropertyListWriter.write(sample)
    #expect(try PropertyListReader.read(bytes) == sample)
    // Two ways to write é are two texts, 0 and -0 two numbers.
    let alike = PropertyListValue.array([.string("\u{E9}"), .string("e\u{301}"), .real(0), .real(-0.0)])
    let written = PropertyListWriter.write(alike)
    guard case .array(let values) = try PropertyListReader.read(written), values.count == 4 else {
      Issue.record("no array of four")
      return
    }
    if case .string(let text) = values[1] { #expect(Array(text.utf8) == Array("e\u{301}".utf8)) }
    if case .real(let zero) = values[3] { #expect(zero.sign == .minus) }
    // More than 255 objects need wider references.
    let many = PropertyListValue.array((0..<300).map { .integer(Int64($0)) })
    #expect(try PropertyListReader.read(PropertyListWriter.write(many)) == many)
  }

  @Test("The bytes are pinned: a change of them is a change of every store")
  func pinned() {
    let value = PropertyListValue.dictionary(["b": .integer(1), "a": .array([.string("a"), .boolean(true)])])
    let objects: [UInt8] = [0xD2, 1, 2, 3, 5, 0x51, 0x61, 0x51, 0x62, 0xA2, 1, 4, 0x09, 0x10, 1]
    let trailer: [UInt8] = [
      0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 23,
    ]
    let expected = Array("bplist00".utf8) + objects + [8, 13, 15, 17, 20, 21] + trailer
    #expect(PropertyListWriter.write(value) == expected)
  }

  @Test("Foundation reads the same values")
  func foundation() throws {
    let data = Data(PropertyListWriter.write(sample))
    let read = try #require(PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    #expect(read.count == 12)
    #expect(read["größe"] as? String == "π ≠ 😀")
    #expect(read["numbers"] as? [Int64] == [0, 255, 256, 65_536, 4_294_967_296, .max, -1, .min])
    #expect(read["date"] as? Date == Date(timeIntervalSinceReferenceDate: 7e8))
    #expect(read["data"] as? Data == Data(repeating: 9, count: 20))
    #expect(read["yes"] as? Bool == true)
  }

  @Test("Lists that nest too deeply, refer in rings or multiply themselves are refused")
  func bombs() {
    var deep = PropertyListValue.string("x")
    for _ in 0..<100 { deep = .array([deep]) }
    #expect(throws: PropertyListReader.Damage.self) { try PropertyListReader.read(PropertyListWriter.write(deep)) }
    // [0xA1 0]: an array that holds itself.
    let ring: [UInt8] =
      Array("bplist00".utf8) + [0xA1, 0, 8, 0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1]
      + Array(repeating: 0, count: 8)
      + [0, 0, 0, 0, 0, 0, 0, 10]
    #expect(throws: PropertyListReader.Damage.self) { try PropertyListReader.read(ring) }
    // 30 arrays, each holding the next one eight times: 8^30 values in 600 bytes.
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for level in 0..<30 {
      offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
      bytes += [0xA8] + Array(repeating: UInt8(level + 1), count: 8)
    }
    offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
    bytes += [0x09]
    let start = bytes.count
    bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1] + [0, 0, 0, 0, 0, 0, 0, 31] + Array(repeating: 0, count: 8)
    bytes += [0, 0, 0, 0, 0, 0, UInt8(start >> 8), UInt8(start & 255)]
    #expect(throws: PropertyListReader.Damage.self) { try PropertyListReader.read(bytes) }
  }

  @Test("Damaged bytes end in a value or an error, never in a trap")
  func mutations() {
    var seed: UInt64 = 0x60D_717
    func next(_ bound: Int) -> Int {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(seed >> 33) % bound
    }
    let small = PropertyListValue.dictionary([
      "a": .array([.integer(300), .string("é"), .data([1, 2])]), "b": .real(1),
    ])
    let original = PropertyListWriter.write(small)
    print("seed \(seed)")
    for _ in 0..<20_000 {
      var bytes = original
      for _ in 0...next(3) { bytes[next(bytes.count)] = UInt8(next(256)) }
      if next(4) == 0 { bytes.removeLast(next(bytes.count)) }
      _ = try? PropertyListReader.read(bytes)
    }
  }
}

// Needs real stores, which are no part of the package.
@Suite("Metadata that Core Data wrote", .enabled(if: StoreCorpus.isPresent, "no corpus (GODWIT_CORPUS)"))
struct StoreMetadataCorpusTests {
  @Test("All metadata survives reading and writing; digests are reproduced")
  func allStores() throws {
    var (stores, digests, checksums) = (0, 0, 0)
    for entry in try StoreCorpus.stores() {
      let row = try StoreCorpus.withCopy(entry) { try Row.fetchOne($0, sql: "SELECT Z_UUID, Z_PLIST FROM Z_METADATA") }
      let plist = try #require(row?["Z_PLIST"] as Data?)
      let metadata = try StoreMetadata(uuid: row?["Z_UUID"] ?? "", plist: Array(plist), path: entry.path)
      let bytes = metadata.encoded()
      stores += 1
      #expect(metadata.uuid.count == 36)
      #expect(try StoreMetadata(uuid: metadata.uuid, plist: bytes) == metadata, "\(entry.path)")
      #expect(metadata.encoded() == bytes)
      #expect(metadata.frameworkVersion == Int64(entry.framework), "\(entry.path)")
      let before = try PropertyListSerialization.propertyList(from: plist, format: nil) as? NSDictionary
      let after = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? NSDictionary
      #expect(before != nil && before == after, "\(entry.path)")
      // Migrating to its own model changes nothing: the digests are Core Data's own.
      let same = metadata.migrated(to: metadata.versionHashes, identifiers: metadata.versionIdentifiers)
      #expect(same == metadata, "\(entry.path)")
      if metadata.entries[StoreMetadata.Key.digest] != nil { digests += 1 }
      if metadata.entries[StoreMetadata.Key.checksum] != nil { checksums += 1 }
    }
    #expect(stores == 69)
    #expect(digests == 6)
    #expect(checksums == 2)
  }
}
