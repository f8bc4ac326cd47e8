import CoreDataModel
import Streams

extension AttributeType {
  package var isNumeric: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean: true
    case .undefined, .string, .date, .binaryData, .uuid, .uri, .transformable, .objectID, .composite: false
    }
  }

  /// A stored value in the form that this type has in memory: whole dates and doubles come back as doubles although
  /// SQLite keeps them as integers in columns of NUMERIC and REAL affinity.
  package func normalized(_ value: Value) -> Value {
    switch (self, value) {
    case (.date, .integer(let integer)), (.double, .integer(let integer)), (.float, .integer(let integer)),
      (.decimal, .integer(let integer)):
      .real(Double(integer))
    default: value
    }
  }

  /// A value in the form that SQLite stores it in a column of this type (B.4): a double without fraction becomes an
  /// integer where the column's affinity does so.
  package func stored(_ value: Value) -> Value {
    guard case .real(let double) = value, let integer = whole(double) else { return value }
    return .integer(integer)
  }

  /// The integer that SQLite stores for a double in a column of this type; nil where it stores the double.
  package func whole(_ double: Double) -> Int64? {
    switch self {
    case .date, .double, .float, .decimal:
      // SQLite does this up to 2^47 for REAL columns and wherever the integer is exact for NUMERIC ones.
      let limit = self == .double || self == .float ? 0x1p47 : 0x1p53
      guard double.magnitude < limit else { return nil }
      let integer = Int64(double)
      return Double(integer) == double && !(double == 0 && double.sign == .minus) ? integer : nil
    case .undefined, .integer16, .integer32, .integer64, .string, .boolean, .binaryData, .uuid, .uri, .transformable,
      .objectID, .composite:
      return nil
    }
  }

  /// Changes a value from one numeric type to another, as Core Data's inferred mappings do (E.2). Nil when it cannot.
  package func converted(_ value: Value, from source: AttributeType) -> Value? {
    guard source != self else { return value }
    let number: Double
    switch source.normalized(value) {
    case .null: return .null
    case .integer(let integer):
      switch self {
      case .integer16, .integer32, .integer64: return integerRange.contains(integer) ? .integer(integer) : nil
      case .boolean: return .integer(integer == 0 ? 0 : 1)
      case .undefined, .decimal, .double, .float, .string, .date, .binaryData, .uuid, .uri, .transformable, .objectID,
        .composite:
        number = Double(integer)
      }
    case .real(let double): number = double
    default: return nil
    }
    switch self {
    case .double, .decimal: return stored(.real(number))
    case .float:
      let float = Float(number)
      // As an integer that is out of range.
      guard float.isFinite || !number.isFinite else { return nil }
      return stored(.real(Double(float)))
    case .boolean: return .integer(number == 0 ? 0 : 1)
    case .integer16, .integer32, .integer64:
      guard let integer = Int64(exactly: number.rounded(.towardZero)), integerRange.contains(integer) else {
        return nil
      }
      return .integer(integer)
    case .undefined, .string, .date, .binaryData, .uuid, .uri, .transformable, .objectID, .composite: return nil
    }
  }

  /// The value as an attribute of this type takes it: numbers are cut to integers and Booleans, as NSNumber does. Nil
  /// for a value of another kind, and for an integer out of range.
  package func fitting(_ value: Value) -> Value? {
    switch (self, value) {
    // SQLite stores it as NULL.
    case (_, .real(let double)) where double.isNaN: nil
    case (.uuid, .blob(let bytes)): bytes.count == 16 ? value : nil
    case (_, .null), (.string, .text), (.uri, .text), (.binaryData, _), (.transformable, _), (.undefined, _),
      (.objectID, _),
      (.composite, _):
      value
    case (.date, .integer(let integer)): .real(Double(integer))
    case (.date, .real): value
    case (_, .integer(let integer)): converted(.integer(integer), from: .integer64)
    case (_, .real(let double)): converted(.real(double), from: .double)
    default: nil
    }
  }

  /// Whether code means a value of this type by it. Unlike in ``fitting(_:)`` nothing is cut: 1.5 is no integer, and 2
  /// no Boolean.
  package func holds(_ value: Value) -> Bool {
    switch (self, value) {
    case (.boolean, .integer(let integer)): return integer == 0 || integer == 1
    case (.boolean, .real), (.binaryData, .text), (.binaryData, .integer), (.binaryData, .real): return false
    case (.integer16, .real(let double)), (.integer32, .real(let double)), (.integer64, .real(let double)):
      guard let integer = Int64(exactly: double) else { return false }
      return integerRange.contains(integer)
    default: return fitting(value) != nil
    }
  }

  package var integerRange: ClosedRange<Int64> {
    switch self {
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    case .undefined, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binaryData, .uuid, .uri,
      .transformable,
      .objectID, .composite:
      Int64.min...Int64.max
    }
  }
}

extension [AttributeType] {
  /// Changes a value of the first type to each of the others in turn. Nil when it does not fit one of them.
  package func converted(_ value: Value) -> Value? {
    zip(self, dropFirst()).reduce(value) { value, pair in value.flatMap { pair.1.converted($0, from: pair.0) } }
  }
}
