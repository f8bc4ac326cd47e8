import Foundation
import GRDB
import Testing

@testable import Batch

// Needs real stores, which are no part of the package.
@Suite("Store layouts predict stores that Core Data wrote", .enabled(if: StoreCorpus.isPresent, "no corpus (GODWIT_CORPUS)"))
struct StoreLayoutCorpusTests {
  @Test func probe() throws {
    for entry in try StoreCorpus.stores() {
      guard let path = entry.model else { continue }
      let model = try StoreModelReader.read((StoreCorpus.root ?? "") + "/" + path)
      let layout = try StoreLayout(model: model)
      try StoreCorpus.withCopy(entry) { database in
        let rows = try StoreCorpus.schemaRows(database)
        let real = Dictionary(grouping: rows) { $0.type }
        let tables = Set((real["table"] ?? []).compactMap(\.sql))
        let predicted = Set(layout.entityTables.map(\.sql) + layout.joinTables.map(\.sql) + StoreLayout.fixedTables.map(\.sql))
        let missing = predicted.subtracting(tables).sorted()
        let extra = tables.subtracting(predicted).sorted()
        print("## \(entry.path) fw \(entry.framework): \(predicted.count - missing.count)/\(predicted.count)")
        for line in missing { print("  - \(line)") }
        for line in extra { print("  + \(line)") }
        let indexes = Set((real["index"] ?? []).compactMap(\.sql))
        let expected = Set(layout.indexes.map(\.sql))
        for line in expected.subtracting(indexes).sorted() { print("  i- \(line)") }
        for line in indexes.subtracting(expected).sorted() { print("  i+ \(line)") }
      }
    }
  }
}
