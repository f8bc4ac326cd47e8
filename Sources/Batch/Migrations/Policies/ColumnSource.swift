import CoreDataModel
import CoreDataStore
import Streams

/// Computes a column's value of a row alone.
protocol ColumnRule {
  /// The value as it is stored.
  func value(_ row: RecordDecoder, key: Int64) throws -> Value
}

/// An attribute that allows external storage from now on: its values stay in the row, behind the byte that says so.
struct ExternalStorageRule: ColumnRule {
  let position: Int
  /// What a row that is too short has.
  let missing: Value

  func value(_ row: RecordDecoder, key: Int64) throws -> Value {
    StoredAttribute.inExternalStorage(position < row.columnCount ? try row.value(position) : missing)
  }
}

/// Where one column of a destination row comes from.
enum ColumnSource {
  /// The same value for every row.
  case value(Value)
  /// The source's bytes as they are; a row that is too short has the column's default.
  case borrow(Int, missing: Value)
  /// The source's value, changed from the first of these types to the last, through those between.
  case convert(Int, missing: Value, through: [AttributeType])
  /// What another source gives, and this value where that is NULL.
  indirect case filled(ColumnSource, null: Value)
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
  /// What a rule of a mapping file computes of the row alone.
  case rule(any ColumnRule)
  /// What only the policy can set: the source's value has another type, and nothing converts it.
  case unfit(Int, String)
}

/// What a column says of an object that a key leads to.
enum CarriedPart {
  case key
  case entity
  /// The place in an ordered relationship, at this position of the source's row; nil for one that had none.
  case order(Int?)
}

extension ColumnSource {
  /// The part of a recipe that gives the same bytes; nil if there is none.
  var piece: RecordRecipe.Piece? {
    switch self {
    case .value(let value): .constant(value)
    case .borrow(let position, _): .columns(from: position, count: 1)
    case .convert(let position, _, let types): types.unchanged.map { .integer(column: position, within: $0) }
    case .filled(.borrow(let position, _), _): .present(column: position)
    case .key(_, let map) where map.owners != nil: nil
    case .key(let position, let map):
      if let entity = map.entityPosition {
        .moved(key: position, by: entity, offsets: map.byNumber.map { $0?.offset })
      } else {
        map.single.map { .shifted(column: position, by: $0.offset) }
      }
    case .keyEntity(let position, let map):
      map.entityPosition.map {
        .number(key: position, of: $0, numbers: map.byNumber.map { $0.map { Int64($0.number) } })
      }
    case .filled, .order, .carried, .expression, .rule, .unfit: nil
    }
  }
}

extension AttributeType {
  /// The integers that are stored in the same bytes under this type as under another; nil for types that are no such
  /// pair.
  fileprivate func unchanged(from source: AttributeType) -> ClosedRange<Int64>? {
    guard [.integer16, .integer32, .integer64].contains(source) else { return nil }
    return switch self {
    case .integer16, .integer32, .integer64: integerRange
    case .double, .decimal: -(1 << 46)...(1 << 46)
    case .float: -(1 << 24)...(1 << 24)
    case .undefined, .string, .boolean, .date, .binaryData, .uuid, .uri, .transformable, .objectID, .composite: nil
    }
  }
}

extension [AttributeType] {
  /// The integers that are stored in the same bytes under each of these types, one after the other; nil if none need
  /// be.
  fileprivate var unchanged: ClosedRange<Int64>? {
    zip(self, dropFirst()).reduce(Int64.min...Int64.max) { range, pair in
      guard let range, let next = pair.1.unchanged(from: pair.0) else { return nil }
      return range.clamped(to: next)
    }
  }
}

/// How keys of one relationship move, by the entity of the object that they lead to.
struct KeyMap {
  struct Target {
    var offset: Int64
    var number: Int
  }
  /// Objects of an entity, by Z_ENT, and its sub-entities, whose rows show which of them they are.
  struct Owners {
    var graph: SourceGraph
    var number: Int

    /// Z_ENT of those that have no target.
    func gone(_ targets: [Target?]) -> Set<Int> {
      guard let kind = graph.byNumber[number]?.name else { return [] }
      return Set(graph.concrete(kind).map(\.number).filter { targets[$0] == nil })
    }
  }
  /// Position of the column with the source's Z_ENT of the object; nil when all belong to one entity.
  var entityPosition: Int?
  /// Targets by the source's Z_ENT; nil if no mapping carries the entity.
  var byNumber: [Target?]
  /// The target when all belong to one entity.
  var single: Target?
  /// Where keys lead when nothing in their own row holds the entity.
  var owners: Owners?
  /// Entities whose objects a key may lead to, and that no mapping carries.
  var gone: Set<Int> = []

  func target(of key: Int64, _ row: RecordDecoder) throws -> Target? {
    if let owners { return try owners.graph.object(owners.number, key: key).flatMap { byNumber[$0.entity.number] } }
    guard let entityPosition else { return single }
    guard let number = row.integer(entityPosition), number >= 0, number < byNumber.count else { return nil }
    return byNumber[Int(number)]
  }

  /// Whether all keys stay as they are.
  var isIdentity: Bool {
    guard entityPosition == nil else { return false }
    return single?.offset == 0
  }
}
