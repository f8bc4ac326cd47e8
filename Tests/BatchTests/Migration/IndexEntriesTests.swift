import Foundation
import RunSupport
import Testing

@testable import Migrations
@testable import Streams

/// Entries of indexes in lanes.
@Suite struct IndexEntriesTests {
  private static let indexes = [
    index("a", "T", [SortColumn(0)]), index("b", "T", [SortColumn(1, holds: .others)]),
    index("c", "T", [SortColumn(0), SortColumn(2, isDescending: true, holds: .reals)]),
    index("d", "U", [SortColumn(2, holds: .reals)]), index("e", "U", [SortColumn(1, holds: .others), SortColumn(0)]),
    index("f", "T", [SortColumn(2, holds: .reals)]),
  ]

  private static func index(_ name: String, _ table: String, _ columns: [SortColumn]) -> StoreIndex {
    StoreIndex(name: name, table: table, columns: columns, rowidColumn: nil, isUnique: false)
  }

  private static func record(_ row: Int) -> [UInt8] {
    let encoder = RecordEncoder()
    encoder.append(Int64(row * 7919 % 1000))
    encoder.append(row % 9 == 0 ? Value.null : .text("text \(row * 31 % 700)"))
    encoder.append(row % 3 == 0 ? Value.integer(Int64(row)) : .real(Double(row * 613 % 5000) + 0.25))
    var bytes = [UInt8](repeating: 0, count: encoder.length)
    bytes.withUnsafeMutableBytes { encoder.write(to: $0.baseAddress!) }
    return bytes
  }

  /// The records of each index, sorted on so many processors.
  private static func sorted(processors: Int) throws -> [[UInt8]] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lanes-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let files = StepFiles(prefix: folder + "/step", fileSystem: LocalFileSystem(), budget: MemoryBudget(total: 0))
    var entries = IndexEntries(indexes, files: files, processors: processors)
    for table in ["T", "U"] {
      for keys in entries.begin(table: table).compactMap({ $0 }) {
        for row in 0..<3000 {
          let record = record(row)
          let (isAdded, unfit) = try record.withUnsafeBytes { bytes in
            (try keys.add(rowid: Int64(row + 1), record: bytes), try keys.flush())
          }
          #expect(isAdded && unfit == nil)
        }
      }
    }
    return try indexes.indices.map { position in
      var found: [UInt8] = []
      let sorter = entries.take(position)
      let rest = try #require(sorter).drain(
        into: IndexCells(), onEqual: { _, _ in },
        onFull: {
          found += $0.bytes
          $0.reset()
          return $0
        })
      return found + rest.bytes
    }
  }

  @Test("I8: how indexes are dealt out to lanes does not show in their entries")
  func lanes() throws {
    let one = try Self.sorted(processors: 1)
    #expect(one.allSatisfy { $0.count > 3000 })
    for processors in [2, 3, 4, 64] { #expect(try Self.sorted(processors: processors) == one, "\(processors)") }
  }

  @Test("I7: all lanes together have the memory that is there for sorting, and each has something to do")
  func dealing() throws {
    let files = StepFiles(prefix: "/nowhere", fileSystem: LocalFileSystem(), budget: .standard)
    for processors in 1...6 {
      let entries = IndexEntries(Self.indexes, files: files, processors: processors)
      #expect(entries.laneCount == min(4, processors))
      #expect(Set(Self.indexes.indices.map(entries.lane)) == Set(0..<entries.laneCount))
      #expect(entries.sortBytes <= files.budget.sortBytes)
    }
  }
}
