import MappingModels
import Streams

/// What a rule goes through: an object of a relationship, or an element of an array.
enum RuleItem {
  case object(SourceObject)
  case element(Value, place: Int64)

  /// What distinguishes it among those of a row: the object's key, or the element's place.
  var key: Int64 {
    switch self {
    case .object(let object): object.key
    case .element(_, let place): place
    }
  }

  var value: ExpressionValue {
    switch self {
    case .object(let object): .source(object)
    case .element(let value, _): .value(value)
    }
  }
}

/// Which of the objects at hand a name in a rule means.
enum RuleOrigin: Hashable {
  case source, item, previous
}

/// What is gone through: a relationship, or an array in an attribute.
enum RuleCollection {
  case objects(String)
  case elements(StoredAttribute, name: String)
}

/// A condition of a rule, and what it reads besides the source object.
struct CompiledCondition {
  let predicate: CompiledPredicate
  let origins: [RuleOrigin]
}

/// One value of many: see ``RuleFold``.
struct CompiledFold {
  let over: RuleCollection
  let kind: RuleFold.Kind
  private(set) var value: CompiledRuleValue
  let usesPrevious: Bool

  /// The same as a column holds it whose data may lie outside of the store.
  var inExternalStorage: CompiledFold {
    var fold = self
    fold.value = value.inExternalStorage
    return fold
  }
}
