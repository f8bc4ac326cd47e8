import Foundation

/// A number of objects that is not known before a migration has run: the least and the most that are possible, and the
/// likely one.
public struct Foreseen: Sendable, Equatable, Codable {
  /// At least.
  public var least: UInt64
  /// Likely.
  public var likely: UInt64
  /// At most.
  public var most: UInt64

  /// A number that is known.
  public init(_ number: UInt64) { (least, likely, most) = (number, number, number) }

  init(least: Double, likely: Double, most: Double) {
    (self.least, self.likely, self.most) = (Self.whole(least), Self.whole(likely), Self.whole(most))
  }

  /// The nearest number from 0 on that fits; 0 for none.
  static func whole(_ number: Double) -> UInt64 { number > 0 ? UInt64(min(number.rounded(), 9e18)) : 0 }

  static func + (left: Foreseen, right: Foreseen) -> Foreseen {
    var sum = left
    // Below 2^63 each, so that many can be added; more are no number of rows.
    sum.least = min(sum.least, 1 << 62) + min(right.least, 1 << 62)
    sum.likely = min(sum.likely, 1 << 62) + min(right.likely, 1 << 62)
    sum.most = min(sum.most, 1 << 62) + min(right.most, 1 << 62)
    return sum
  }

  /// A part of a sample: rows that were read, and objects that were made of them.
  struct Half {
    var rows: Double
    var made: Double
  }

  /// What becomes of objects that a sample made in its first and in its second part, when the whole has `all` rows.
  ///
  /// There are two cases: an object for every so many rows, and one for every different value, of which later rows make
  /// fewer: of D values, drawn alike, n rows find D (1 - e^(-yn)).
  init(_ first: Half, _ second: Half, all: Double) {
    let (rows, made) = (first.rows + second.rows, first.made + second.made)
    let linear = rows > 0 ? made * max(1, all / rows) : made
    let known = Foreseen(least: made, likely: linear, most: linear)
    guard all > rows, first.rows > 0, second.rows > 0, first.made > 0 else {
      self = known
      return
    }
    // Fewer than by chance.
    let expected = first.made * second.rows / first.rows
    guard expected - second.made > 3 * (expected + second.made).squareRoot() else {
      self = known
      return
    }
    let pace = Self.pace(share: first.made / made, first: first.rows, all: rows)
    let values = first.made / (1 - exp(-pace * first.rows))
    self.init(least: made, likely: max(made, values * (1 - exp(-pace * all))), most: linear)
  }

  /// The y by which `first` of `all` rows find this share of the values that all of them find.
  private static func pace(share: Double, first: Double, all: Double) -> Double {
    var (low, high) = (0.0, 50 / first)
    for _ in 0..<60 {
      let middle = (low + high) / 2
      if (1 - exp(-middle * first)) / (1 - exp(-middle * all)) < share { low = middle } else { high = middle }
    }
    return (low + high) / 2
  }
}
