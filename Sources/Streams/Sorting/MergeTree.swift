/// Sorted runs that are merged; each is at one of its entries.
protocol MergingRuns: AnyObject {
  /// The first eight bytes of each run's entry as a number that sorts as they do; the largest for a run that has ended.
  var heads: UnsafeMutablePointer<UInt64> { get }
  /// Whether the entry of a run comes before that of another with an equal head. A run that has ended comes last.
  func precedes(_ left: Int, _ right: Int) -> Bool
}

/// Finds the least entry of many runs: a tree of losers, one comparison a level for every entry.
final class MergeTree<Runs: MergingRuns> {
  private let runs: Runs
  private let count: Int
  private let losers: UnsafeMutablePointer<Int>
  /// The run whose entry comes first.
  @exclusivity(unchecked) private(set) var winner = 0

  init(_ runs: Runs, count: Int) {
    self.runs = runs
    self.count = count
    losers = .allocate(capacity: max(1, count))
    losers.initialize(repeating: -1, count: max(1, count))
    for run in 0..<count { enter(run) }
  }

  deinit { losers.deallocate() }

  private func enter(_ run: Int) {
    var (winner, node) = (run, (run + count) >> 1)
    while node > 0 {
      if losers[node] < 0 {
        losers[node] = winner
        return
      }
      if precedes(losers[node], winner) { swap(&losers[node], &winner) }
      node >>= 1
    }
    self.winner = winner
  }

  /// Finds the first entry again after the winner moved to its next one.
  @inline(__always)
  func replay() {
    var winner = winner
    var node = (winner + count) >> 1
    while node > 0 {
      let loser = losers[node]
      if precedes(loser, winner) {
        losers[node] = winner
        winner = loser
      }
      node >>= 1
    }
    self.winner = winner
  }

  @inline(__always)
  private func precedes(_ left: Int, _ right: Int) -> Bool {
    let heads = runs.heads
    if heads[left] != heads[right] { return heads[left] < heads[right] }
    return runs.precedes(left, right)
  }
}
