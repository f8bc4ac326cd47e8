import Foundation
import Streams
import Testing

@testable import CoreDataModel

@Suite("Version hashes")
struct VersionHashTests {
  /// Versions that their authors edited in place after a release: the tables hold one hash per edit, the model file
  /// only the last text. By version and entity, the number of hashes that belong to texts that are no longer there.
  static let editedInPlace: [String: [String: Int]] = [
    "apptentive+apptentive-ios/ATDataModel.xcdatamodeld/ATDataModel 6.xcdatamodel": ["QueuedRequest": 7],
    "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld/zmessaging2.101.0.xcdatamodel": ["Feature": 1],
    "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld/zmessaging2.65.0.xcdatamodel": [
      "AssetClientMessage": 1, "ClientMessage": 1, "ImageMessage": 1, "KnockMessage": 1, "Message": 1,
      "SystemMessage": 1, "TextMessage": 1,
    ],
    "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld/zmessaging2.70.0.xcdatamodel": ["Conversation": 2],
    "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld/zmessaging2.71.0.xcdatamodel": ["UserClient": 1],
    "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld/zmessaging2.73.0.xcdatamodel": ["User": 1],
    "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld/zmessaging2.76.0.xcdatamodel": ["Label": 1],
    "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld/zmessaging2.78.0.xcdatamodel": [
      "Conversation": 3, "ParticipantRole": 1, "Role": 1, "Team": 1, "User": 1,
    ],
    "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld/zmessaging2.80.0.xcdatamodel": ["ButtonState": 5],
    "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld/zmessaging2.85.0.xcdatamodel": [
      "Conversation": 1, "User": 1,
    ],
    "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld/zmessaging2.86.0.xcdatamodel": [
      "Conversation": 1, "User": 1,
    ],
    "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld/zmessaging2.88.0.xcdatamodel": ["Feature": 7, "Team": 2],
    "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld/zmessaging2.91.0.xcdatamodel": [
      "SystemMessage": 1, "User": 2,
    ],
    "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld/zmessaging2.93.0.xcdatamodel": [
      "Conversation": 1, "Feature": 1, "Team": 1,
    ],
  ]

  /// A released text of 2.65.0 that is kept beside the edited one.
  static let kept = [
    "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld/zmessaging2.65.0.xcdatamodel":
      "wireapp+wire-ios-data-model/zmessaging-history.xcdatamodeld/zmessaging2.65.0 (as shipped).xcdatamodel"
  ]

  /// Versions that are in the tables, but of which there is no model in XML: made in code, binary, or left out.
  static let withoutXML = [
    "magicalpanda+MagicalRecord//": 4, "kean+Pulse//": 4, "SRGSSR+srguserdata-apple//": 2,
    "RhetTbull+apple-notes-parser//": 58, "RestKit+RestKit//": 2, "wireapp+wire-ios-data-model//": 10,
  ]
  static let leftOut = ["2.82.0-hotfix", "2.102.0", "2.103.0", "2.104.0", "2.105.0"].map {
    "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld/zmessaging\($0).xcdatamodel"
  }

  /// Hashes that follow from the model caches of stores and from versions in Xcode's old binary form, by
  /// `repository/entity`.
  static let binary: [String: Set<String>] = {
    var found: [String: Set<String>] = [:]
    func add(_ model: ManagedObjectModel, _ path: String) {
      let repository = path.split(separator: "/").dropFirst().first ?? ""
      for (entity, hash) in model.versionHashes {
        found["\(repository)/\(entity)", default: []].insert(Data(hash).base64EncodedString())
      }
    }
    for cache in (try? CompiledCorpus.caches.get()) ?? [] {
      if let model = try? ModelCache.decode(cache.content) { add(model, cache.entry.path) }
    }
    for folder in (try? ModelCorpus.folders("xcdatamodel", below: "models")) ?? [] {
      guard let path = try? ModelCorpus.path(folder), !FileManager.default.fileExists(atPath: path + "/contents"),
        let model = try? ModelReader.read(path: path).first?.versions.first
      else { continue }
      add(model, folder)
    }
    return found
  }()

  struct Tally {
    var equal = 0
    /// Rows without XML that follow from a cache or a binary version.
    var fromBinary = 0
    var withoutXML: [String: Int] = [:]
    /// By version and entity, the rows that differ.
    var different: [String: [String: Int]] = [:]
  }

  static func compare(_ rows: [(keys: [String], entity: String, hash: String)]) -> Tally {
    var tally = Tally()
    for row in rows {
      guard let key = row.keys.first(where: { ModelCorpus.versions[$0] != nil }) else {
        tally.withoutXML[row.keys.first ?? "", default: 0] += 1
        let repository = row.keys.first?.split(separator: "/").first ?? ""
        if binary["\(repository)/\(row.entity)"]?.contains(row.hash) == true { tally.fromBinary += 1 }
        continue
      }
      let candidates = [key, kept[key]].compactMap { $0 }.map { key in
        ModelCorpus.hashes[key]?[row.entity].map { Data($0).base64EncodedString() }
      }
      if candidates.contains(row.hash) {
        tally.equal += 1
      } else {
        tally.different[key, default: [:]][row.entity, default: 0] += 1
      }
    }
    return tally
  }

  @Test("Hashes equal those in the stores of the table HASHES", .enabled(if: ModelCorpus.isPresent))
  func hashesOfStores() throws {
    let rows = try ModelCorpus.table(ModelCorpus.path("HASHES.tsv")).map { row in
      let bundle = (row["bundle"] ?? "").replacing(".momd", with: ".xcdatamodeld")
      let versions = (row["model_version"] ?? "").split(separator: " OR ").map(String.init)
      let keys = (versions.isEmpty ? [""] : versions).map { "\(row["repo"] ?? "")/\(bundle)/\($0)" }
      return (keys: keys, entity: row["entity"] ?? "", hash: row["version_hash_base64"] ?? "")
    }
    let tally = Self.compare(rows)
    print("HASHES: \(rows.count) rows, \(tally.equal) equal from XML, \(tally.fromBinary) from binary models")
    #expect(tally.fromBinary == Self.withoutXML.values.reduce(0, +))
    #expect(tally.different == [:])
    #expect(tally.withoutXML == Self.withoutXML)
    #expect(tally.equal == 748 && rows.count == 828)
  }

  @Test("Hashes equal those of the table of vectors", .enabled(if: ModelCorpus.isPresent))
  func vectors() throws {
    let file = try ModelCorpus.path("../spec/vectors.tsv")
    let rows = try ModelCorpus.table(file).map { row in
      let tail = (row["model_version"] ?? "").split(separator: "/").suffix(2).joined(separator: "/")
      let repository = (row["repo"] ?? "").replacing("/", with: "+")
      return (keys: ["\(repository)/\(tail)"], entity: row["entity"] ?? "", hash: row["expected_hash_base64"] ?? "")
    }
    let tally = Self.compare(rows)
    print("vectors: \(rows.count) rows, \(tally.equal) equal")
    #expect(tally.different == Self.editedInPlace)
    #expect(tally.withoutXML == Dictionary(uniqueKeysWithValues: Self.leftOut.map { ($0, 24) }))
    #expect(tally.equal == 1_580 && rows.count == 1_751)
  }

  @Test("Names that are equal texts of other bytes have hashes of their own, in one model and from version to version")
  func bytes() {
    func entity(_ name: String, _ attribute: String) -> EntityDescription {
      EntityDescription(name: name, attributes: [AttributeDescription(name: attribute, type: .string)])
    }
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    let alone = ManagedObjectModel(name: "1", entities: [entity("B", decomposed)])
    let together = ManagedObjectModel(name: "2", entities: [entity("A", composed), entity("B", decomposed)])
    let before = ManagedObjectModel(name: "3", entities: [entity("B", composed)])
    let hash = alone.versionHashes["B"]
    #expect(ManagedObjectModel.versionHashes([together])[0]["B"] == hash && before.versionHashes["B"] != hash)
    let copy = ManagedObjectModel(name: "4", entities: [entity("B", decomposed)])
    #expect(ManagedObjectModel.versionHashes([before, copy])[1]["B"] == hash)
  }
}
