import CoreDataModel
import Streams

/// What an expression gives: a value, an object, or several of them.
package enum ExpressionValue {
  case value(Value)
  case source(SourceObject)
  case destination(DestinationObject)
  case list([ExpressionValue])

  static var null: ExpressionValue { .value(.null) }

  var isNull: Bool { if case .value(.null) = self { true } else { false } }

  /// The members of a collection; of anything else itself, of NULL none.
  var members: [ExpressionValue] {
    switch self {
    case .list(let members): members
    case .value(.null): []
    default: [self]
    }
  }

  /// What makes two members of a set the same.
  enum Identity: Hashable {
    case value(Value)
    case source(table: Int, key: Int64)
    case destination(table: Int, key: Int64)
    case list([Identity])
  }

  var identity: Identity {
    switch self {
    case .value(.real(let double)): .value(Int64(exactly: double).map { .integer($0) } ?? .real(double))
    case .value(let value): .value(value)
    case .source(let object): .source(table: object.entity.table, key: object.key)
    case .destination(let object): .destination(table: object.entity.table, key: object.key)
    case .list(let members): .list(members.map(\.identity))
    }
  }

  /// The members of several collections, each once, in order.
  static func distinct(_ members: [ExpressionValue]) -> ExpressionValue {
    var seen: Set<Identity> = []
    return .list(members.filter { seen.insert($0.identity).inserted })
  }

  /// The value, where it is one; an object or a list is damage.
  func single() throws -> Value {
    guard case .value(let value) = self else { throw ExpressionDamage("gives objects where a value belongs") }
    return value
  }
}

/// What an expression is evaluated with.
struct ExpressionScope {
  let source: SourceObject
  /// The object that is being made; nil for predicates.
  var destination: DestinationObject?
  var policy: (any EntityMigrationPolicy)?
  /// Nil for predicates of source objects.
  var manager: StepObjects?
  /// Members of collections that subqueries look at, the outermost first.
  var bound: [ExpressionValue] = []

  init(source: SourceObject) { self.source = source }
}
