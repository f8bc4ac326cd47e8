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

  /// Has the system give memory for more keys of so many bytes behind those that are there.
  func prepare(bytes: Int, behind used: Int, entries: Int, behind count: Int) {
    keyRange.prepare(used..<used + bytes)
    entryRange.prepare(count * Self.entryBytes..<(count + entries) * Self.entryBytes)
  }

  /// Room for so many entries to be sorted in.
  func scratch(_ count: Int) throws -> UnsafeMutablePointer<KeyEntry> {
    let range = try scratchRange ?? memory.range(path: path)
    scratchRange = range
    range.prepare(0..<count * Self.entryBytes)
    return range.base.assumingMemoryBound(to: KeyEntry.self)
  }

  /// Keys of so many bytes are of no use any longer; their memory stays for those that come.
  func leave(_ used: Int, _ count: Int) {
    keyRange.leave(used)
    entryRange.leave(count * Self.entryBytes)
    scratchRange?.leave(0)
  }

  /// Memory from earlier use beside that of so many keys, of so many bytes, with room for as many entries to be sorted in.
  func kept(beside used: Int, _ count: Int) -> Int {
    let entries = count * Self.entryBytes
    return keyRange.kept(behind: used) + entryRange.kept(behind: entries) + (scratchRange?.kept(behind: entries) ?? 0)
  }

  /// Gives memory back behind keys of so many bytes.
  func giveBack(behind used: Int, _ count: Int) {
    keyRange.giveBack(behind: used)
    entryRange.giveBack(behind: count * Self.entryBytes)
    scratchRange?.giveBack(behind: 0)
  }

  /// Leaves its ranges to others, at the end. So many bytes of each were used, at most.
  func end(used: Int) {
    for range in [keyRange, entryRange, scratchRange].compactMap({ $0 }) { memory.takeBack(range, used: used) }
  }
}
