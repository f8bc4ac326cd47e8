import Streams

/// From when a number counts, and in what: how it becomes a date, and a date a number.
public struct DateScale: Sendable, Equatable, CustomStringConvertible {
  /// What numbers count.
  public enum Unit: String, Sendable, CaseIterable {
    case s, ms, us, ns

    /// How many of them a second has.
    var perSecond: Int64 {
      switch self {
      case .s: 1
      case .ms: 1000
      case .us: 1_000_000
      case .ns: 1_000_000_000
      }
    }
  }

  /// The moment of 0, in seconds since 2001.
  public let epoch: Int64
  /// What is counted.
  public let unit: Unit

  /// Epoch and unit.
  public var description: String { "\(epoch) \(unit.rawValue)" }

  /// Makes one.
  public init(epoch: Int64, unit: Unit) { (self.epoch, self.unit) = (epoch, unit) }

  /// The two keys as a mapping file has them.
  package var keys: String {
    let moment = epoch == -Int64(Measure.secondsTo2001) ? "unix" : epoch == 0 ? "2001" : "…"
    return "epoch: \(moment), unit: \(unit.rawValue)"
  }

  /// The epoch that a word or a date of the form yyyy-MM-dd means; nil for anything else.
  public static func epoch(_ text: String) -> Int64? {
    switch text {
    case "unix": -Int64(Measure.secondsTo2001)
    case "2001": 0
    default: DatePattern("yyyy-MM-dd")?.seconds(text).map { Int64($0) }
    }
  }

  /// Seconds since 2001 of a number; nil for what is no finite number.
  package func seconds(_ number: Value) -> Double? {
    switch number {
    case .integer(let integer):
      let (sum, overflow) = integer.addingReportingOverflow(epoch &* unit.perSecond)
      // The difference first: milliseconds since 1970 then keep all their digits.
      return overflow
        ? Double(integer) / Double(unit.perSecond) + Double(epoch) : Double(sum) / Double(unit.perSecond)
    case .real(let double):
      let seconds = double / Double(unit.perSecond) + Double(epoch)
      return seconds.isFinite ? seconds : nil
    case .null, .text, .blob: return nil
    }
  }

  /// The number for seconds since 2001, rounded to a whole one if `isWhole`; nil if it does not fit.
  package func number(_ seconds: Double, isWhole: Bool) -> Value? {
    let number = (seconds - Double(epoch)) * Double(unit.perSecond)
    guard isWhole else { return number.isFinite ? .real(number) : nil }
    return Int64(exactly: number.rounded()).map { .integer($0) }
  }
}
