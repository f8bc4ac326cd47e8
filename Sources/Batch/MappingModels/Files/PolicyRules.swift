import CoreDataModel

/// Rules of a mapping file that may stand for a policy, as far as the mapping model shows what the policy has to do:
/// objects and values that nothing else gives.
struct PolicyRules {
  private static let standIn = "VALUE"

  let mapping: EntityMapping
  /// The whole mapping model.
  let model: MappingModel
  /// The versions, as far as they are known.
  let source: ManagedObjectModel?
  let destination: ManagedObjectModel?

  /// Lines for a comment; empty without a policy.
  var lines: [String] {
    guard let policy = mapping.policyClassName, mapping.sourceEntity != nil, mapping.destinationEntity != nil else {
      return []
    }
    let rules = objects + values
    let left = [
      "  filter: \(Self.standIn)   # if it leaves objects out",
      "  attributes: { NAME: \(Self.standIn) }   # if it changes values",
    ]
    return ["\(policy) is code. Rules stand for it if they do what it does; then leave policy out:"]
      + (rules.isEmpty ? left : rules.map { "  " + $0 })
      + ["Otherwise register it in Swift: docs/manual/policies.md"]
  }

  /// Objects of entities that have no source: those that a relationship without a source leads to, and others.
  private var objects: [String] {
    let links = linked
    let others = model.entityMappings.filter { $0.sourceEntity == nil }.compactMap(\.destinationEntity)
      .filter { entity in !links.contains { $0.entity == entity } }
    let rules =
      links.map { link in
        "{ findOrCreate: \(quoted(link.entity)), by: { \(key(of: link.entity)) }, link: \(quoted(link.relationship)) }"
      } + others.map { "{ create: \(quoted($0)), attributes: { \(key(of: $0)) } }" }
    return rules.isEmpty ? [] : ["objects: [\(rules.joined(separator: ", "))]"]
  }

  /// Relationships by default that the source does not have, to entities that have no source.
  private var linked: [(relationship: String, entity: String)] {
    let sources = Set(model.entityMappings.filter { $0.sourceEntity != nil }.compactMap(\.destinationEntity))
    return mapping.relationshipMappings.compactMap { property in
      guard property.valueExpression == nil, source != nil, !mapping.hasSource(property.name, in: source),
        let found = destination?.relationship(property.name, of: mapping.destinationEntity ?? ""),
        !sources.contains(found.destinationEntity)
      else { return nil }
      return (property.name, found.destinationEntity)
    }
  }

  /// Attributes by default that the source does not have, and values that the policy's own functions give.
  private var values: [String] {
    let missing = mapping.attributeMappings.filter { property in
      guard let expression = property.valueExpression else {
        return source != nil && !mapping.hasSource(property.name, in: source)
      }
      return expression.description.contains("$entityPolicy")
    }
    guard !missing.isEmpty else { return [] }
    let pairs = missing.map { "\(quoted($0.name)): \(value(for: $0.name, of: mapping.destinationEntity ?? ""))" }
    return ["attributes: { \(pairs.joined(separator: ", ")) }"]
  }

  /// What tells objects of an entity apart: its first text, from a text of the source that goes nowhere else.
  private func key(of entity: String) -> String {
    let attributes = destination?.attributes(of: entity) ?? []
    let key = attributes.first { $0.type == .string } ?? attributes.first
    return key.map { "\(quoted($0.name)): \(value(for: $0.name, of: entity))" } ?? "NAME: \(Self.standIn)"
  }

  /// An attribute of the source with that name, or else one of that type that goes nowhere else.
  private func value(for attribute: String, of entity: String) -> String {
    guard let source, let from = mapping.sourceEntity else { return Self.standIn }
    let wanted = destination?.attributes(of: entity).first { $0.name == attribute }?.type
    let all = source.attributes(of: from)
    let used = mapping.sourceProperties
    let found = all.first { $0.name == attribute } ?? all.first { $0.type == wanted && !used.contains($0.name) }
    return found.map { "$source.\($0.name)" } ?? Self.standIn
  }

  private func quoted(_ text: String) -> String { MappingFileWriter.quoted(text) }
}

extension EntityMapping {
  /// Names of the source's properties that mappings read by their names, or as they are.
  var sourceProperties: Set<String> {
    Set((attributeMappings + relationshipMappings).flatMap(\.sourceProperties))
  }
}

extension PropertyMapping {
  /// Names of the source's properties that it reads, as far as they are plain.
  var sourceProperties: [String] {
    switch valueExpression {
    case nil: [name]
    case .keyPath(.variable("source"), let path)?: Array(path.prefix(1))
    case .function(_, _, let arguments)?:
      arguments.flatMap { PropertyMapping(name: "", valueExpression: $0).sourceProperties }
    default: []
    }
  }
}
