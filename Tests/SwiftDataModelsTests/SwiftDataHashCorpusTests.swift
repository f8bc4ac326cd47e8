import Foundation
import Testing

@testable import SwiftDataModels

@Suite(
  "Version hashes of SwiftData's stores follow from their sources",
  .enabled(if: SwiftDataCorpus.isPresent, "\(SwiftDataCorpus.missing)"))
struct SwiftDataHashCorpusTests {
  @Test("The hashes of all entities of a store", arguments: SwiftDataCorpus.entries)
  func hashes(_ entry: SwiftDataCorpus.Entry) throws {
    let model = try #require(try SwiftDataCorpus.model(entry))
    let found = model.versionHashes.mapValues { Data($0).base64EncodedString() }
    for (name, hash) in entry.hashes { #expect(found[name] == hash, "\(entry) \(name)") }
    #expect(found.keys.sorted() == entry.hashes.keys.sorted())
  }

  @Test("35 entities of 9 stores are compared")
  func count() {
    #expect(SwiftDataCorpus.entries.count == 9)
    #expect(SwiftDataCorpus.entries.reduce(0) { $0 + $1.hashes.count } == 35)
  }
}
