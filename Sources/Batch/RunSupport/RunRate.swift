/// A limit to how much a run writes, or reads, in a second: `50MB/s` or `200krows/s`.
public struct RunRate: Sendable, Equatable, CustomStringConvertible {
  /// What is counted.
  public enum Unit: Sendable {
    /// Bytes that are written.
    case bytes
    /// Source rows that are read.
    case rows
  }

  /// What is counted.
  public var unit: Unit
  /// How much of it in a second; more than 0.
  public var amount: Double

  /// Makes a limit.
  public init(_ amount: Double, _ unit: Unit) { (self.amount, self.unit) = (amount, unit) }

  /// Reads `50MB/s`, `10MiB/s`, `200krows/s`, `1.5Mrows/s`; nil for anything else.
  public init?(_ text: String) {
    guard text.hasSuffix("/s") else { return nil }
    let digits = text.prefix { $0.isNumber || $0 == "." }
    let factors: [String: (Double, Unit)] = [
      "B": (1, .bytes), "kB": (1e3, .bytes), "MB": (1e6, .bytes), "GB": (1e9, .bytes), "KiB": (0x1p10, .bytes),
      "MiB": (0x1p20, .bytes), "GiB": (0x1p30, .bytes), "rows": (1, .rows), "krows": (1e3, .rows),
      "Mrows": (1e6, .rows),
    ]
    let name = String(text.dropFirst(digits.count).dropLast(2))
    guard let number = Double(digits), let (factor, unit) = factors[name], number * factor >= 1, number * factor < 1e15
    else {
      return nil
    }
    self.init(number * factor, unit)
  }

  /// As it is read.
  public var description: String {
    let names = unit == .bytes ? ["B", "kB", "MB"] : ["rows", "krows", "Mrows"]
    let power = amount >= 1e6 ? 2 : amount >= 1e3 ? 1 : 0
    let number = amount / [1, 1e3, 1e6][power]
    return (number == number.rounded() ? "\(Int(number))" : "\(number)") + names[power] + "/s"
  }
}

/// Lets a given amount pass per second, and a quarter of a second's amount at once.
struct TokenBucket: Sendable, Equatable {
  let rate: RunRate
  private var tokens: Double
  private var last: Double

  init(_ rate: RunRate, at seconds: Double) {
    self.rate = rate
    (tokens, last) = (rate.amount / 4, seconds)
  }

  /// Takes what was done; returns the seconds to wait until it would have been allowed.
  mutating func take(rows: Int, bytes: Int, at seconds: Double) -> Double {
    tokens = min(rate.amount / 4, tokens + max(0, seconds - last) * rate.amount)
    last = seconds
    tokens -= Double(rate.unit == .rows ? rows : bytes)
    return tokens < 0 ? -tokens / rate.amount : 0
  }
}
