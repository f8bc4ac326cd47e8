import Streams

/// Where one column of a destination row comes from.
enum ColumnSource {
  /// The same value for every row.
  case value(Value)
  /// The source's bytes as they are; a row that is too short has the column's default.
  case borrow(Int, missing: Value)
  /// The source's value, changed to another type.
  case convert(Int, missing: Value, from: AttributeType, to: AttributeType)
  /// A key, moved as the objects it leads to are moved.
  case key(Int, KeyMap)
  /// The entity number of the object that a key leads to.
  case keyEntity(Int, KeyMap)
  /// A place in an ordered relationship that had none.
  case order(Int)
  /// A value that an expression gives.
  case expression(CompiledExpression, AttributeType)
}

/// How keys of one relationship move, by the entity of the object that they lead to.
struct KeyMap {
  struct Target {
    var offset: Int64
    var number: Int
  }
  /// Position of the column with the source's Z_ENT of the object; nil when all belong to one entity.
  var entityPosition: Int?
  /// Targets by the source's Z_ENT; nil where no mapping carries the entity.
  var byNumber: [Target?]
  /// The target when all belong to one entity.
  var single: Target?

  func target(_ row: RecordDecoder) -> Target? {
    guard let entityPosition else { return single }
    guard let number = row.integer(entityPosition), number >= 0, number < byNumber.count else { return nil }
    return byNumber[Int(number)]
  }

  /// Do all keys stay as they are?
  var isIdentity: Bool {
    guard entityPosition == nil else { return false }
    return single?.offset == 0
  }
}

extension AttributeType {
  /// Changes a value from one numeric type to another, as Core Data's inferred mappings do (E.2). Nil when it cannot.
  func converted(_ value: Value, from source: AttributeType) -> Value? {
    guard source != self else { return value }
    let number: Double
    switch source.normalized(value) {
    case .null: return .null
    case .integer(let integer):
      switch self {
      case .integer16, .integer32, .integer64: return integerRange.contains(integer) ? .integer(integer) : nil
      case .boolean: return .integer(integer == 0 ? 0 : 1)
      default: number = Double(integer)
      }
    case .real(let double): number = double
    default: return nil
    }
    switch self {
    case .double, .decimal: return stored(.real(number))
    case .float: return stored(.real(Double(Float(number))))
    case .boolean: return .integer(number == 0 ? 0 : 1)
    case .integer16, .integer32, .integer64:
      guard let integer = Int64(exactly: number.rounded(.towardZero)), integerRange.contains(integer) else { return nil }
      return .integer(integer)
    default: return nil
    }
  }

  private var integerRange: ClosedRange<Int64> {
    switch self {
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    default: Int64.min...Int64.max
    }
  }
}
