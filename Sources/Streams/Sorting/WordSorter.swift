/// Sorts entries of a fixed number of 64-bit words: the fast way for indexes of integers. What does not fit into memory
/// goes to sorted runs on disk, each word as the difference to the one before it.
final class WordSorter: SortMember {
  /// Words of an entry.
  let width: Int
  private let memory: SortMemory
  private let path: String
  private let fileSystem: any FileSystem
  private var file: RunFile?
  private var runs: [RunFile.Run] = []
  /// The last entry of the newest run, and whether every run begins after the one before.
  private var lastEntry: [UInt64] = []
  private var runsAscend = true
  private var room: LazyMemory?
  private let radix: RadixSort
  private let differing: UnsafeMutablePointer<UInt64>
  @exclusivity(unchecked) private var entries: UnsafeMutablePointer<UInt64>
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var limit = 0
  @exclusivity(unchecked) private var isOrdered = true
  var grantedBytes = 0 { didSet { limit = grantedBytes / 16 / width } }

  init(width: Int, memory: SortMemory, path: String, fileSystem: any FileSystem) {
    (self.width, self.memory, self.path, self.fileSystem) = (width, memory, path, fileSystem)
    radix = RadixSort(width: width)
    differing = .allocate(capacity: width)
    entries = differing
    memory.join(self)
  }

  deinit {
    memory.leave(self)
    radix.deallocate()
    differing.deallocate()
  }

  /// Room for entries after those that are there: one at least, `wanted` at most. The caller fills some of it and calls
  /// ``finish(_:)``.
  func nextEntries(_ wanted: Int) throws -> UnsafeMutableBufferPointer<UInt64> {
    if count == limit { try extend() }
    return UnsafeMutableBufferPointer(start: entries + count * width, count: min(wanted, limit - count) * width)
  }

  private func extend() throws {
    if room == nil {
      let room = try LazyMemory(byteCount: memory.largestShare, path: path)
      self.room = room
      entries = room.base.assumingMemoryBound(to: UInt64.self)
    }
    try memory.extend(self, by: 16 * width)
  }

  /// Adds entries that were put into the room for them.
  func finish(_ more: Int) {
    if isOrdered {
      for index in max(1, count)..<max(1, count + more) {
        guard Self.precedes(entries + index * width, right: entries + (index - 1) * width, width: width) else {
          continue
        }
        isOrdered = false
        break
      }
    }
    count += more
  }

  @inline(__always)
  static func precedes(_ left: UnsafePointer<UInt64>, right: UnsafePointer<UInt64>, width: Int) -> Bool {
    for index in 0..<width where left[index] != right[index] { return left[index] < right[index] }
    return false
  }

  /// Sorts what is in memory and returns where it lies.
  private func sorted() -> UnsafeMutablePointer<UInt64> {
    guard !isOrdered, count > 1 else { return entries }
    differing.initialize(repeating: 0, count: width)
    for index in 1..<count {
      for word in 0..<width { differing[word] |= entries[index * width + word] ^ entries[word] }
    }
    let scratch = entries + memory.largestShare / 16 / width * width
    // Rowids mostly ascend as they come; then the sort, which is stable, leaves them so.
    let last = width - 1
    let ascends = (1..<count).allSatisfy { entries[($0 - 1) * width + last] <= entries[$0 * width + last] }
    return radix.sort(entries, scratch, count: count, words: 0..<(ascends ? last : width), differing: differing)
  }

  func spill() throws {
    guard count > 0 else { return giveBack() }
    let file = try file ?? RunFile(path: path, fileSystem: fileSystem)
    self.file = file
    let writer = WordRunWriter(file: file, width: width)
    let sorted = sorted()
    for index in 0..<count { try writer.append(sorted + index * width) }
    runs.append(try writer.finish())
    if !lastEntry.isEmpty, Self.precedes(sorted, right: lastEntry, width: width) { runsAscend = false }
    lastEntry = Array(UnsafeBufferPointer(start: sorted + (count - 1) * width, count: width))
    giveBack()
  }

  private func giveBack() {
    room?.giveBack(room?.byteCount ?? 0)
    (count, isOrdered, grantedBytes) = (0, true, 0)
  }

  /// Calls `body` with every entry in order, then forgets all.
  func drain(_ body: (UnsafePointer<UInt64>) throws -> Void) throws {
    defer { forget() }
    if runs.isEmpty {
      let sorted = sorted()
      for index in 0..<count { try body(sorted + index * width) }
      return
    }
    try spill()
    guard let file else { return }
    let fanIn = max(2, memory.byteCount / 2 / (RunFile.blockBytes + 1 << 10))
    try memory.makeRoom(min(runs.count, fanIn) * RunFile.blockBytes)
    while runs.count > fanIn, !runsAscend {
      let writer = WordRunWriter(file: file, width: width)
      try WordRuns(file, Array(runs[0..<fanIn]), width: width).merge { try writer.append($0) }
      runs.removeFirst(fanIn)
      runs.append(try writer.finish())
    }
    let merged = WordRuns(file, runs, width: width)
    try runsAscend ? merged.append(body) : merged.merge(body)
  }

  private func forget() {
    giveBack()
    (room, file, runs) = (nil, nil, [])
    (lastEntry, runsAscend) = ([], true)
    entries = differing
  }
}
