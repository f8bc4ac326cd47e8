import Streams
import Testing

@testable import CoreDataStore
@testable import Migrations

/// A sample of a table is spread over it, has every row at most once, and as many as were asked for.
@Suite("Pieces of a table")
struct TablePiecesTests {
  private func rowids(_ reader: StoreReader, root: UInt32, _ sample: RowSample?) throws -> [Int64] {
    let scan = try UnitScan(after: nil, sample: sample) {
      try RowScan(snapshot: reader.snapshot, root: root, isWithoutRowid: false, after: $0, rowLimit: 1 << 20)
    }
    var (found, page): ([Int64], RowPage) = ([], RowPage())
    while try scan.next(into: page) { found += (0..<page.count).map(page.rowid) }
    return found
  }

  @Test(
    "Pieces have the rows behind their beginnings, no row twice, and all rows where they meet",
    arguments: [1, 7, 100, 5000])
  func pieces(rows: Int) throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let store = try folder.sample("V1", rows: 4000, seed: 11)
    let reader = try StoreReader(path: store, fileSystem: LocalFileSystem(), locking: .none)
    defer { reader.close() }
    let table = try #require(reader.schema.tables.max { $0.columns.count < $1.columns.count })
    let all = try rowids(reader, root: table.rootPage, nil)
    let beginnings = try TablePieces.beginnings(reader.snapshot, root: table.rootPage, count: 8)
    #expect(beginnings.first == .some(nil))
    let keys = beginnings.dropFirst().compactMap { $0 }
    #expect(keys.count == beginnings.count - 1 && keys == keys.sorted() && Set(keys).count == keys.count)
    let found = try rowids(reader, root: table.rootPage, RowSample(beginnings: beginnings, rows: rows))
    #expect(zip(found, found.dropFirst()).allSatisfy { $0 < $1 })
    #expect(Set(found).isSubset(of: all))
    #expect(found.count == min(all.count, rows * beginnings.count) || rows * beginnings.count > all.count)
    if rows == 5000 { #expect(found == all) }
  }

  @Test("A disk is tried without leaving anything; where it cannot be written nothing is said")
  func disk() throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let before = try MigrationFolder.tree(folder.path)
    let speed = try #require(DiskSpeed.measure(in: folder.path, bytes: 4 << 20))
    #expect(speed.bytesPerSecond > 0 && speed.latency > 0)
    #expect(try MigrationFolder.tree(folder.path) == before)
    #expect(DiskSpeed.measure(in: folder.path + "/nowhere") == nil)
  }
}
