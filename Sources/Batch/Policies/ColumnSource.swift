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
  /// A key that leads to an object which filters may have left out.
  case carried(Int, CarriedTargets, CarriedPart)
  /// What an expression gives: it is set in the object.
  case expression
}

/// What a column tells of an object that a key leads to.
enum CarriedPart {
  case key
  case entity
  /// The place in an ordered relationship, at this position of the source's row; nil for one that had none.
  case order(Int?)
}

extension ColumnSource {
  /// The part of a recipe that gives the same bytes; nil where there is none.
  var piece: RecordProgram.Piece? {
    switch self {
    case .value(let value): .constant(value)
    case .borrow(let position, _): .columns(from: position, count: 1)
    case .convert(let position, _, let from, let to): to.unchanged(from: from).map { .integer(column: position, within: $0) }
    case .key(let position, let map):
      if let entity = map.entityPosition {
        .moved(key: position, by: entity, offsets: map.byNumber.map { $0?.offset })
      } else {
        map.single.map { .shifted(column: position, by: $0.offset) }
      }
    case .keyEntity(let position, let map):
      map.entityPosition.map { .number(key: position, of: $0, numbers: map.byNumber.map { $0.map { Int64($0.number) } }) }
    case .order, .carried, .expression: nil
    }
  }
}

extension AttributeType {
  /// The integers that are stored in the same bytes under this type as under another; nil for types that are no such pair.
  fileprivate func unchanged(from source: AttributeType) -> ClosedRange<Int64>? {
    guard [.integer16, .integer32, .integer64].contains(source) else { return nil }
    return switch self {
    case .integer16, .integer32, .integer64: integerRange
    case .double, .decimal: -(1 << 46)...(1 << 46)
    case .float: -(1 << 24)...(1 << 24)
    default: nil
    }
  }
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
