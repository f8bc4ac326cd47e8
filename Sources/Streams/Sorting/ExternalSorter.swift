import Glibc

/// Sorts byte strings in plain order within a bound of memory: what does not fit goes to a file as sorted runs.
///
/// The scratch file has no name and needs no sync: a crashed sort begins again.
public final class ExternalSorter: SortMember {
  private static let entryBytes = 16

  private let memory: SortMemory
  private let path: String
  private let fileSystem: any FileSystem
  private var file: RunFile?
  private var runs: [KeyRun] = []
  private var space: (keys: LazyMemory, entries: LazyMemory)?
  @exclusivity(unchecked) private var keys: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var entries: UnsafeMutablePointer<KeyEntry>
  @exclusivity(unchecked) private var used = 0
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var isOrdered = true
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
    let target = try room(key.count)
    if let base = key.baseAddress { target.copyMemory(from: base, byteCount: key.count) }
    finish(key.count)
  }

  /// Room for a key of `length` bytes at most, of which ``finish(_:)`` adds what was written.
  @inline(__always)
  func room(_ length: Int) throws -> UnsafeMutableRawPointer {
    let needed = length + 2 * Self.entryBytes
    if used + count * 2 * Self.entryBytes + needed > grantedBytes { try extend(by: needed, for: length) }
    return keys + used
  }

  @inline(__always)
  func finish(_ length: Int) {
    let entry = KeyEntry(offset: used, length: length)
    if isOrdered, count > 0 { isOrdered = compareKeys(key(entries[count - 1]), key(entry)) <= 0 }
    entries[count] = entry
    used += length
    count += 1
  }

  private func extend(by needed: Int, for length: Int) throws {
    guard length <= largestKey else {
      throw StreamsError(
        .tooLarge, "an index key takes \(length) bytes, the memory budget allows \(largestKey)",
        hint: "Run again with a larger --memory")
    }
    if space == nil {
      let made = (
        keys: try LazyMemory(byteCount: memory.largestShare + largestKey, path: path),
        entries: try LazyMemory(byteCount: memory.largestShare + 4 * Self.entryBytes, path: path)
      )
      space = made
      keys = made.keys.base
      entries = made.entries.base.assumingMemoryBound(to: KeyEntry.self)
    }
    try memory.extend(self, by: needed)
  }

  @inline(__always)
  private func key(_ entry: KeyEntry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: keys + entry.offset, count: entry.length)
  }

  /// Sorts what is in memory.
  private func sort() {
    guard !isOrdered else { return }
    KeySort.sort(
      UnsafeMutableBufferPointer(start: entries, count: count), keys: keys,
      scratch: entries + memory.largestShare / 2 / Self.entryBytes + 2)
  }

  func spill() throws {
    guard count > 0 else { return giveBack() }
    let file = try file ?? RunFile(path: path, fileSystem: fileSystem)
    self.file = file
    let writer = KeyRunWriter(file: file)
    sort()
    for index in 0..<count { try writer.append(key(entries[index])) }
    runs.append(try writer.finish())
    giveBack()
  }

  private func giveBack() {
    space?.keys.giveBack(used)
    space?.entries.giveBack(space?.entries.byteCount ?? 0)
    (used, count, isOrdered, grantedBytes) = (0, 0, true, 0)
  }

  /// Calls `body` with every key in order, then forgets all keys and removes the scratch file.
  ///
  /// - Throws: ``StreamsError``.
  public func drain(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    defer { forget() }
    if runs.isEmpty {
      sort()
      for index in 0..<count { try body(key(entries[index])) }
      return
    }
    try spill()
    guard let file else { return }
    let largest = max(RunFile.blockBytes, runs.map { $0.run.largestBlock + $0.largestKey }.max() ?? 0)
    let fanIn = max(2, memory.byteCount / 2 / (largest + 1 << 10))
    try memory.makeRoom(min(runs.count, fanIn) * largest)
    while runs.count > fanIn {
      let writer = KeyRunWriter(file: file)
      let merged = KeyRuns(file, Array(runs[0..<fanIn]))
      try merged.merge { try writer.append($0) }
      runs.removeFirst(fanIn)
      runs.append(try writer.finish())
    }
    try KeyRuns(file, runs).merge(body)
  }

  private func forget() {
    giveBack()
    (space, file, runs) = (nil, nil, [])
  }
}
