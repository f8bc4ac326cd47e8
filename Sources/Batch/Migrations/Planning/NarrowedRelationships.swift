import CoreDataModel
import MappingModels

// Relationships that no longer take all of the objects that they led to.
extension AccountLines {
  /// What becomes of links that the destination has no place for.
  var gone: AccountLine.Fate { step.isHistory && step.isInferred ? .dropped : .lost }

  /// Whether a relationship of what a mapping makes may lead to what becomes of the objects of a source entity.
  func admits(_ mapping: EntityMapping, _ name: String, from source: String) -> Bool {
    let entity = mapping.destinationEntity ?? ""
    guard let relationship = step.destination.relationship(name, of: entity) else { return false }
    return takers[source]?.contains {
      step.destination.isKind($0.destinationEntity ?? "", of: relationship.destinationEntity)
    } ?? false
  }

  /// Whether a relationship led to objects that are carried, and that none of these relationships may lead to.
  func isNarrowed(_ relationship: RelationshipDescription, to paths: [String]) -> Bool {
    let admitted = paths.compactMap { step.destination.relationship(at: $0)?.destinationEntity }
    return step.source.entities.contains { entity in
      guard !entity.isAbstract, step.source.isKind(entity.name, of: relationship.destinationEntity),
        let heirs = takers[entity.name]?.filter({ !$0.isSkipped }), !heirs.isEmpty
      else { return false }
      return !heirs.contains { heir in
        admitted.contains { step.destination.isKind(heir.destinationEntity ?? "", of: $0) }
      }
    }
  }
}
