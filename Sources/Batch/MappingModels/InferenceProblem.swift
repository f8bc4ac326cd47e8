/// Something that forbids an inferred mapping model.
struct InferenceProblem: Equatable {
  enum Kind { case ambiguousEntity, ambiguousProperty, hierarchy, abstract, type, toOne, destination }

  let kind: Kind
  /// Destination entities.
  let entities: [String]
  /// Destination properties of the one entity; an element of a composite with the attribute's name before it.
  let properties: [String]
  let reason: String

  init(_ kind: Kind, entities: [String], properties: [String]?, reason: String) {
    self.kind = kind
    self.entities = entities
    self.properties = properties ?? []
    self.reason = reason
  }

  /// `Entity.property: reason`.
  var description: String {
    let places = properties.isEmpty ? entities : properties.map { "\(entities[0]).\($0)" }
    return "\(places.joined(separator: " and ")): \(reason)"
  }

  /// What would do instead.
  var remedy: String {
    switch kind {
    case .ambiguousEntity: "Give all but one another renaming identifier, or map them with entity mappings of their own"
    case .ambiguousProperty: "Give all but one another renaming identifier, or map them with value expressions"
    case .hierarchy: "Map the entities with a mapping model, whose objects get new keys in the common table"
    case .abstract: "Map its objects to a concrete entity with an entity mapping"
    case .type: "Map the attribute with a value expression or a policy that converts the value"
    case .toOne: "Map the relationship with a rule of a mapping file or a policy that chooses the one object"
    case .destination:
      "Map the relationship with a value expression, and the objects at its other end with entity mappings"
    }
  }
}
