import CoreDataModel
import Streams

/// Lets an inferred step compute attributes that its destination derives, and its source does not, or in another way
/// (B.8): the derivation is rewritten as an expression over the source's objects.
///
/// Left as they are, and so without a new value: derivations with a filter, of what the step does not carry, and
/// functions that no expression has.
package struct DerivedValues {
  package let source: ManagedObjectModel
  package let destination: ManagedObjectModel
  package let mappings: [EntityMapping]

  package init(source: ManagedObjectModel, destination: ManagedObjectModel, mappings: [EntityMapping]) {
    self.source = source
    self.destination = destination
    self.mappings = mappings
  }

  fileprivate static let operators: Set<String> = ["@count", "@sum", "@min", "@max", "@avg"]

  /// The mappings, with expressions for what is derived.
  package func applied() -> [EntityMapping] {
    let derives = destination.entities.contains { $0.attributes.contains { $0.derivationExpression != nil } }
    return derives ? mappings.map(applied) : mappings
  }

  private func applied(_ mapping: EntityMapping) -> EntityMapping {
    guard let entity = mapping.destinationEntity, let origin = mapping.sourceEntity else { return mapping }
    var mapping = mapping
    for (index, property) in mapping.attributeMappings.enumerated() {
      guard let attribute = destination.attribute(property.name, of: entity), let text = attribute.derivationExpression,
        attribute.derivationFilter?.isEmpty != false,
        property.copiedAttribute.flatMap({ source.attribute($0, of: origin) })?.isDerived(like: attribute) != true,
        let expression = (try? Expression(format: text)).flatMap({ rewritten($0, entity: entity, origin: origin) }),
        Self.isKnown(expression)
      else { continue }
      mapping.attributeMappings[index].valueExpression = expression
    }
    return mapping
  }

  private static func isKnown(_ expression: Expression) -> Bool {
    guard case .function(_, let name, let arguments) = expression else { return true }
    guard let name = FormatFunctions.fullName(name), FormatFunctions.takes(name, arguments.count) else { return false }
    return arguments.allSatisfy(isKnown)
  }

  private func rewritten(_ expression: Expression, entity: String, origin: String) -> Expression? {
    switch expression {
    case .constant, .decimal, .date: return expression
    case .keyPath(.evaluatedObject, let path):
      return translated(path, entity: entity, origin: origin).map { .keyPath(operand: .variable("source"), path: $0) }
    case .function(.none, let name, let arguments):
      if let path = expression.aggregatePath {
        return rewritten(.keyPath(operand: .evaluatedObject, path: path), entity: entity, origin: origin)
      }
      let values = arguments.compactMap { rewritten($0, entity: entity, origin: origin) }
      return values.count == arguments.count ? .function(operand: nil, name: name, arguments: values) : nil
    default: return nil
    }
  }

  /// A key path of the destination's objects as one of the source's.
  private func translated(_ path: [String], entity: String, origin: String) -> [String]? {
    var (entity, origin, found, isValue) = (entity, origin, [String](), false)
    for key in path.operatorBeforeValue {
      guard !isValue else { return nil }
      if key.hasPrefix("@") {
        guard Self.operators.contains(key) else { return nil }
        found.append(key)
        isValue = key == "@count"
      } else if let (name, next) = step(key, entity: entity, origin: origin) {
        found.append(name)
        isValue = next == nil
        if let next { (entity, origin) = next }
      } else {
        return nil
      }
    }
    return isValue ? found : nil
  }

  /// What a key is called in the source, and where it leads to; nil for what the step does not carry.
  private func step(
    _ key: String, entity: String, origin: String
  ) -> (name: String, next: (entity: String, origin: String)?)? {
    let mapping = mappings.first {
      destination.isKind($0.destinationEntity ?? "", of: entity) && source.isKind($0.sourceEntity ?? "", of: origin)
    }
    guard let mapping else { return nil }
    if let property = mapping.attributeMappings.first(where: { $0.name == key }) {
      let isPlain = destination.attribute(key, of: entity).map { $0.derivationExpression == nil } ?? false
      guard isPlain, let name = property.copiedAttribute, source.attribute(name, of: origin) != nil else { return nil }
      return (name, nil)
    }
    guard let property = mapping.relationshipMappings.first(where: { $0.name == key }) else { return nil }
    let name = property.valueExpression == nil ? key : property.valueExpression?.carriedRelationship?.path
    guard let name, let old = source.relationship(name, of: origin),
      let new = destination.relationship(key, of: entity),
      isWhole(old.destinationEntity, new.destinationEntity)
    else { return nil }
    return (name, (new.destinationEntity, old.destinationEntity))
  }

  /// Whether all objects of an entity are carried to another one.
  private func isWhole(_ origin: String, _ entity: String) -> Bool {
    source.entities.allSatisfy { kind in
      kind.isAbstract || !source.isKind(kind.name, of: origin)
        || mappings.contains {
          $0.sourceEntity == kind.name && destination.isKind($0.destinationEntity ?? "", of: entity)
        }
    }
  }
}

extension Expression {
  /// The key path of an aggregate over objects, `kids.@count` or `kids.@sum.age`, however it is written; nil for all
  /// else.
  package var aggregatePath: [String]? {
    switch self {
    case .keyPath(.evaluatedObject, let path):
      return path.contains(where: DerivedValues.operators.contains) ? path.operatorBeforeValue : nil
    case .function(.none, let name, let arguments):
      guard arguments.count == 1, case .keyPath(.evaluatedObject, let path) = arguments[0] else { return nil }
      let aggregate = DerivedValues.operators.first { $0.dropFirst() + ":" == FormatFunctions.fullName(name) ?? "" }
      return aggregate.map { (path + [$0]).operatorBeforeValue }
    default: return nil
    }
  }
}

extension [String] {
  /// kids.age.@sum and kids.@sum.age are the same: the latter.
  fileprivate var operatorBeforeValue: [String] {
    guard let last, last.hasPrefix("@"), last != "@count", count > 2 else { return self }
    var path = self
    path.swapAt(count - 1, count - 2)
    return path
  }
}
