import ArgumentParser
import Batch
import Foundation

/// A time by which a run has ended: `06:00`, the next such time here, or an ISO 8601 date with time.
struct Deadline: ExpressibleByArgument {
  let date: Date
  let text: String

  init?(argument: String) { self.init(argument, now: Date(), calendar: .current) }

  init?(_ argument: String, now: Date, calendar: Calendar) {
    text = argument
    if let date = try? Date(argument, strategy: .iso8601) {
      self.date = date
      return
    }
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let hour = parts[0], let minute = parts[1], (0..<24).contains(hour),
      (0..<60).contains(minute),
      let next = calendar.nextDate(
        after: now, matching: DateComponents(hour: hour, minute: minute, second: 0), matchingPolicy: .nextTime)
    else { return nil }
    date = next
  }
}

/// A length of time: 90s, 30min, 2h, 1h30min, 1d.
struct TimeSpan: ExpressibleByArgument {
  let seconds: Double

  init(seconds: Double) { self.seconds = seconds }

  /// As help shows it: 1s.
  var defaultValueDescription: String { "\(Seconds(seconds).defaultValueDescription)s" }

  init?(argument: String) {
    let units: [String: Double] = ["ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400]
    var (rest, total) = (argument[...], 0.0)
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isNumber || $0 == "." }
      rest = rest.dropFirst(digits.count)
      let unit = rest.prefix { $0.isLetter }
      rest = rest.dropFirst(unit.count)
      guard let number = Double(digits), let factor = units[unit.lowercased()] else { return nil }
      total += number * factor
    }
    guard total > 0, total < 1e9 else { return nil }
    seconds = total
  }
}

/// A number of seconds, without a unit: 30, 2.5.
struct Seconds: ExpressibleByArgument {
  let number: Double

  init(_ number: Double) { self.number = number }

  init?(argument: String) {
    guard let number = Double(argument) else { return nil }
    self.number = number
  }

  /// As help shows it: 30.
  var defaultValueDescription: String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }
}

extension RunRate: ExpressibleByArgument {
  /// Reads an argument.
  public init?(argument: String) { self.init(argument) }
}
