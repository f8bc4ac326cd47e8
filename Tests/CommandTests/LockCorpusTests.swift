import Foundation
import GRDB
import Testing

@testable import SwiftDataModels

@Suite(
  "A lock has the checksums of real stores",
  .enabled(if: ExampleCorpus.isPresent && SourceParser.isThere, "set GODWIT_CORPUS to the corpus"))
struct LockCorpusTests {
  /// What the store's own metadata say.
  private static func checksum(_ store: String) throws -> String {
    let queue = try DatabaseQueue(path: store)
    let data = try queue.read { try Data.fetchOne($0, sql: "SELECT Z_PLIST FROM Z_METADATA") }
    try queue.close()
    let entries = try PropertyListSerialization.propertyList(from: #require(data), format: nil) as? [String: Any]
    return try #require(entries?["NSStoreModelVersionChecksumKey"] as? String)
  }

  @Test("The lock of myhome's sources knows versions by the checksums that SwiftData wrote into stores of them")
  func myhome() throws {
    let folder = try CommandFolder(readsSwift: true)
    let lock = folder.file("schema.lock")
    let done = try folder.run("godwit", ["lock", MyHome.sources, "--lock", lock])
    #expect(done.code == 0 && done.output.contains("locked: 1.0.0, 2.0.0, "), "\(done)")
    let text = try String(contentsOfFile: lock, encoding: .utf8)
    for (name, version) in [("MyHomeV1Seed.store", "1.0.0"), ("MyHomeV2Seed.store", "2.0.0")] {
      let store = try MyHome.copy(name, to: folder)
      let checksum = try Self.checksum(store)
      #expect(text.contains("    checksum: \"\(checksum)\"\n"), "\(name)")
      // A store is a model of one version, found by its checksum: only the others are missing.
      let found = try folder.run("godwit", ["check", store, "--lock", lock])
      #expect(found.code == 4 && found.output.contains(": 10 of 11 locked versions changed or missing"), "\(found)")
      #expect(!found.output.contains("version \(version) is") && !found.output.contains("note:"), "\(found)")
    }
  }
}
