import CoreDataModel
import RunSupport
import Streams

extension CompiledExpression {
  /// Throws ``ExpressionDamage`` for values that do not fit, and what a policy throws.
  func evaluate(_ scope: ExpressionScope) throws -> ExpressionValue {
    switch self {
    case .constant(let value): return .value(value)
    case .source: return .source(scope.source)
    case .destination: return scope.destination.map { .destination($0) } ?? .null
    case .bound(let place): return scope.bound[place]
    case .path(let start, let steps): return try PathStep.follow(start.evaluate(scope), steps[...])
    case .column(let attribute, let name): return try Self.column(attribute, named: name, scope)
    case .policy(let name, let arguments): return try Self.policy(name, arguments: arguments, scope: scope)
    case .function(let name, let arguments): return .value(try Self.function(name, arguments: arguments, scope: scope))
    case .list(let members): return .list(try members.map { try $0.evaluate(scope) })
    case .subquery(let collection, let predicate):
      return .list(try Self.members(collection.evaluate(scope).members, predicate: predicate, scope: scope))
    case .conditional(let predicate, let yes, let no): return try (predicate.holds(scope) ? yes : no).evaluate(scope)
    case .set(let operation, let left, let right):
      return try Self.set(operation, left: left.evaluate(scope).members, right: right.evaluate(scope).members)
    case .fetch(let fetched, let isCountOnly):
      let objects = try fetched.objects()
      return isCountOnly ? .value(.integer(Int64(objects.count))) : .list(objects.map { .source($0) })
    case .destinations(let mapping, let sources):
      return .list(
        try Self.destinations(sources.evaluate(scope).members, mapping: mapping, scope: scope).map { .destination($0) })
    case .sources(let mapping, let destinations):
      return .list(
        try destinations.evaluate(scope).members.compactMap { member in
          guard case .destination(let object) = member else {
            throw ExpressionDamage("asks for the sources of no object")
          }
          return try scope.manager?.sourceInstance(forEntityMappingNamed: mapping, destination: object).map {
            .source($0)
          }
        })
    }
  }

  private static func column(_ attribute: StoredAttribute, named name: String, _ scope: ExpressionScope) throws
    -> ExpressionValue
  {
    guard let object = scope.destination else { return .null }
    guard let value = attribute.outOfColumn(try object.stored(attribute.position)) else {
      throw scope.source.inFile(name)
    }
    return .value(attribute.type.normalized(value))
  }

  private static func members(
    _ members: [ExpressionValue], predicate: CompiledPredicate, scope: ExpressionScope
  ) throws -> [ExpressionValue] {
    try members.filter { member in
      var inner = scope
      inner.bound.append(member)
      return try predicate.holds(inner)
    }
  }

  /// Policies get objects as their keys.
  private static func policy(_ name: String, arguments: [PolicyArgument], scope: ExpressionScope) throws
    -> ExpressionValue
  {
    guard let policy = scope.policy, let manager = scope.manager else {
      throw BatchError(.missingPolicy, "\(name) is called on a mapping without policy")
    }
    if let typed = policy as? any TypedFunctionPolicy {
      let arguments = try arguments.map { try $0.typed(scope) }
      return .value(try typed.value(ofFunction: name, typed: arguments, manager: MigrationManager(manager)))
    }
    let values = try arguments.map { try $0.value(name, scope) }
    return .value(
      try policy.value(ofFunction: name, arguments: values, source: scope.source, manager: MigrationManager(manager)))
  }

  private static func function(_ name: String, arguments: [CompiledExpression], scope: ExpressionScope) throws
    -> Value
  {
    let values = try arguments.map { try $0.evaluate(scope) }
    switch name {
    case "count:", "sum:", "min:", "max:", "average:":
      // One argument is the collection, several are its members.
      let members = values.count == 1 ? values[0].members : values
      if name == "count:" { return .integer(Int64(members.count)) }
      return try Aggregate.value(
        name == "average:" ? "avg" : String(name.dropLast()), try members.map { try $0.single() })
    case "uppercase:", "lowercase:", "canonical:", "length:": return try TextFunction.apply(name, values[0].single())
    case "castObject:toType:":
      guard case .text(let type) = try values[1].single() else { throw ExpressionDamage("has a cast without type") }
      return try TextFunction.cast(values[0].single(), to: type)
    default:
      return try values.count == 1
        ? Arithmetic.apply(name, values[0].single())
        : Arithmetic.apply(name, to: values[0].single(), values[1].single())
    }
  }

  private static func set(
    _ operation: Expression.SetOperation, left: [ExpressionValue], right: [ExpressionValue]
  ) -> ExpressionValue {
    let others = Set(right.map(\.identity))
    switch operation {
    case .union: return .distinct(left + right)
    case .intersect: return .distinct(left.filter { others.contains($0.identity) })
    case .minus: return .distinct(left.filter { !others.contains($0.identity) })
    }
  }

  private static func destinations(_ members: [ExpressionValue], mapping: String?, scope: ExpressionScope) throws
    -> [DestinationObject]
  {
    guard let manager = scope.manager else { return [] }
    return try members.flatMap { member -> [DestinationObject] in
      guard case .source(let object) = member else {
        throw ExpressionDamage("asks for what became of no source object")
      }
      guard let mapping else { return try manager.destination(of: object).map { [$0] } ?? [] }
      return try manager.destinationInstances(forEntityMappingNamed: mapping, sourceInstances: [object])
    }
  }

  /// The destination objects that the expression of a relationship gives; source objects stand for what became of them.
  func related(_ scope: ExpressionScope) throws -> [DestinationObject] {
    try evaluate(scope).members.compactMap { member in
      switch member {
      case .destination(let object): object
      case .source(let object): try scope.manager?.destination(of: object)
      default: throw ExpressionDamage("gives values where objects belong")
      }
    }
  }
}
