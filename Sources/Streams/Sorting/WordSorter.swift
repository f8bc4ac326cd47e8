/// Sorts entries of a fixed number of 64-bit words: the fast way for indexes of integers. What does not fit into memory
/// goes to sorted runs on disk, each word as the difference to the one before it.
final class WordSorter: SortMember {
  /// Words of an entry.
  let width: Int
  /// The bits of the last word that have the rowid.
  private let rowidBits: UInt64
  private let memory: SortMemory
  private let path: String
  private let fileSystem: any FileSystem
  private var file: RunFile?
  private var runs: [RunFile.Run] = []
  /// The last entry of the newest run, and whether every run begins after the one before.
  private var lastEntry: [UInt64] = []
  private var runsAscend = true
  private var room: LazyMemory?
  private let differing: UnsafeMutablePointer<UInt64>
  @exclusivity(unchecked) private var entries: UnsafeMutablePointer<UInt64>
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var limit = 0
  @exclusivity(unchecked) private var isOrdered = true
  var grantedBytes = 0 { didSet { limit = grantedBytes / 16 / width } }

  init(
    width: Int, rowidBits: UInt64 = .max, memory: SortMemory, path: String, fileSystem: any FileSystem
  ) {
    (self.width, self.rowidBits, self.memory, self.path, self.fileSystem) = (width, rowidBits, memory, path, fileSystem)
    differing = .allocate(capacity: width)
    entries = differing
    memory.join(self)
  }

  deinit {
    memory.leave(self)
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
      let room = try memory.range(path: path)
      self.room = room
      entries = room.base.assumingMemoryBound(to: UInt64.self)
    }
    try memory.extend(self, by: 16 * width)
    // What is beyond the first piece is filled.
    if count > 0 { room?.prepare(count * width * 8..<limit * width * 8) }
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
    let radix = RadixSort(width: width)
    defer { radix.deallocate() }
    differing.initialize(repeating: 0, count: width)
    for index in 1..<count {
      for word in 0..<width { differing[word] |= entries[index * width + word] ^ entries[word] }
    }
    let place = memory.largestShare / 16 / width * width
    let scratch = entries + place
    room?.prepare(place * 8..<(place + count * width) * 8)
    // Rowids mostly ascend as they come; then the sort, which is stable, leaves them so.
    let (last, rowids) = (width - 1, rowidBits)
    let ascends = (1..<count).allSatisfy {
      entries[($0 - 1) * width + last] & rowids <= entries[$0 * width + last] & rowids
    }
    let all = differing[last]
    if ascends { differing[last] &= ~rowids }
    if let leading = leadingBits() {
      let sorted = radix.sort(entries, scratch, count: count, differing: leading)
      if finish(sorted) { return sorted }
      differing[last] = all
      return radix.sort(sorted, sorted == entries ? scratch : entries, count: count, differing: differing)
    }
    return radix.sort(entries, scratch, count: count, differing: differing)
  }

  /// So many of the bits that differ, from the first on, that few entries have the same; nil when there are not many more.
  private func leadingBits() -> [UInt64]? {
    var rest = count.bitWidth - count.leadingZeroBitCount + 12
    let bits = (0..<width).reduce(0) { $0 + differing[$1].nonzeroBitCount }
    guard bits > rest + RadixSort.digitBits else { return nil }
    var leading = [UInt64](repeating: 0, count: width)
    for word in 0..<width where rest > 0 {
      var bits = differing[word]
      while bits != 0, rest > 0 {
        let bit = UInt64(1) << UInt64(63 - bits.leadingZeroBitCount)
        leading[word] |= bit
        bits ^= bit
        rest -= 1
      }
    }
    return leading
  }

  /// Puts entries in order that are sorted by their first bits; false where too many of them have the same.
  private func finish(_ entries: UnsafeMutablePointer<UInt64>) -> Bool {
    var moves = 0
    return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: width) { held in
      guard let held = held.baseAddress else { return false }
      for index in 1..<count
      where Self.precedes(entries + index * width, right: entries + (index - 1) * width, width: width) {
        held.update(from: entries + index * width, count: width)
        var place = index
        repeat {
          (entries + place * width).update(from: entries + (place - 1) * width, count: width)
          place -= 1
          moves += 1
        } while place > 0 && Self.precedes(held, right: entries + (place - 1) * width, width: width)
        (entries + place * width).update(from: held, count: width)
        if moves > 2 * count { return false }
      }
      return true
    }
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
    room?.giveBack()
    empty()
  }

  private func empty() { (count, isOrdered, grantedBytes) = (0, true, 0) }

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
    if let room { memory.takeBack(room, used: runs.isEmpty ? count * width * 16 : .max) }
    empty()
    (room, file, runs) = (nil, nil, [])
    (lastEntry, runsAscend) = ([], true)
    entries = differing
  }
}
