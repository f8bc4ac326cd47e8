import CoreDataModel

extension MappingComposition {
  /// Links in join tables of a whole hierarchy lie together. Where a part of it is not mapped, a step refuses that, and
  /// where it goes, a step leaves out links that lead nowhere; one that does not know the part would do neither.
  func checkGone(_ mappings: [EntityMapping], _ step: ComposedStep) throws {
    for entity in latest.model.entities where !entity.isAbstract && step.heirs[entity.name] == nil {
      let isKnown = origins[entity.name] != nil && mappings.contains { $0.removes(entity.name) }
      guard !isKnown, !latest.model.isAlone(entity.name), latest.model.isManyToMany(entity.name) else { continue }
      throw Obstacle(reason: "\(entity.name) is gone, and links of its hierarchy are not")
    }
  }

  /// Whether the step to the latest version carried links of an entity that has some in join tables, and not all of them
  /// as before.
  func movesJoins(_ pair: ComposedStep.Pair) -> Bool {
    guard !pair.keepsLinks, let origin = origins[pair.destination] else { return false }
    return latest.model.isManyToMany(pair.destination) && !origin.relationships.isEmpty
  }

  /// Whether a join table of the latest version has rows of several ones of the first. Rows that were keys are those of
  /// one relationship: ``checkJoined(in:_:)``.
  func mergesJoins() throws -> Bool {
    var sources: [Int: Int] = [:]
    let (old, new) = (try first.layout(), try latest.layout())
    for (entity, origin) in origins {
      for (name, trail) in origin.relationships where !trail.isJoined {
        guard case .join(let table, _) = new.storage(of: name, entity: entity),
          case .join(let source, _) = old.storage(of: trail.name, entity: origin.entity)
        else { continue }
        if let other = sources.updateValue(source, forKey: table), other != source { return true }
      }
    }
    return false
  }

  /// Where keys became rows of a join table, one step writes the same rows, in the same order, and refuses the same only
  /// for two entities that stand alone, and if all that is carried of both sides comes from the two sides of one
  /// relationship.
  func checkJoined(in found: [String: Origin], _ model: ManagedObjectModel) throws {
    for (entity, origin) in found {
      for (name, trail) in origin.relationships where trail.isJoined {
        guard let inverse = model.plainInverse(name, of: entity),
          let target = model.relationship(name, of: entity)?.destinationEntity, let other = found[target],
          let old = first.model.plainInverse(trail.name, of: origin.entity),
          first.model.relationship(trail.name, of: origin.entity)?.destinationEntity == other.entity,
          other.relationships[inverse.name].map({ $0.isJoined && $0.name == old.name }) ?? true
        else { throw Obstacle(reason: "\(entity).\(name) has links that were keys, but not of two entities alone") }
      }
    }
  }
}

extension ManagedObjectModel {
  /// Whether an entity has neither a parent nor sub-entities.
  func isAlone(_ entity: String) -> Bool {
    self.entity(entity)?.superentity == nil && subentities(of: entity).isEmpty
  }

  /// Whether an entity has a many-to-many relationship.
  fileprivate func isManyToMany(_ entity: String) -> Bool {
    relationships(of: entity).contains { $0.isToMany && otherEnd(of: $0)?.isToMany == true }
  }

  /// The inverse of a relationship between two entities that stand alone; nil for any other.
  func plainInverse(_ name: String, of entity: String) -> RelationshipDescription? {
    guard let relationship = relationship(name, of: entity), relationship.destinationEntity != entity, isAlone(entity),
      isAlone(relationship.destinationEntity), let inverse = otherEnd(of: relationship), inverse.inverseName == name
    else { return nil }
    return inverse
  }
}
