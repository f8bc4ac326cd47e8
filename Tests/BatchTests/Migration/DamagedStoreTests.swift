import Foundation
import Streams
import TestSupport
import Testing

@testable import CoreDataStore
@testable import MigrationJobs
@testable import RunSupport
@testable import StoreVerification

/// Stores with bytes changed at random: opening, planning, rehearsing and scanning end with an answer or an error.
@Suite(.endsWithin(minutes: 5)) struct DamagedStoreTests {
  @Test("A damaged store is read or refused, never trapped over", arguments: 0..<UInt64(3))
  func fuzz(seed: UInt64) throws {
    var random = SplitMix(state: seed &+ 40)
    let folder = try MigrationFolder(MigrationModels.all)
    let store = try folder.sample("V1", rows: 60, seed: seed)
    let whole = [UInt8](try MigrationFolder.bytes(store))
    let model = try folder.model("V1")
    let layout = try StoreLayout(model: model, purpose: .reading)
    var refused = 0
    for round in 0..<40 {
      var bytes = whole
      for _ in 0..<1 + random.next(6) {
        let page = random.next(bytes.count / 4096) * 4096
        // Page 1 holds the schema; metadata and models lie on the last pages.
        let places = [
          random.next(8192), page + random.next(32), random.next(bytes.count), bytes.count - 1 - random.next(8192),
        ]
        let place = places[random.next(4)]
        for index in place..<min(place + 1 + random.next(8), bytes.count) {
          bytes[index] = [0, 0x7f, 0xff, UInt8(random.next(256))][random.next(4)]
        }
      }
      try Data(bytes).write(to: URL(fileURLWithPath: store))
      do {
        let reader = try StoreReader(path: store, fileSystem: LocalFileSystem(), locking: .none)
        defer { reader.close() }
        let binding = try StoreBinding(layout: layout, schema: reader.schema, modelName: "V1", path: store)
        for table in binding.tables { _ = try reader.rowCounts(table: table.schema) }
        _ = try SourceFingerprint.of(reader.snapshot)
        var request = folder.request(store, output: try folder.place("out-\(round)"))
        if round % 4 == 1 {
          _ = try folder.job().forecast(request, try folder.job().plan(request), sampleBytes: 20_000)
        }
        guard round % 20 == 0 else { continue }
        request.verification = .none
        _ = try folder.migrate(request)
      } catch is BatchError { refused += 1 } catch is StreamsError { refused += 1 }
    }
    #expect(refused > 5, "seed \(seed): too little was damaged")
  }
}
