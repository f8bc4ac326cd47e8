import Foundation
import RunSupport
import Streams

/// The entries of a step's indexes on their way from tables to indexes: a sorter each, in lanes. The sorters of a lane
/// share a memory, and one thread at a time takes their rows; threads of different lanes work side by side.
///
/// How indexes are dealt out to lanes does not show in what they hold (I8).
package struct IndexEntries {
  /// Lanes at most: each has part of the memory, and with little of it there are many runs to merge.
  private static let mostLanes = 4

  /// Threads beside the caller's that reading, writing and all lanes can keep busy, on other processors; one at least,
  /// which works while the other one waits for the disk.
  static var helpers: Int { max(1, min(1 + mostLanes, ProcessInfo.processInfo.activeProcessorCount - 1)) }

  let indexes: [StoreIndex]
  private let memories: [SortMemory]
  /// Which lane an index is in.
  private let lanes: [Int]
  private let files: StepFiles
  private var sorters: [Int: IndexSorter] = [:]

  init(_ indexes: [StoreIndex], files: StepFiles, processors: Int = ProcessInfo.processInfo.activeProcessorCount) {
    (self.indexes, self.files) = (indexes, files)
    let count = max(1, min(Self.mostLanes, processors, indexes.count))
    memories = (0..<count).map { _ in SortMemory(byteCount: files.budget.sortBytes / count) }
    lanes = Self.lanes(indexes, count: count)
  }

  /// Lets the threads of a crew, one of which takes the rows of a lane, sort together; with nil each thread for itself.
  func share(with crew: Crew?) { for memory in memories { memory.crew = crew } }

  /// The number of lanes.
  var laneCount: Int { memories.count }

  /// What the sorters of all lanes take at most.
  var sortBytes: Int { memories.reduce(0) { $0 + $1.byteCount } }

  /// The lane of an index.
  func lane(of position: Int) -> Int { lanes[position] }

  /// Whether there are entries of an index, or its table was begun.
  func has(_ position: Int) -> Bool { sorters[position] != nil }

  /// Deals the indexes of each table out so that the lanes have about as much to do, the costly ones first.
  private static func lanes(_ indexes: [StoreIndex], count: Int) -> [Int] {
    var (lanes, total) = ([Int](repeating: 0, count: indexes.count), [Int](repeating: 0, count: count))
    for table in Dictionary(grouping: indexes.indices, by: { indexes[$0].table }).sorted(by: {
      $0.value[0] < $1.value[0]
    }) {
      var loads = [Int](repeating: 0, count: count)
      for index in table.value.sorted(by: { (indexes[$1].cost, $0) < (indexes[$0].cost, $1) }) {
        let lane = (0..<count).min { (loads[$0], total[$0], $0) < (loads[$1], total[$1], $1) } ?? 0
        loads[lane] += indexes[index].cost
        total[lane] += indexes[index].cost
        lanes[index] = lane
      }
    }
    return lanes
  }

  /// Begins those of a table's indexes that are not before `first`: for each lane what takes the rows, nil if it has none
  /// of them.
  mutating func begin(table: String, from first: Int = 0) -> [TableKeys?] {
    let found = indexes.indices.filter { $0 >= first && indexes[$0].table == table }
    for position in found {
      let index = indexes[position]
      sorters[position] = IndexSorter(
        columns: index.columns, rowidColumn: index.rowidColumn, isUnique: index.isUnique,
        memory: memories[lanes[position]], path: files.path("sort.\(position)"), fileSystem: files.fileSystem)
    }
    return memories.indices.map { lane in
      let own = found.filter { lanes[$0] == lane }.compactMap { sorters[$0] }
      return own.isEmpty ? nil : TableKeys(own)
    }
  }

  /// Forgets the entries of a table.
  mutating func forget(table: String) {
    for position in indexes.indices where indexes[position].table == table { sorters[position] = nil }
  }

  /// Takes out the entries of an index; nil when its table was not begun.
  mutating func take(_ position: Int) -> IndexSorter? { sorters.removeValue(forKey: position) }
}

extension StoreIndex {
  /// What sorting an entry costs, about, beside that of others.
  fileprivate var cost: Int { 1 + columns.reduce(0) { $0 + ($1.holds == .others ? 5 : 1) } }
}
