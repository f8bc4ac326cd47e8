import Streams

/// What happens at one change of the disk. Changes are counted from 1.
package enum SimulatedFault: Sendable, Equatable {
  /// On which side of the change.
  package enum Moment: CaseIterable, Sendable { case before, after }

  /// The process ends there; what it wrote stays with the kernel.
  case kill(Moment)
  /// The machine ends there; of what was not synced, any part may be gone.
  case powerLoss(Moment)
  /// The call fails with this code and does nothing. A sync that fails loses what it was to make durable.
  case failure(StreamsError.Code)
  /// A write stores its first half, then the disk is full. Other calls fail at once.
  case shortWrite
}

/// The same numbers for the same seed, on every machine (SplitMix64).
package struct DiskRandom: Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
  package mutating func flag() -> Bool { next() & 1 == 1 }
}

/// How much of what was not synced outlives a power loss.
enum Survival: CaseIterable {
  case nothing, everything, beginning, anything

  /// Of changes in their order, which are kept?
  func kept(of count: Int, _ random: inout DiskRandom) -> [Bool] {
    switch self {
    case .nothing: return [Bool](repeating: false, count: count)
    case .everything: return [Bool](repeating: true, count: count)
    case .beginning:
      let end = random.below(count + 1)
      return (0..<count).map { $0 < end }
    case .anything: return (0..<count).map { _ in random.flag() }
    }
  }
}
