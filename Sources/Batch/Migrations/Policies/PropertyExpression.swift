import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// An expression that gives a property of a destination object.
struct PropertyExpression {
  /// Where the value goes.
  enum Target {
    /// With the attribute's types, one after the other where several steps are made in one.
    case attribute(StoredAttribute, through: [AttributeType])
    case toOne
    /// Once all objects of the step exist.
    case toMany
  }

  let name: String
  let target: Target
  let expression: CompiledExpression

  /// A value as an attribute of these types stores it that has them one after the other.
  static func stored(_ value: Value, through types: [AttributeType]) throws -> Value {
    guard let first = types.first, let fitting = first.fitting(value) else {
      throw ExpressionDamage("gives a value that is no \(types.first.map { "\($0)" } ?? "value")")
    }
    guard let stored = types.converted(first.stored(fitting)) else {
      throw ExpressionDamage(
        "gives a value that does not fit the type \(types.dropFirst().map { "\($0)" }.joined(separator: " and then "))")
    }
    return stored
  }

  /// Says of damage in which mapping, property and object it was found.
  func naming(_ mapping: EntityMapping, source: SourceObject, body: () throws -> Void) throws {
    do { try body() } catch let damage as ExpressionDamage {
      throw BatchError(
        .policyFailed, "the value expression of \(mapping.name).\(name) \(damage)",
        hint: "Correct the expression, or set the property in a policy", entity: source.entity.name, key: source.key)
    }
  }
}
