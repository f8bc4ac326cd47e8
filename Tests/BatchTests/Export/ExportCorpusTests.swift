import Foundation
import GRDB
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import RunSupport
@testable import StoreExports

// The corpus is no part of the repository: without it there is no store to export, and the suite says that it is
// skipped.
@Suite("Export of the stores of real applications", .enabled(if: ModelCorpus.isPresent, "no corpus (GODWIT_CORPUS)"))
struct ExportCorpusTests {
  @Test("Every store with a known model has the objects that were counted, and all of them say what SQL finds")
  func all() throws {
    var expected: [String: [String: UInt64]] = [:]
    for row in try ModelCorpus.table(ModelCorpus.path("EXPECT.tsv")) where row["property"] == "(rows)" {
      expected[row["store"] ?? "", default: [:]][row["entity_or_table"] ?? ""] = UInt64(row["nonnull_or_rows"] ?? "")
    }
    var (stores, objects, unknown, refused) = (0, 0, 0, [String]())
    for entry in try StoreCorpus.stores() {
      let folder = try Self.copy(entry)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      guard let model = try? Self.model(folder + "/Store.sqlite") else {
        unknown += 1
        continue
      }
      let exports = ExportTestStore(path: folder + "/Store.sqlite", model: model)
      do {
        let before = try MigrationFolder.tree(folder)
        let summary = try exports.export(toMany: true).summary
        #expect(try MigrationFolder.tree(folder) == before, "\(entry.path)")
        let counted = (expected[entry.path] ?? [:]).filter { $0.value > 0 }
        // Two stores were counted by table, not by entity.
        #expect(summary.rows == counted || counted.isEmpty, "\(entry.path)")
      } catch let error as BatchError {
        refused.append("\(entry.path): \(error.message)")
        continue
      }
      let result = try exports.differences(toMany: false)
      #expect(result.problems.isEmpty, "\(entry.path): \(result.problems.prefix(2))")
      (stores, objects) = (stores + 1, objects + result.objects)
    }
    print("export: \(stores) stores, \(objects) objects compared; \(unknown) stores without model; refused: \(refused)")
    #expect(stores > 40)
  }

  private static func model(_ path: String) throws -> ManagedObjectModel? {
    let hashes = try StoreReader(path: path, fileSystem: LocalFileSystem(), locking: .shared).metadata.versionHashes
    return ModelCorpus.hashes.first { $0.value == hashes }.flatMap { ModelCorpus.versions[$0.key] }
  }

  /// A copy, its WAL included, under another name.
  private static func copy(_ entry: StoreCorpus.Entry) throws -> String {
    let folder = try SampleTestStore.makeFolder()
    for suffix in ["", "-wal"] {
      let source = try ModelCorpus.path(entry.path) + suffix
      guard FileManager.default.fileExists(atPath: source) else { continue }
      try Data(contentsOf: URL(fileURLWithPath: source)).write(
        to: URL(fileURLWithPath: folder + "/Store.sqlite" + suffix))
    }
    return folder
  }
}
