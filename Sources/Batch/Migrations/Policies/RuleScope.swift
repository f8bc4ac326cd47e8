import RunSupport
import Streams

/// What a rule's value is computed from.
protocol RuleScope {
  /// The key of the source object, and that of the related one at hand.
  var keys: [Int64] { get }
  /// The value of an attribute of one of the objects at hand.
  func value(_ attribute: StoredAttribute, _ origin: RuleOrigin) throws -> Value
  func evaluate(_ expression: CompiledExpression, _ origins: [RuleOrigin]) throws -> Value
  func holds(_ condition: CompiledCondition) throws -> Bool
  func fold(_ fold: CompiledFold) throws -> Value
  func became(_ target: CompiledRuleTarget, attribute: String) throws -> Value
  /// The error of this row; never with a value.
  func failure(_ message: String, _ hint: String?) -> BatchError
}

extension RuleScope {
  func failure(_ message: String) -> BatchError { failure(message, nil) }
}

/// A row for values that follow from it alone, without an object: see ``CompiledRuleValue/isPlain``.
struct PlainRow: RuleScope {
  let row: RecordDecoder
  let key: Int64
  /// The source's entity, and the default of a column that a short row lacks.
  let entity: SourceEntity
  let graph: SourceGraph

  var keys: [Int64] { [key] }

  func value(_ attribute: StoredAttribute, _ origin: RuleOrigin) throws -> Value {
    let position = attribute.position
    return attribute.type.normalized(
      try position < row.columnCount ? row.value(position) : graph.missing(entity, position))
  }

  // Values with these are not plain.
  func evaluate(_ expression: CompiledExpression, _ origins: [RuleOrigin]) throws -> Value { throw unplain }
  func holds(_ condition: CompiledCondition) throws -> Bool { throw unplain }
  func fold(_ fold: CompiledFold) throws -> Value { throw unplain }
  func became(_ target: CompiledRuleTarget, attribute: String) throws -> Value { throw unplain }

  private var unplain: BatchError { failure("a value needs more than its row", "This is a fault of the program") }

  func failure(_ message: String, _ hint: String?) -> BatchError {
    BatchError(.policyFailed, message, hint: hint, entity: entity.name, key: key)
  }
}

/// An attribute of a mapping's own objects that a rule computes of the row alone: no object is made for it.
struct PlainRule: ColumnRule {
  let attribute: CompiledRuleAttribute
  let entity: SourceEntity
  let graph: SourceGraph

  func value(_ row: RecordDecoder, key: Int64) throws -> Value {
    let scope = PlainRow(row: row, key: key, entity: entity, graph: graph)
    return try attribute.stored.type.stored(attribute.fitting(scope))
  }
}
