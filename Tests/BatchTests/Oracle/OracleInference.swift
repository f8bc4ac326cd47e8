import Streams

@testable import CoreDataModel
@testable import MappingModels

/// A step as the reference migrator takes it.
struct OracleStep {
  var source: ManagedObjectModel
  var destination: ManagedObjectModel
  /// In the order in which they run.
  var models: [MappingModel]
}

/// The lightweight mapping between two versions, with an expression for everything (E.1, E.2).
struct OracleInference {
  let source: ManagedObjectModel
  let destination: ManagedObjectModel
  private let entities: [String: String]

  init(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) {
    (self.source, self.destination) = (source, destination)
    entities = Self.match(
      source.entities.map { ($0.name, $0.renamingIdentifier) },
      destination.entities.map { ($0.name, $0.renamingIdentifier) })
  }

  /// By destination name, the source that carries the same renaming identifier, else the one of that name that nothing
  /// else continues.
  private static func match(_ old: [(String, String?)], _ new: [(String, String?)]) -> [String: String] {
    var found: [String: String] = [:]
    for (name, identifier) in new {
      let origins = old.filter { ($0.1 ?? $0.0) == (identifier ?? name) }.map(\.0)
      found[name] = origins.contains(name) ? name : origins.first
    }
    for (name, _) in new
    where found[name] == nil && old.contains(where: { $0.0 == name }) && !found.values.contains(name) {
      found[name] = name
    }
    return found
  }

  static func source(_ name: String) -> CoreDataModel.Expression {
    .keyPath(operand: .variable("source"), path: [name])
  }

  static func instances(_ relationship: String) -> CoreDataModel.Expression {
    .function(
      operand: .variable("manager"), name: "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
      arguments: [.constant(.text(relationship)), source(relationship)])
  }

  func mappings() -> [EntityMapping] {
    destination.entities.compactMap { entity in
      guard !entity.isAbstract, let origin = entities[entity.name], source.entity(origin)?.isAbstract == false else {
        return nil
      }
      var mapping = EntityMapping(sourceEntity: origin, destinationEntity: entity.name)
      mapping.attributeMappings = attributes(of: entity.name, from: origin)
      mapping.relationshipMappings = relationships(of: entity.name, from: origin)
      return mapping
    }
  }

  private func attributes(of entity: String, from origin: String) -> [PropertyMapping] {
    let (old, new) = (source.attributes(of: origin), destination.attributes(of: entity))
    let match = Self.match(
      old.filter { !$0.isTransient }.map { ($0.name, $0.renamingIdentifier) },
      new.filter { !$0.isTransient }.map { ($0.name, $0.renamingIdentifier) })
    return new.filter { !$0.isTransient }.map { attribute in
      PropertyMapping(
        name: attribute.name,
        valueExpression: match[attribute.name].map(Self.source) ?? .constant(attribute.defaultValue ?? .null))
    }
  }

  private func relationships(of entity: String, from origin: String) -> [PropertyMapping] {
    let (old, new) = (source.relationships(of: origin), destination.relationships(of: entity))
    let match = Self.match(
      old.map { ($0.name, $0.renamingIdentifier) }, new.map { ($0.name, $0.renamingIdentifier) })
    return new.map { PropertyMapping(name: $0.name, valueExpression: match[$0.name].map(Self.instances)) }
  }

  /// Has an object no value for an attribute that became required, or is new and required without default (E.2, rule
  /// 4)?
  func lacksValues(_ graph: OracleGraph) -> Bool {
    mappings().contains { mapping in
      mapping.attributeMappings.contains { property in
        guard let new = destination.attribute(property.name, of: mapping.destinationEntity ?? ""), !new.isOptional
        else { return false }
        let objects = graph.objects.filter { $0.key.entity == mapping.sourceEntity }
        guard case .keyPath(_, let path) = property.valueExpression else {
          return new.defaultValue == nil && !objects.isEmpty
        }
        guard source.attribute(path[0], of: mapping.sourceEntity ?? "")?.isOptional == true else { return false }
        return objects.values.contains { $0.values[path[0]] ?? .null == .null }
      }
    }
  }
}
