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
  /// As large; made when entries are out of order.
  private var scratch: LazyMemory?
  // An address of nothing: there is no memory yet, and so no entry that is looked at.
  private static var none: UnsafeMutablePointer<UInt64> { UnsafeMutablePointer(bitPattern: 8)! }
  @exclusivity(unchecked) private var entries = WordSorter.none
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var limit = 0
  @exclusivity(unchecked) private var isOrdered = true
  /// Runs that were written.
  var runCount: Int { runs.count }
  var grantedBytes = 0 {
    didSet {
      limit = grantedBytes / 16 / width
      memory.note(grantedBytes - oldValue)
    }
  }
  var lastExtension = 0
  var heldBytes: Int {
    let used = count * width * 8
    return max(grantedBytes, 2 * used + (room?.kept(behind: used) ?? 0) + (scratch?.kept(behind: used) ?? 0))
  }

  init(
    width: Int, rowidBits: UInt64 = .max, memory: SortMemory, path: String, fileSystem: any FileSystem
  ) {
    (self.width, self.rowidBits, self.memory, self.path, self.fileSystem) = (width, rowidBits, memory, path, fileSystem)
    memory.join(self)
  }

  deinit { memory.leave(self) }

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
        guard WordSort.precedes(entries + index * width, right: entries + (index - 1) * width, width: width) else {
          continue
        }
        isOrdered = false
        break
      }
    }
    count += more
  }

  /// Room to sort in; nil where all is in order.
  private func makeScratch() throws -> UnsafeMutablePointer<UInt64>? {
    guard !isOrdered else { return nil }
    let range = try scratch ?? memory.range(path: path)
    scratch = range
    range.prepare(0..<count * width * 8)
    return range.base.assumingMemoryBound(to: UInt64.self)
  }

  /// Sorts what is in memory, or a part of it, unless it is in order; returns where it lies.
  private func sorted(_ part: Range<Int>, in scratch: UnsafeMutablePointer<UInt64>?) -> UnsafeMutablePointer<UInt64> {
    let first = entries + part.lowerBound * width
    guard part.count > 1, let scratch else { return first }
    let sort = WordSort(width: width, rowidBits: rowidBits)
    defer { sort.deallocate() }
    return sort.sorted(first, scratch: scratch + part.lowerBound * width, count: part.count)
  }

  func spill() throws {
    guard count > 0 else { return empty() }
    let file = try file ?? RunFile(path: path, fileSystem: fileSystem)
    self.file = file
    let parts = isOrdered ? [0..<count] : parts()
    let outputs =
      parts.count == 1
      ? [file.begin()]
      : parts.map { file.begin(room: WordRunWriter.room(entries: $0.count, width: width)) }
    let scratch = try makeScratch()
    let made = try memory.spill(Array(zip(parts, outputs))) { [self] part, output in
      let (sorted, writer) = (sorted(part, in: scratch), WordRunWriter(output, width: width))
      for index in 0..<part.count { try writer.append(sorted + index * width) }
      return (sorted, try writer.finish())
    }
    for ((sorted, run), part) in zip(made, parts) {
      runs.append(run)
      if !lastEntry.isEmpty, WordSort.precedes(sorted, right: lastEntry, width: width) { runsAscend = false }
      lastEntry = Array(UnsafeBufferPointer(start: sorted + (part.count - 1) * width, count: width))
    }
    empty()
  }

  private func parts() -> [Range<Int>] {
    memory.parts(of: count, runs: runs.count) {
      !WordSort.precedes(entries + $1 * width, right: entries + $0 * width, width: width)
    }
  }

  func giveBack() {
    room?.giveBack(behind: count * width * 8)
    scratch?.giveBack(behind: 0)
  }

  private func empty() {
    room?.leave(count * width * 8)
    scratch?.leave(0)
    (count, isOrdered, grantedBytes) = (0, true, 0)
  }

  /// Calls `body` with every entry in order, then forgets all.
  func drain(_ body: (UnsafePointer<UInt64>) throws -> Void) throws {
    defer { forget() }
    if runs.isEmpty {
      let sorted = sorted(0..<count, in: try makeScratch())
      for index in 0..<count { try body(sorted + index * width) }
      return
    }
    try spill()
    giveBack()
    guard let file else { return }
    let fanIn = memory.fanIn(RunFile.blockBytes)
    try memory.makeRoom(min(runs.count, fanIn) * RunFile.blockBytes)
    while runs.count > fanIn, !runsAscend {
      let merged = SortMemory.merged(of: runs.count, fanIn: fanIn)
      let writer = WordRunWriter(file.begin(), width: width)
      try WordRuns(file, Array(runs[merged]), width: width).merge { try writer.append($0) }
      runs.removeSubrange(merged)
      runs.append(try writer.finish())
    }
    let merged = WordRuns(file, runs, width: width)
    try runsAscend ? merged.append(body) : merged.merge(body)
  }

  private func forget() {
    let used = runs.isEmpty ? count * width * 16 : .max
    empty()
    for range in [room, scratch].compactMap({ $0 }) { memory.takeBack(range, used: used) }
    (room, scratch, file, runs) = (nil, nil, nil, [])
    (lastEntry, runsAscend) = ([], true)
    entries = Self.none
  }
}
