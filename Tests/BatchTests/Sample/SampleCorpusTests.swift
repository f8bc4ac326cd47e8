import Testing

@testable import CoreDataModel

// Needs the models of real applications, which are no part of the package.
@Suite("Samples of the models of real applications", .enabled(if: ModelCorpus.isPresent, "no corpus (GODWIT_CORPUS)"))
struct SampleCorpusTests {
  @Test("Every application's current model can be filled, and the sample is a whole store")
  func currentVersions() throws {
    let seed: UInt64 = 4711
    var (filled, empty, unreadable) = (0, 0, 0)
    for folder in try ModelCorpus.folders("xcdatamodeld", below: "models") {
      guard let bundle = try? ModelReader.read(path: try ModelCorpus.path(folder)).first else {
        unreadable += 1
        continue
      }
      let current = bundle.versions.first { $0.name == bundle.currentVersion } ?? bundle.versions.last
      let model = try #require(current, "\(folder)")
      guard !model.entities.isEmpty else {
        empty += 1
        continue
      }
      let store = try SampleTestStore(model, rows: 700, seed: seed)
      #expect(try store.problems() == [], "\(folder) \(model.name), seed \(seed)")
      filled += 1
    }
    print("samples of \(filled) current models, seed \(seed)")
    // Three bundles hold versions in the binary format of Xcode 3 as well, one a current version without entities.
    #expect((filled, empty, unreadable) == (64, 1, 0))
  }
}
