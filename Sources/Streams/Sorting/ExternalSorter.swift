import Glibc

/// Sorts byte strings in plain order within a bound of memory: what does not fit goes to a file as sorted runs.
///
/// The scratch file has no name and needs no sync: a crashed sort begins again.
public final class ExternalSorter: SortMember {
  /// A key in memory: eight of its bytes, after what all keys have in common, and where it is.
  private struct Entry {
    var prefix: UInt64
    var place: UInt64

    var offset: Int { Int(place >> 32) }
    var length: Int { Int(place & 0xffff_ffff) }
  }
  private static let entryBytes = 16

  private let memory: SortMemory
  private let path: String
  private let fileSystem: any FileSystem
  private var file: RunFile?
  private var runs: [KeyRun] = []
  private var room: (keys: LazyMemory, entries: LazyMemory)?
  @exclusivity(unchecked) private var keys: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var entries: UnsafeMutablePointer<Entry>
  @exclusivity(unchecked) private var used = 0
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var isOrdered = true
  /// Bytes at the beginning that all keys in memory have in common.
  @exclusivity(unchecked) private var common = 0
  var grantedBytes = 0

  /// Makes a sorter with memory of its own. `path` is the scratch file, made only when needed.
  public convenience init(memoryBytes: Int, path: String, fileSystem: any FileSystem) {
    self.init(memory: SortMemory(byteCount: memoryBytes), path: path, fileSystem: fileSystem)
  }

  /// Makes a sorter that shares memory with others.
  init(memory: SortMemory, path: String, fileSystem: any FileSystem) {
    (self.memory, self.path, self.fileSystem) = (memory, path, fileSystem)
    // Addresses of nothing: there is no memory yet, and so no entry that is looked at.
    entries = UnsafeMutablePointer(bitPattern: 16)!
    keys = UnsafeMutableRawPointer(entries)
    memory.join(self)
  }

  deinit { memory.leave(self) }

  /// The longest key.
  private var largestKey: Int { max(1 << 15, memory.byteCount / 3) }

  /// Adds a key of at most a third of the memory.
  ///
  /// - Throws: ``StreamsError``.
  public func add(_ key: UnsafeRawBufferPointer) throws {
    let needed = key.count + 2 * Self.entryBytes
    if used + count * 2 * Self.entryBytes + needed > grantedBytes { try extend(by: needed, for: key) }
    if count > 0 { compare(key) } else { common = key.count }
    if let base = key.baseAddress { (keys + used).copyMemory(from: base, byteCount: key.count) }
    entries[count] = Entry(prefix: 0, place: UInt64(used) << 32 | UInt64(key.count))
    used += key.count
    count += 1
  }

  private func extend(by needed: Int, for key: UnsafeRawBufferPointer) throws {
    guard key.count <= largestKey else {
      throw StreamsError(
        .tooLarge, "an index key takes \(key.count) bytes, the memory budget allows \(largestKey)",
        hint: "Run again with a larger --memory")
    }
    if room == nil {
      let made = (
        keys: try LazyMemory(byteCount: memory.largestShare + largestKey, path: path),
        entries: try LazyMemory(byteCount: memory.largestShare + 4 * Self.entryBytes, path: path)
      )
      room = made
      keys = made.keys.base
      entries = made.entries.base.assumingMemoryBound(to: Entry.self)
    }
    try memory.extend(self, by: needed)
  }

  /// Keeps what is known of the keys' order and of their beginnings true.
  private func compare(_ key: UnsafeRawBufferPointer) {
    if isOrdered { isOrdered = compareKeys(self.key(entries[count - 1]), key) <= 0 }
    let first = UnsafeRawPointer(keys)
    if key.count < common || (common > 0 && memcmp(first, key.baseAddress!, common) != 0) {
      common = commonPrefix(UnsafeRawBufferPointer(start: first, count: common), key)
    }
  }

  @inline(__always)
  private func key(_ entry: Entry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: keys + entry.offset, count: entry.length)
  }

  /// Sorts what is in memory and returns where its entries lie: by the prefixes, then whole keys where those are equal.
  private func sorted() -> UnsafeMutablePointer<Entry> {
    guard !isOrdered, count > 1 else { return entries }
    var differing: [UInt64] = [0, 0]
    for index in 0..<count {
      entries[index].prefix = keyPrefix(key(entries[index]), from: common)
      differing[0] |= entries[index].prefix ^ entries[0].prefix
    }
    let radix = RadixSort(width: 2)
    defer { radix.deallocate() }
    let scratch = entries + memory.largestShare / 2 / Self.entryBytes + 2
    let words = radix.sort(
      Self.words(entries), Self.words(scratch), count: count, words: 0..<1, differing: differing)
    let sorted = words == Self.words(entries) ? entries : scratch
    var start = 0
    while start < count {
      var end = start + 1
      while end < count, sorted[end].prefix == sorted[start].prefix { end += 1 }
      if end - start > 1 {
        var equal = UnsafeMutableBufferPointer(start: sorted + start, count: end - start)
        equal.sort { compareKeys(key($0), key($1)) < 0 }
      }
      start = end
    }
    return sorted
  }

  // An entry is two words, so its memory may be seen as words.
  private static func words(_ entries: UnsafeMutablePointer<Entry>) -> UnsafeMutablePointer<UInt64> {
    UnsafeMutableRawPointer(entries).assumingMemoryBound(to: UInt64.self)
  }

  func spill() throws {
    guard count > 0 else { return giveBack() }
    let file = try file ?? RunFile(path: path, fileSystem: fileSystem)
    self.file = file
    let writer = KeyRunWriter(file: file)
    let sorted = sorted()
    for index in 0..<count { try writer.append(key(sorted[index])) }
    runs.append(KeyRun(run: try writer.finish(), common: common))
    giveBack()
  }

  private func giveBack() {
    room?.keys.giveBack(used)
    room?.entries.giveBack(room?.entries.byteCount ?? 0)
    (used, count, isOrdered, grantedBytes) = (0, 0, true, 0)
  }

  /// Calls `body` with every key in order, then forgets all keys and removes the scratch file.
  ///
  /// - Throws: ``StreamsError``.
  public func drain(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    defer { forget() }
    if runs.isEmpty {
      let sorted = sorted()
      for index in 0..<count { try body(key(sorted[index])) }
      return
    }
    try spill()
    guard let file else { return }
    let largest = max(RunFile.blockBytes, runs.map(\.run.largestBlock).max() ?? 0)
    let fanIn = max(2, memory.byteCount / 2 / (largest + 1 << 10))
    try memory.makeRoom(min(runs.count, fanIn) * largest)
    while runs.count > fanIn {
      let writer = KeyRunWriter(file: file)
      let merged = try KeyRuns(file, Array(runs[0..<fanIn]))
      try merged.merge { try writer.append($0) }
      runs.removeFirst(fanIn)
      runs.append(KeyRun(run: try writer.finish(), common: merged.common))
    }
    try KeyRuns(file, runs).merge(body)
  }

  private func forget() {
    giveBack()
    (room, file, runs) = (nil, nil, [])
  }
}

/// Plain order of bytes; a prefix comes first.
@inline(__always)
func compareKeys(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  let count = min(left.count, right.count)
  if count > 0 {
    let order = memcmp(left.baseAddress!, right.baseAddress!, count)
    if order != 0 { return Int(order) }
  }
  return left.count - right.count
}

/// The number of equal bytes at the beginning of two keys.
func commonPrefix(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  let count = min(left.count, right.count)
  return (0..<count).first { left[$0] != right[$0] } ?? count
}

/// Eight bytes of a key as a number that sorts as they do, zeros after its end.
@inline(__always)
func keyPrefix(_ key: UnsafeRawBufferPointer, from start: Int) -> UInt64 {
  guard let base = key.baseAddress else { return 0 }
  if key.count >= start + 8 { return UnsafeRawPointer(base).bigEndian64(start) }
  var prefix: UInt64 = 0
  for index in start..<(start + 8) { prefix = prefix << 8 | (index < key.count ? UInt64(key[index]) : 0) }
  return prefix
}
