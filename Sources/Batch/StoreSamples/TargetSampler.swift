/// Chooses the object at the other end of a key: of a to-one, or the owner in a to-many without inverse. Objects are
/// named by their positions (``SampleKeys``).
final class TargetSampler {
  /// How targets are chosen.
  enum Choice {
    /// Any target, many owners may share one.
    case random
    /// Owner and target of equal rank: no target is shared, and the other side finds its owner by the same rule.
    case pair
    /// A relationship that is its own inverse: ranks 0 and 1, 2 and 3 and so on are each other's.
    case twin
    /// The next rank, for a one-to-one within one entity.
    case successor
    /// The rank before: the other side of ``successor``.
    case predecessor
  }

  /// Positions of those that have the key.
  let owners: Range<UInt64>
  /// The table of the targets.
  let keys: SampleKeys
  private let targets: Range<UInt64>
  private let choice: Choice
  private let base: UInt64
  /// How many of 16 have no target.
  private let gaps: UInt64

  init(owners: Range<UInt64>, targets: Range<UInt64>, keys: SampleKeys, choice: Choice, base: UInt64, gaps: UInt64) {
    self.owners = owners
    self.targets = targets
    self.keys = keys
    self.choice = choice
    self.base = base
    self.gaps = gaps
  }

  /// The target's position, or nil for none. The owner's position is one of ``owners``.
  func target(of position: UInt64) -> UInt64? {
    let rank = position - owners.lowerBound
    switch choice {
    case .random:
      guard !targets.isEmpty, !hasGap(rank) else { return nil }
      return targets.lowerBound + SampleHash.below(UInt64(targets.count), SampleHash.word(~base, rank))
    // A gap belongs to the pair, so that both sides see it: its number is that of the lower rank.
    case .pair: return hasGap(rank) ? nil : target(rank: rank)
    case .twin: return hasGap(rank >> 1) ? nil : target(rank: rank ^ 1)
    case .successor: return hasGap(rank) ? nil : target(rank: rank + 1)
    case .predecessor: return rank == 0 || hasGap(rank - 1) ? nil : target(rank: rank - 1)
    }
  }

  private func hasGap(_ rank: UInt64) -> Bool { gaps > 0 && SampleHash.word(base, rank) >> 60 < gaps }

  private func target(rank: UInt64) -> UInt64? {
    rank < UInt64(targets.count) ? targets.lowerBound + rank : nil
  }
}
