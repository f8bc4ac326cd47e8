import CoreDataModel
import MappingModels
import RunSupport
import Streams

/// A predicate that was understood when the plan was made.
indirect enum CompiledPredicate {
  case truth(Bool)
  case compound(Predicate.Junction, [CompiledPredicate])
  case compare(CompiledExpression, Predicate.Operation, CompiledExpression)
  /// A comparison with a regular expression that is the same for all objects.
  case matches(CompiledExpression, Predicate.Modifier, TextPattern)

  /// Whether it holds. Throws ``ExpressionDamage`` for values that cannot be compared.
  func holds(_ scope: ExpressionScope) throws -> Bool {
    switch self {
    case .truth(let value): return value
    case .compound(.not, let parts): return try !parts[0].holds(scope)
    case .compound(.and, let parts): return try parts.allSatisfy { try $0.holds(scope) }
    case .compound(.or, let parts): return try parts.contains { try $0.holds(scope) }
    case .compare(let left, let operation, let right):
      let (left, right) = (try left.evaluate(scope), try right.evaluate(scope))
      func holds(_ left: ExpressionValue) throws -> Bool {
        try Comparing.holds(operation.comparison, left, right, options: operation.options)
      }
      return try operation.modifier.holds(left, holds)
    case .matches(let left, let modifier, let pattern):
      return try modifier.holds(left.evaluate(scope)) { try pattern.matches($0.single()) }
    }
  }
}

extension Predicate.Modifier {
  /// Whether it holds for the value, for any of its members, or for all.
  fileprivate func holds(_ value: ExpressionValue, _ body: (ExpressionValue) throws -> Bool) throws -> Bool {
    switch self {
    case .direct: try body(value)
    case .any: try value.members.contains(where: body)
    case .all: try value.members.allSatisfy(body)
    }
  }
}

/// The filter of an entity mapping: which source objects it takes.
struct MappingFilter {
  private let predicate: CompiledPredicate
  private let name: String

  /// Understands the mapping's filter predicate; nil if it has none. Throws `badMapping`.
  /// That of a mapping which the run skips takes nothing.
  init?(_ mapping: EntityMapping, source: SourceEntity, graph: SourceGraph) throws {
    name = mapping.name
    guard !mapping.isSkipped else {
      predicate = .truth(false)
      return
    }
    guard let text = mapping.filterPredicate else { return nil }
    do {
      var compiler = ExpressionCompiler(graph: graph, mapping: mapping, source: source)
      predicate = try compiler.compile(Predicate(format: text))
    } catch let error as BatchError {
      throw BatchError(
        .badMapping, "the filter of \(mapping.name) cannot be read: \(text)", entity: source.name, cause: error)
    } catch let damage as ExpressionDamage {
      throw BatchError(
        .badMapping, "the filter of \(mapping.name) \(damage): \(text)", hint: "Leave objects out in a policy",
        entity: source.name)
    }
  }

  /// Whether the mapping takes the object.
  func takes(_ source: SourceObject) throws -> Bool {
    do { return try predicate.holds(ExpressionScope(source: source)) } catch let damage as ExpressionDamage {
      throw BatchError(
        .policyFailed, "the filter of \(name) \(damage)", hint: "Correct the filter predicate of the mapping",
        entity: source.entity.name, key: source.key)
    }
  }
}
