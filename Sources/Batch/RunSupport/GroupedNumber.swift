extension BinaryInteger {
  /// Digits in groups of three, as people read numbers: `20,500`.
  package var grouped: String {
    let digits = String(magnitude)
    let groups = digits.enumerated().map { index, digit in
      index > 0 && (digits.count - index) % 3 == 0 ? ",\(digit)" : String(digit)
    }
    return (self < 0 ? "-" : "") + groups.joined()
  }
}

extension BinaryInteger {
  /// The number with what it counts: `1 store`, `1,000 stores`.
  package func counted(_ one: String, _ many: String? = nil) -> String {
    "\(grouped) \(self == 1 ? one : many ?? one + "s")"
  }

  /// The verb that goes with the number: `was` with 1, `were` with all others.
  package func verb(_ one: String, _ many: String) -> String { self == 1 ? one : many }
}
