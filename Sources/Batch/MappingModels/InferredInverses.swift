import CoreDataModel

// Both sides of a one-to-one hold a key, and Core Data keeps them equal: who carries one over carries both.
extension Inference {
  /// What a new to-one of a one-to-one comes from: the inverse of the relationship that its own inverse comes from. Nil
  /// where the inverse is new, too, where the old relationship lives on under another name, or where it was a to-many:
  /// then nobody knows which of its objects is meant.
  func origin(ofNew new: RelationshipDescription, entity: String?, _ match: RenamingMatch) -> RelationshipDescription? {
    guard let entity, !new.isToMany, let name = new.inverseName,
      destination.relationship(name, of: new.destinationEntity)?.isToMany == false,
      let owner = entities[new.destinationEntity],
      let old = RenamingMatch(Self.stored(owner, in: source), Self.stored(new.destinationEntity, in: destination))
        .pairs[name].flatMap({ source.relationship($0, of: owner) }), source.isKind(entity, of: old.destinationEntity),
      let back = source.otherEnd(of: old), !back.isTransient,
      !back.isToMany, !match.pairs.values.contains(back.name)
    else { return nil }
    return back
  }

  /// Relationships of an entity that are stored.
  static func stored(_ entity: String, in model: ManagedObjectModel) -> [RelationshipDescription] {
    model.relationships(of: entity).filter { !$0.isTransient }
  }
}

extension RenamingMatch {
  /// Of relationships.
  init(_ old: [RelationshipDescription], _ new: [RelationshipDescription]) {
    func item(_ relationship: RelationshipDescription) -> Item {
      Item(name: relationship.name, identifier: relationship.renamingIdentifier)
    }
    self.init(source: old.map(item), destination: new.map(item))
  }
}
