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
  /// The relationship that is written so.
  func relationship(at path: String) -> RelationshipDescription? {
    PropertyPath(path).flatMap { relationship($0.name, of: $0.entity) }
  }
}
