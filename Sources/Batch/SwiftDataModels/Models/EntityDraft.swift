import CoreDataModel

/// An entity whose relationships are not linked yet.
struct EntityDraft {
  let position: Int
  var entity: EntityDescription
  var relationships: [RelationshipDraft] = []
}
