import Glibc
import Synchronization

/// The memory that several sorters share. Each gets it piece by piece as it takes keys; when there is no more, the one
/// that uses most writes a run. It keeps its memory for the next one, unless others need that. Keeps I7: all sorters
/// together stay within the bytes.
///
/// Not thread-safe: all sorters of one memory are used by one thread at a time.
public final class SortMemory {
  private struct Member {
    // A weak reference would make every other one to the sorter slow; a sorter that ends leaves.
    unowned(unsafe) let sorter: any SortMember
  }

  /// What it shares out.
  public let byteCount: Int
  private var members: [Member] = []
  private var extensions = 0
  /// Threads that may sort parts of a run, while one of them adds what is sorted; nil before others do.
  public var crew: Crew?
  private static let mostParts = 4
  private static let leastOfPart = 1 << 12
  private static let leastShared = 2 << 20
  private static let samples = 8

  /// Shares out that many bytes.
  public init(byteCount: Int) { self.byteCount = max(byteCount, 1 << 12) }

  /// What one sorter takes at most: its runs are long enough then.
  var largestShare: Int { min(byteCount, 64 << 20) }

  /// The longest key that one sorter takes.
  var largestKey: Int { max(1 << 15, byteCount / 3) }

  /// Ranges that held little, for the next who needs one, in this run or in one that follows.
  private static let spare = Mutex<[LazyMemory]>([])
  private static let mostSpare = 64
  private static let mostSpareBytes = 1 << 13
  private static let mostSpareAddresses = 1 << 30

  /// Addresses for the largest share and a key beyond it, with whatever bytes they hold.
  func range(path: String) throws -> LazyMemory {
    let byteCount = largestShare + largestKey
    let spare = Self.spare.withLock { spare in
      // Those of other work are of no use any longer.
      if spare.last?.byteCount != byteCount { spare = [] }
      return spare.popLast()
    }
    if let spare { return spare }
    if let range = try? LazyMemory(byteCount: byteCount, path: path) { return range }
    Self.spare.withLock { $0 = [] }
    return try LazyMemory(byteCount: byteCount, path: path)
  }

  /// Takes back a range of which so many bytes were used, and nothing is needed any longer. A small index costs less
  /// than its memory does from the system.
  func takeBack(_ range: LazyMemory, used: Int) {
    guard used <= Self.mostSpareBytes else { return }
    let most = min(Self.mostSpare, Self.mostSpareAddresses / range.byteCount)
    Self.spare.withLock { if $0.count < most { $0.append(range) } }
  }

  /// Parts of so many entries that are sorted by a thread each, and are runs of their own. There is one part where the
  /// entries seem to be nearly in order, as `precedes` says of two of them: then the run may be behind the one before,
  /// and needs no merging. There is one, too, behind three quarters of the runs that can be merged at once, with blocks
  /// of so many bytes.
  func parts(
    of count: Int, runs: Int, block: Int = RunFile.blockBytes, precedes: (Int, Int) -> Bool
  ) -> [Range<Int>] {
    let parts = max(1, min(Self.mostParts, crew?.threads ?? 1, count / Self.leastOfPart))
    guard parts > 1, byteCount > Self.leastShared, runs < fanIn(block) * 3 / 4 else {
      return [0..<count]
    }
    let places = (0..<Self.samples).map { (count - 1) * $0 / (Self.samples - 1) }
    if zip(places, places.dropFirst()).allSatisfy(precedes) { return [0..<count] }
    return (0..<parts).map { count * $0 / parts..<count * ($0 + 1) / parts }
  }

  /// Those of too many runs that are merged into one first, until as many are left as can be merged at once. They are as
  /// few as can be, as their entries are written once more.
  static func merged(of runs: Int, fanIn: Int) -> Range<Int> { 0..<min(fanIn, runs - fanIn + 1) }

  /// Runs that are merged at once, each with a block of so many bytes.
  func fanIn(_ block: Int) -> Int { max(2, byteCount / 2 / (block + 1 << 10)) }

  /// Writes a run of each part, on as many threads as there are.
  func spill<Run>(
    _ parts: [(part: Range<Int>, output: RunOutput)], _ write: (Range<Int>, RunOutput) throws -> Run
  ) throws -> [Run] {
    guard let crew, parts.count > 1 else { return try parts.map { try write($0.part, $0.output) } }
    var runs: [Run?] = parts.map { _ in nil }
    try runs.withUnsafeMutableBufferPointer { runs in
      try withoutActuallyEscaping(write) { write in
        let runs = runs
        try crew.share(parts.indices.map { part in { runs[part] = try write(parts[part].part, parts[part].output) } })
      }
    }
    return runs.compactMap { $0 }
  }

  /// The pieces in which memory is given.
  var piece: Int { min(1 << 16, max(1 << 10, byteCount / 16)) }

  /// What all sorters use now.
  private(set) var grantedBytes = 0
  /// Whether a sorter may keep what it used before.
  private var someKeep = false
  /// What all sorters have of the system: what they use, and what they keep.
  var heldBytes: Int { someKeep ? members.reduce(0) { $0 + $1.sorter.heldBytes } : grantedBytes }

  /// A sorter uses so many bytes more, or fewer.
  func note(_ change: Int) {
    grantedBytes += change
    if change < 0 { someKeep = true }
  }

  func join(_ sorter: any SortMember) { members.append(Member(sorter: sorter)) }
  func leave(_ sorter: any SortMember) {
    note(-sorter.grantedBytes)
    members.removeAll { $0.sorter === sorter }
  }

  /// What sorters use together before one of them writes a run. Memory from the system costs more than longer runs save:
  /// where so many sorters fill at the same pace, each can keep all that it ever used. Many sorters use all there is, as
  /// their runs would be short. Those do not count that asked for nothing since as much as there is was asked for: their
  /// tables are done.
  private var usable: Int {
    let recent = extensions - byteCount / piece
    let users = members.count { $0.sorter.grantedBytes > 0 && $0.sorter.lastExtension >= recent }
    guard users > 1 else { return byteCount }
    return min(byteCount, max(byteCount / 2 + byteCount / 2 / users, users * Self.leastPieces * piece))
  }
  private static let leastPieces = 4

  /// Gives a sorter more memory, at least `needed` bytes; it may have to write a run for that, and uses none before
  /// then.
  func extend(_ sorter: any SortMember, by needed: Int) throws {
    let more = max(piece, needed)
    extensions += 1
    sorter.lastExtension = extensions
    if sorter.grantedBytes + more > largestShare { try sorter.spill() }
    while grantedBytes + more > byteCount / 2, grantedBytes + more > usable, try spillLargest() {}
    // A long key is not to lie where others were kept.
    if needed > piece, sorter.heldBytes > sorter.grantedBytes { sorter.giveBack() }
    while heldBytes + max(0, sorter.grantedBytes + more - sorter.heldBytes) > byteCount, try free() {}
    sorter.grantedBytes += more
  }

  /// Frees memory for other use by those who drain a sorter.
  func makeRoom(_ bytes: Int) throws { while heldBytes + bytes > byteCount, try free() {} }

  /// Gives back what a sorter keeps without using it, if need be after it wrote a run; false if there is nothing.
  private func free() throws -> Bool {
    let unused = members.lazy.map(\.sorter).max { $0.heldBytes - $0.grantedBytes < $1.heldBytes - $1.grantedBytes }
    guard let unused, unused.heldBytes > unused.grantedBytes else { return try spillLargest() }
    unused.giveBack()
    return true
  }

  /// The sorter that uses most writes a run; false if none uses any.
  private func spillLargest() throws -> Bool {
    let largest = members.lazy.map(\.sorter).max { $0.grantedBytes < $1.grantedBytes }
    guard let largest, largest.grantedBytes > 0 else { return false }
    try largest.spill()
    return true
  }
}

/// A sorter that has part of a ``SortMemory``.
protocol SortMember: AnyObject {
  /// What it may use, scratch space for sorting included. It tells the memory when that changes.
  var grantedBytes: Int { get set }
  /// The number of its last extension, which the memory sets.
  var lastExtension: Int { get set }
  /// What it has of the system: that, or with what it used before and keeps, if that is more.
  var heldBytes: Int { get }
  /// Writes what it has as a run, and uses no memory then. Who adds keys elsewhere while a sorter is drained spills it
  /// first.
  func spill() throws
  /// Gives memory back that it does not use: then it has no more.
  func giveBack()
}
