import CProcessor

/// Sorted runs that are merged; each is at one of its entries.
protocol MergingRuns: AnyObject {
  /// A number of each run's entry that sorts as they do; the largest for a run that has ended.
  var heads: UnsafeMutablePointer<UInt64> { get }
  /// Whether the entry of a run comes before that of another with an equal head. A run that has ended comes last. It may
  /// change the head of the one that comes behind.
  func precedes(_ left: Int, _ right: Int) -> Bool
}

/// Finds the least entry of many runs: a tree of losers, one comparison a level for every entry.
///
/// A loser's head is one against the entry that beat it, where heads are against other entries at all.
///
/// Which of two comes first cannot be foreseen, so a level has no branch for it: nodes have their losers' heads, and who
/// wins is exchanged by masks.
final class MergeTree<Runs: MergingRuns> {
  private struct Node {
    var head: UInt64
    var run: UInt64
  }

  private let runs: Runs
  private let count: Int
  private let losers: UnsafeMutablePointer<Node>
  /// The run whose entry comes first.
  @exclusivity(unchecked) private(set) var winner = 0

  init(_ runs: Runs, count: Int) {
    self.runs = runs
    self.count = count
    losers = .allocate(capacity: max(1, count))
    if count > 0 { winner = fill(1) }
  }

  deinit { losers.deallocate() }

  /// The winner below a node; nodes from `count` on are the runs themselves.
  private func fill(_ node: Int) -> Int {
    guard node < count else { return node - count }
    let (left, right) = (fill(2 * node), fill(2 * node + 1))
    let heads = runs.heads
    let isLeft = heads[left] == heads[right] ? runs.precedes(left, right) : heads[left] < heads[right]
    let loser = isLeft ? right : left
    (losers + node).initialize(to: Node(head: heads[loser], run: UInt64(loser)))
    return isLeft ? left : right
  }

  /// Finds the first entry again after the winner moved to its next one.
  @inline(__always)
  func replay() {
    var (head, run) = (runs.heads[winner], UInt64(winner))
    var node = (winner + count) >> 1
    while node > 0 {
      var loser = losers[node]
      var mask = godwit_less(loser.head, head)
      if _slowPath(loser.head == head) {
        mask = runs.precedes(Int(loser.run), Int(run)) ? .max : 0
        (loser.head, head) = (runs.heads[Int(loser.run)], runs.heads[Int(run)])
      }
      let (heads, both) = ((head ^ loser.head) & mask, (run ^ loser.run) & mask)
      losers[node] = Node(head: loser.head ^ heads, run: loser.run ^ both)
      head ^= heads
      run ^= both
      node >>= 1
    }
    winner = Int(run)
  }
}
