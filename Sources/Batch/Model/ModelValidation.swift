extension ManagedObjectModel {
  /// Checks that the parts of the model fit together.
  ///
  /// Throws one ``BatchError`` with the code `badModel` that names every unknown parent, ring of parents, repeated
  /// name, unknown destination and missing inverse, one to a line.
  public func validate() throws {
    var problems = repeatedEntities()
    for entity in entities {
      problems += parentProblems(entity)
      problems += repeatedProperties(entity)
      for relationship in entity.relationships { problems += problem(of: relationship, in: entity) }
    }
    guard !problems.isEmpty else { return }
    throw BatchError(
      .badModel, "the model \(name) contradicts itself:\n" + problems.joined(separator: "\n"),
      hint: "Correct the model in Xcode")
  }

  private func repeatedEntities() -> [String] {
    zip(entities, entities.dropFirst()).filter { $0.name == $1.name }.map { "two entities are named \($0.0.name)" }
  }

  private func parentProblems(_ entity: EntityDescription) -> [String] {
    guard let parent = entity.superentity else { return [] }
    guard self.entity(parent) != nil else { return ["\(entity.name): the parent \(parent) does not exist"] }
    guard ancestors(of: entity.name).last?.superentity == nil || !isInRing(entity.name) else {
      return ["\(entity.name): the entity is its own ancestor"]
    }
    return []
  }

  private func isInRing(_ name: String) -> Bool {
    var seen: Set<String> = []
    var next = entity(name)?.superentity
    while let parent = next, seen.insert(parent).inserted {
      if parent == name { return true }
      next = entity(parent)?.superentity
    }
    return false
  }

  private func repeatedProperties(_ entity: EntityDescription) -> [String] {
    let own = entity.attributes.map(\.name) + entity.relationships.map(\.name) + entity.fetchedProperties.map(\.name)
    var problems: [String] = []
    var seen: Set<String> = []
    for name in own where !seen.insert(name).inserted {
      problems.append("\(entity.name).\(name): two properties have this name")
    }
    for ancestor in ancestors(of: entity.name) {
      let inherited = ancestor.attributes.map(\.name) + ancestor.relationships.map(\.name)
      for name in inherited where seen.contains(name) {
        problems.append("\(entity.name).\(name): \(ancestor.name) has a property of this name already")
      }
    }
    return problems
  }

  private func problem(of relationship: RelationshipDescription, in entity: EntityDescription) -> [String] {
    let place = "\(entity.name).\(relationship.name)"
    guard self.entity(relationship.destinationEntity) != nil else {
      return ["\(place): the destination \(relationship.destinationEntity) does not exist"]
    }
    guard let inverse = relationship.inverseName,
      self.relationship(inverse, of: relationship.destinationEntity) == nil
    else { return [] }
    return ["\(place): the inverse \(relationship.destinationEntity).\(inverse) does not exist"]
  }
}
