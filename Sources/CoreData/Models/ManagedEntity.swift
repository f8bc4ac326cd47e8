import CoreDataModel
import Migrations

/// An entity of one side of a step, with what objects of it have.
final class ManagedEntity {
  /// Of which model it is.
  enum Side { case source, destination }

  /// What a key of an object stands for.
  final class Property: Sendable {
    enum Kind: Sendable {
      case attribute(StoredAttribute)
      case relationship(StoredRelationship, isToMany: Bool)
      /// Has no column: nil until it is set, and then forgotten with the object.
      case transient
    }
    let name: String
    let kind: Kind

    init(_ name: String, _ kind: Kind) { (self.name, self.kind) = (name, kind) }
  }

  let side: Side
  let name: String
  /// Z_ENT; 0 for an entity that the model does not have, whose objects hold nothing.
  let number: Int
  /// Which table its objects are in.
  private let table: Int
  let destination: DestinationEntity?
  let properties: NameTable<Property>
  let model: ManagedObjectModel
  /// The names of all attributes that have a column.
  let attributeNames: [String]
  private var described: NSEntityDescription?

  init(_ entity: SourceEntity, _ model: ManagedObjectModel) {
    (side, destination, self.model) = (.source, nil, model)
    (name, number, table) = (entity.name, entity.number, entity.table)
    (properties, attributeNames) = Self.properties(
      name, model, attributes: entity.attributes, links: entity.relationships)
  }

  init(_ entity: DestinationEntity, _ model: ManagedObjectModel) {
    (side, destination, self.model) = (.destination, entity, model)
    (name, number, table) = (entity.name, entity.number, entity.table)
    (properties, attributeNames) = Self.properties(
      name, model, attributes: entity.attributes, links: entity.relationships)
  }

  /// An entity that is not there.
  init(missing name: String, side: Side, model: ManagedObjectModel) {
    (self.side, self.name, self.model) = (side, name, model)
    (number, table, destination, properties, attributeNames) = (0, -1, nil, NameTable([:]), [])
  }

  private static func properties(
    _ entity: String, _ model: ManagedObjectModel, attributes: NameTable<StoredAttribute>,
    links: NameTable<StoredRelationship>
  ) -> (NameTable<Property>, [String]) {
    var found: [String: Property] = [:]
    for attribute in model.attributes(of: entity) where attribute.isTransient {
      found[attribute.name] = Property(attribute.name, .transient)
    }
    for name in attributes.names {
      if let attribute = attributes[name] { found[name] = Property(name, .attribute(attribute)) }
    }
    for relationship in model.relationships(of: entity) {
      guard let link = links[relationship.name] else { continue }
      found[relationship.name] = Property(
        relationship.name, .relationship(link, isToMany: relationship.isToMany))
    }
    return (NameTable(found), attributes.names)
  }

  /// Whether objects of both are in one table, and so known by one row of keys.
  func isSameTable(_ other: ManagedEntity) -> Bool { side == other.side && table == other.table }

  /// Whether it is that entity, or a sub-entity of it.
  func isKind(of other: ManagedEntity) -> Bool { side == other.side && model.isKind(name, of: other.name) }

  func description(in session: MigrationSession) -> NSEntityDescription {
    if let described { return described }
    let made = NSEntityDescription(self, session)
    described = made
    return made
  }

  /// Breaks the circle with the description.
  func forget() { described = nil }
}
