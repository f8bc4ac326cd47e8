import CoreDataStore
import Streams

/// The rows of a join table: on average one and a half for each owner, no pair twice.
struct SampleLinks {
  private enum Cell {
    case source
    case target
    /// The source's place among the target's objects.
    case sourceOrder
    /// The target's place among the source's objects.
    case targetOrder
  }

  private let sourceKeys: SampleKeys
  private let sources: Range<UInt64>
  private let targetKeys: SampleKeys
  private let targets: Range<UInt64>
  private let base: UInt64
  private let cells: [Cell]
  private let isOwnInverse: Bool

  init(
    join: JoinTable, sourceKeys: SampleKeys, sources: Range<UInt64>, targetKeys: SampleKeys, targets: Range<UInt64>,
    base: UInt64
  ) {
    self.sourceKeys = sourceKeys
    self.sources = sources
    self.targetKeys = targetKeys
    self.targets = targets
    self.base = base
    isOwnInverse = join.isOwnInverse
    cells = join.columns.map { column in
      if column == join.sourceColumn { return .source }
      if column == join.destinationColumn { return .target }
      return column == join.sourceOrderColumn ? .sourceOrder : .targetOrder
    }
  }

  /// About how many rows there will be, for progress.
  var expectedCount: UInt64 { targets.isEmpty ? 0 : UInt64(sources.count) / 2 * 3 }

  /// Calls `body` with every row, encoded.
  func forEach(_ body: (RecordEncoder) throws -> Void) throws {
    guard !targets.isEmpty, !sources.isEmpty else { return }
    let encoder = RecordEncoder()
    for key in 1...sourceKeys.count {
      let position = sourceKeys.position(ofKey: key)
      guard sources.contains(position) else { continue }
      let ranks = isOwnInverse ? neighbours(of: position - sources.lowerBound) : choices(of: key)
      for (place, rank) in ranks.enumerated() {
        encode(key, target: targetKeys.key(at: targets.lowerBound + rank), place: place, encoder: encoder)
        try body(encoder)
      }
    }
  }

  private func encode(_ source: UInt64, target: UInt64, place: Int, encoder: RecordEncoder) {
    encoder.reset()
    for cell in cells {
      switch cell {
      case .source: encoder.append(Int64(source))
      case .target: encoder.append(Int64(target))
      case .sourceOrder: encoder.append(Int64(source) * 1024)
      case .targetOrder: encoder.append(Int64(place + 1) * 1024)
      }
    }
  }

  /// Up to three targets, a quarter of the ring apart, so that they differ.
  private func choices(of key: UInt64) -> [UInt64] {
    let number = SampleHash.word(base, key)
    let count = UInt64(targets.count)
    let first = SampleHash.below(count, SampleHash.mix(number))
    return (0..<min(number & 3, count)).map { (first + $0 * max(1, count / 4)) % count }
  }

  /// Both objects of a pair have the row, as each is the other's owner: pairs are one rank apart or a third of all.
  private func neighbours(of rank: UInt64) -> [UInt64] {
    let count = UInt64(targets.count)
    var found: [UInt64] = []
    for (distance, chance) in [(1, 8), (max(2, count / 3), 6)] as [(UInt64, UInt64)] {
      func isLinked(_ lower: UInt64) -> Bool { SampleHash.word(base &+ distance, lower) >> 60 < chance }
      if rank >= distance, isLinked(rank - distance) { found.append(rank - distance) }
      if rank + distance < count, isLinked(rank) { found.append(rank + distance) }
    }
    return found
  }
}
