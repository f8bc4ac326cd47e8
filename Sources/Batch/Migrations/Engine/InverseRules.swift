import CoreDataModel
import MappingModels

/// The rules of a step that set a relationship from its other side: a rule of one entity mapping links objects that
/// another one makes.
package struct InverseRules {
  private let model: ManagedObjectModel
  private let mappings: [EntityMapping]

  package init(_ step: MigrationStep) {
    model = step.destination
    mappings = step.mappingModels.flatMap(\.entityMappings).filter { $0.rules != nil && !$0.isSkipped }
  }

  /// What sets a relationship of an entity, in words: the entity mapping and the relationship that it sets. Empty if
  /// nothing does.
  func setting(_ relationship: String, of entity: String) -> [String] {
    mappings.flatMap { mapping in
      Self.written(by: mapping).filter { isInverse($0.relationship, of: $0.entity, to: relationship, of: entity) }
        .map { "\(mapping.name), which sets \($0.entity).\($0.relationship)" }
    }
  }

  /// The relationships that rules of an entity mapping set: of its own object, and of those that it creates.
  private static func written(by mapping: EntityMapping) -> [(entity: String, relationship: String)] {
    guard let rules = mapping.rules, let own = mapping.destinationEntity else { return [] }
    return rules.relationships.map { (own, $0.name) } + rules.objects.compactMap { $0.link.map { (own, $0) } }
      + rules.objects.flatMap { rule in rule.relationships.map { (rule.entity, $0.name) } }
  }

  private func isInverse(_ name: String, of owner: String, to relationship: String, of entity: String) -> Bool {
    guard let set = model.relationship(name, of: owner), set.inverseName == relationship else { return false }
    return model.isKind(entity, of: set.destinationEntity)
  }
}
