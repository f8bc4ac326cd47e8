import Foundation
import Streams
import Testing

@testable import Batch

@Suite("Version hashes")
struct VersionHashTests {
  /// Rows that no version in XML can answer, with the reason.
  static let unanswered: [String: String] = [:]

  struct Tally {
    var equal = 0
    var withoutXML: [String: Int] = [:]
    var different: [String] = []
  }

  static func compare(_ rows: [(keys: [String], entity: String, hash: String)]) -> Tally {
    var tally = Tally()
    var hashes: [String: [String: [UInt8]]] = [:]
    for row in rows {
      guard let key = row.keys.first(where: { ModelCorpus.versions[$0] != nil }) else {
        tally.withoutXML[row.keys.first ?? "", default: 0] += 1
        continue
      }
      if hashes[key] == nil { hashes[key] = ModelCorpus.versions[key]?.versionHashes }
      let computed = hashes[key]?[row.entity].map { Data($0).base64EncodedString() }
      if computed == row.hash { tally.equal += 1 } else { tally.different.append("\(key) \(row.entity)") }
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
    print("HASHES: \(rows.count) rows, \(tally.equal) equal, without XML: \(tally.withoutXML)")
    #expect(tally.different == [])
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
    print("vectors: \(rows.count) rows, \(tally.equal) equal, without XML: \(tally.withoutXML)")
    #expect(tally.different == [])
  }
}
