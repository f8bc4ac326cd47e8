/// A number as SQLite has it: whole, or a double. A double that is whole is the whole number.
enum PlainNumber: Equatable {
  case whole(Int64)
  case broken(Double)

  init(_ integer: Int64) { self = .whole(integer) }

  init(_ real: Double) { self = Int64(exactly: real).map { .whole($0) } ?? .broken(real) }

  /// The number that a text says; nil if it says none.
  init?(_ text: String) {
    if let integer = Int64(text) {
      self = .whole(integer)
    } else if let real = Double(text) {
      self.init(real)
    } else {
      return nil
    }
  }

  var double: Double {
    switch self {
    case .whole(let integer): Double(integer)
    case .broken(let real): real
    }
  }
}
