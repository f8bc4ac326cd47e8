/// What tables entities with sub-entities have where a result leaves Core Data.
public enum TableInheritance: String, Sendable, Codable, CaseIterable {
  /// One table for a root entity and all below it, as Core Data has; columns of sub-entities are empty in other rows.
  case root
  /// One table for each entity with the properties that it declares itself; an object has a row in the table of its
  /// entity and in those of all entities above, under the same key.
  case `class`
}
