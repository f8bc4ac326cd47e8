import Streams

/// A value expression that was understood when the plan was made; evaluated once a row.
indirect enum CompiledExpression {
  case constant(Value)
  /// Attributes and to-one relationships of the source: `$source.country.name`.
  case sourcePath([String])
  /// `FUNCTION($entityPolicy, "name:", …)`.
  case policy(name: String, arguments: [CompiledExpression])

  /// Understands an expression of an attribute mapping. Throws `badMapping`, naming what is not understood.
  init(_ expression: Expression, mapping: EntityMapping, property: String, now: Double) throws {
    switch expression {
    case .constant(let value): self = .constant(value)
    case .keyPath(.variable("source"), let path): self = .sourcePath(path)
    case .function(nil, let name, let arguments) where name.hasPrefix("now") && arguments.isEmpty:
      self = .constant(.real(now))
    case .function(.some(.variable("entityPolicy")), let name, let arguments):
      let compiled = try arguments.map { try CompiledExpression($0, mapping: mapping, property: property, now: now) }
      self = .policy(name: name, arguments: compiled)
    default:
      throw BatchError(
        .badMapping, "the value expression of \(mapping.name).\(property) is not supported: \(expression)",
        hint: "Set the value in a policy", entity: mapping.destinationEntity)
    }
  }

  func evaluate(_ source: SourceObject, _ policy: (any EntityMigrationPolicy)?, _ manager: MigrationManager) throws -> Value {
    switch self {
    case .constant(let value): return value
    case .sourcePath(let path):
      var object: SourceObject? = source
      for name in path.dropLast() { object = try object?.object(name) }
      guard let object, let last = path.last else { return .null }
      return try object.value(last)
    case .policy(let name, let arguments):
      guard let policy else { throw BatchError(.missingPolicy, "\(name) is called on a mapping without policy") }
      let values = try arguments.map { try $0.evaluate(source, policy, manager) }
      return try policy.value(ofFunction: name, arguments: values, source: source, manager: manager)
    }
  }
}
