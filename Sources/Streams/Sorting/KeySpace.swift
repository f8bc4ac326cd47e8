/// The memory of an ``ExternalSorter``: keys, their entries, and as much room for entries to be sorted in.
final class KeySpace {
  private static let entryBytes = MemoryLayout<KeyEntry>.stride

  private let memory: SortMemory
  private let path: String
  private let keyRange: LazyMemory
  private let entryRange: LazyMemory
  /// Made when entries are out of order.
  private var scratchRange: LazyMemory?

  init(memory: SortMemory, path: String) throws {
    (self.memory, self.path) = (memory, path)
    (keyRange, entryRange) = (try memory.range(path: path), try memory.range(path: path))
  }

  var keys: UnsafeMutableRawPointer { keyRange.base }
  var entries: UnsafeMutablePointer<KeyEntry> { entryRange.base.assumingMemoryBound(to: KeyEntry.self) }
  /// Room for as many entries as there are; nil before ``prepareScratch(_:)``.
  var scratch: UnsafeMutablePointer<KeyEntry>? { scratchRange?.base.assumingMemoryBound(to: KeyEntry.self) }

  /// Has the system give memory for more keys of so many bytes behind those that are there.
  func prepare(bytes: Int, behind used: Int, entries: Int, behind count: Int) {
    keyRange.prepare(used..<used + bytes)
    entryRange.prepare(count * Self.entryBytes..<(count + entries) * Self.entryBytes)
  }

  /// Makes room for entries to be sorted in.
  func prepareScratch(_ count: Int) throws {
    let range = try scratchRange ?? memory.range(path: path)
    scratchRange = range
    range.prepare(0..<count * Self.entryBytes)
  }

  /// Gives memory back behind keys of so many bytes.
  func giveBack(behind used: Int, _ count: Int) {
    keyRange.giveBack(behind: used)
    entryRange.giveBack(behind: count * Self.entryBytes)
    scratchRange?.giveBack(behind: 0)
  }

  /// Leaves its ranges to others, at the end. So many bytes of each were used, at most.
  func leave(used: Int) {
    for range in [keyRange, entryRange, scratchRange].compactMap({ $0 }) { memory.takeBack(range, used: used) }
  }
}
