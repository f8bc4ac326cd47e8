import CoreDataModel

/// A property as accounts write it: `Entity.property`.
struct PropertyPath {
  let entity: String
  let name: String

  /// Nil for a text without a dot.
  init?(_ text: String) {
    let parts = text.split(separator: ".", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return nil }
    (entity, name) = (parts[0], parts[1])
  }
}

extension ManagedObjectModel {
  /// The nearest ancestor of an entity that declares a relationship; the entity itself if none does.
  func declarer(of relationship: String, entity: String) -> String {
    ancestors(of: entity).first { $0.relationships.contains { $0.name == relationship } }?.name ?? entity
  }

  /// The relationship that is written so.
  func relationship(at path: String) -> RelationshipDescription? {
    PropertyPath(path).flatMap { relationship($0.name, of: $0.entity) }
  }
}
