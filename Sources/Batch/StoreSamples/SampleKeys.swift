import CoreDataModel
import CoreDataStore

/// Which object of an entity table has which key.
///
/// The objects have positions: entities in Z_ENT order, each entity's objects together, so that an entity and all its
/// sub-entities are one range. Keys 1 to n are the positions in an order that mixes the entities: every key's position
/// is that of the key before plus a fixed step, around a ring. Both directions are a few operations, whatever n is.
final class SampleKeys: Sendable {
  /// The number of objects.
  let count: UInt64
  private let step: UInt64
  private let inverseStep: UInt64
  private let shift: UInt64
  /// The first position of every entity.
  private let starts: [UInt64]
  private let numbers: [Int64]
  private let ranges: [String: Range<UInt64>]

  /// `names` are the table's entities in Z_ENT order.
  init(layout: StoreLayout, names: [String], counts: [String: UInt64], seed: UInt64) {
    var starts: [UInt64] = []
    var ranges: [String: Range<UInt64>] = [:]
    var open: [(name: String, depth: Int)] = []
    var end: UInt64 = 0
    func close(from depth: Int) {
      while let last = open.last, last.depth >= depth {
        if let start = ranges[last.name]?.lowerBound { ranges[last.name] = start..<end }
        open.removeLast()
      }
    }
    for name in names {
      let depth = layout.model.ancestors(of: name).count
      close(from: depth)
      open.append((name, depth))
      starts.append(end)
      ranges[name] = end..<end
      end += counts[name] ?? 0
    }
    close(from: 0)
    count = end
    self.starts = starts
    self.ranges = ranges
    numbers = names.map { Int64(layout.entityNumbers[$0] ?? 0) }
    let isMixed = names.filter { counts[$0] ?? 0 > 0 }.count > 1
    step = isMixed ? Self.step(end) : 1
    inverseStep = Self.inverse(of: step, modulo: end)
    shift = isMixed ? SampleHash.base(seed, "keys", names.first ?? "") % max(end, 1) : 0
  }

  /// Near the golden section of the ring, where steps spread most evenly, and without a common divisor with its length.
  private static func step(_ count: UInt64) -> UInt64 {
    var step = max(1, UInt64(Double(count) * 0.618_033_988_749))
    while commonDivisor(step, count) != 1 { step += 1 }
    return step
  }

  private static func commonDivisor(_ left: UInt64, _ right: UInt64) -> UInt64 {
    var (left, right) = (left, right)
    while right != 0 { (left, right) = (right, left % right) }
    return left
  }

  /// The number that undoes a multiplication by `step` modulo `count`, by Euclid's algorithm. Both are below 2^32.
  private static func inverse(of step: UInt64, modulo count: UInt64) -> UInt64 {
    guard count > 1 else { return 1 }
    var (old, new) = (Int64(step % count), Int64(count))
    var (oldFactor, newFactor): (Int64, Int64) = (1, 0)
    while new != 0 {
      let quotient = old / new
      (old, new) = (new, old - quotient * new)
      (oldFactor, newFactor) = (newFactor, oldFactor - quotient * newFactor)
    }
    return UInt64(oldFactor < 0 ? oldFactor + Int64(count) : oldFactor)
  }

  /// The position of the object with a key from 1 to ``count``.
  func position(ofKey key: UInt64) -> UInt64 { ((key - 1) * step + shift) % count }

  /// The key of the object at a position below ``count``.
  func key(at position: UInt64) -> UInt64 { (position + count - shift) % count * inverseStep % count + 1 }

  /// Z_ENT of the object at a position.
  func entityNumber(at position: UInt64) -> Int64 {
    var (low, high) = (0, starts.count)
    // The last entity that begins at or before the position; entities without objects begin where the next one does.
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= position { low = middle } else { high = middle }
    }
    return numbers[low]
  }

  /// Positions of the objects of an entity and its sub-entities; empty for an entity of another table.
  func range(ofEntity name: String) -> Range<UInt64> { ranges[name] ?? 0..<0 }
}
