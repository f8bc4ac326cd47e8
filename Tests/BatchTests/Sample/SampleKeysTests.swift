import Testing

@testable import CoreDataStore
@testable import StoreSamples

@Suite("Keys of a sample")
struct SampleKeysTests {
  @Test(
    "Keys and positions are one-to-one, up to the largest table",
    arguments: [
      1, 2, 3, 4, 6, 10, 97, 100, 1000, 65_536, 1_000_003, UInt64(UInt32.max),
    ] as [UInt64])
  func oneToOne(rows: UInt64) throws {
    let model = SampleModels.hierarchy()
    let layout = try StoreLayout(model: model)
    let names = ["Item", "File", "Photo", "RawPhoto", "Folder"]
    let counts = try SampleSettings.counts(model, names: names, rows: rows)
    #expect(counts.values.reduce(0, +) == rows)
    let keys = SampleKeys(layout: layout, names: names, counts: counts, seed: rows)
    #expect(keys.count == rows)
    var seen: Set<UInt64> = []
    for key in Array(1...min(rows, 1000)) + Array((rows - min(rows, 1000) + 1)...rows) {
      let position = keys.position(ofKey: key)
      #expect(position < rows && keys.key(at: position) == key)
      seen.insert(position)
      let names = names.filter { keys.range(ofEntity: $0).contains(position) }
      #expect(layout.entityNumbers[names.last ?? ""].map(Int64.init) == keys.entityNumber(at: position))
    }
    if rows <= 1000 { #expect(seen.count == Int(rows)) }
    #expect(keys.range(ofEntity: "Item") == 0..<rows)
    #expect(keys.range(ofEntity: "Person").isEmpty)
  }
}
