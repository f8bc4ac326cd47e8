import CoreDataModel
import MappingModels
import Streams

/// What an expression gives to a function of a policy.
package enum FunctionArgument {
  /// A value, and the type of the attribute that it was read from.
  case value(Value, AttributeType?)
  case source(SourceObject)
  case destination(DestinationObject)
  case list([FunctionArgument])
  case word(PolicyWord)
}

/// A policy whose functions take objects and types, where others take values and keys.
package protocol TypedFunctionPolicy: EntityMigrationPolicy {
  func value(ofFunction name: String, typed arguments: [FunctionArgument], manager: MigrationManager) throws -> Value
}

extension CompiledExpression {
  /// What it gives to a function.
  func argument(_ scope: ExpressionScope) throws -> FunctionArgument {
    FunctionArgument(try evaluate(scope), attributeType)
  }

  private var attributeType: AttributeType? {
    switch self {
    case .path(_, let steps): if case .attribute(let attribute, _)? = steps.last { attribute.type } else { nil }
    case .column(let attribute, _): attribute.type
    default: nil
    }
  }
}

extension FunctionArgument {
  fileprivate init(_ value: ExpressionValue, _ type: AttributeType?) {
    switch value {
    case .value(let value): self = .value(value, type)
    case .source(let object): self = .source(object)
    case .destination(let object): self = .destination(object)
    case .list(let members): self = .list(members.map { FunctionArgument($0, type) })
    }
  }
}
