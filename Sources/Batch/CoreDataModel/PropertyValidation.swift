/// Problems of single properties, indexes and constraints.
extension ModelCheck {
  /// Methods of NSObject and NSManagedObject without parameters: Core Data rejects properties of these names.
  private static let reserved: Set<String> = [
    "autorelease", "class", "classForCoder", "copy", "dealloc", "debugDescription", "description", "entity", "finalize",
    "hasChanges", "hasFault", "hash", "init", "isDeleted", "isFault", "isInserted", "isProxy", "isUpdated",
    "managedObjectContext", "mutableCopy", "objectID", "observationInfo", "release", "retain", "retainCount", "self",
    "superclass", "zone",
  ]

  func nameProblems(_ entity: EntityDescription) -> [ModelProblem] {
    var found: [ModelProblem] = []
    if entity.name.isEmpty { found.append(error(nil, property: nil, message: "an entity has no name")) }
    if !entity.name.isEmpty, !Self.isIdentifier(entity.name) {
      found.append(warning(entity.name, property: nil, message: "the name is no identifier"))
    }
    for name in entity.propertyNames {
      if name.isEmpty {
        found.append(error(entity.name, property: nil, message: "a property has no name"))
      } else if Self.reserved.contains(name) {
        found.append(warning(entity.name, property: name, message: "Core Data reserves this name"))
      } else if !Self.isIdentifier(name) {
        found.append(warning(entity.name, property: name, message: "the name is no identifier"))
      }
    }
    return found
  }

  /// Letters, digits and underscores, no digit first.
  private static func isIdentifier(_ name: String) -> Bool {
    // Nearly all names are ASCII letters; Unicode's tables are slow.
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    if !name.isEmpty, name.utf8.allSatisfy({ letters.contains($0 | 0x20) }) { return true }
    guard let first = name.unicodeScalars.first, first == "_" || first.properties.isXIDStart else { return false }
    return name.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }
  }

  func problems(of attribute: AttributeDescription, in entity: EntityDescription) -> [ModelProblem] {
    var found: [ModelProblem] = []
    // What is derived or transient may leave its type open.
    if !attribute.isTransient, attribute.derivationExpression == nil, [.undefined, .objectID].contains(attribute.type) {
      found.append(error(entity.name, property: attribute.name, message: "the type \(attribute.type) cannot be stored"))
    }
    if attribute.type == .composite {
      if attribute.elements.isEmpty {
        found.append(error(entity.name, property: attribute.name, message: "the composite has no elements"))
      }
      for element in attribute.elements {
        var owner = EntityDescription(name: "\(entity.name).\(attribute.name)")
        owner.attributes = [element]
        found += problems(of: element, in: owner)
      }
      for name in Self.repeated(attribute.elements.map(\.name)) {
        found.append(error(entity.name, property: attribute.name, message: "two elements are named \(name)"))
      }
    }
    if attribute.derivationExpression == nil, attribute.derivationFilter != nil {
      found.append(
        warning(entity.name, property: attribute.name, message: "it has a derivation filter, but is not derived"))
    }
    return found
  }

  func problems(of relationship: RelationshipDescription, in entity: EntityDescription) -> [ModelProblem] {
    let (name, destination) = (relationship.name, relationship.destinationEntity)
    var found: [ModelProblem] = []
    if relationship.maxCount > 0, relationship.minCount > relationship.maxCount {
      found.append(
        error(
          entity.name, property: name,
          message: "at least \(relationship.minCount) objects are wanted, but at most \(relationship.maxCount) allowed")
      )
    }
    if relationship.isOrdered, !relationship.isToMany {
      found.append(warning(entity.name, property: name, message: "a to-one relationship is marked as ordered"))
    }
    guard model.entity(destination) != nil else {
      return found + [error(entity.name, property: name, message: "the destination \(destination) does not exist")]
    }
    guard let inverse = relationship.inverseName else { return found }
    guard let back = model.relationship(inverse, of: destination) else {
      return found + [
        error(entity.name, property: name, message: "the inverse \(destination).\(inverse) does not exist")
      ]
    }
    return found + inverseProblems(relationship, entity: entity, back: back)
  }

  /// An inverse must name the relationship again and lead to its entity.
  private func inverseProblems(
    _ relationship: RelationshipDescription, entity: EntityDescription, back: RelationshipDescription
  ) -> [ModelProblem] {
    let place = "\(relationship.destinationEntity).\(back.name)"
    if back.inverseName != relationship.name {
      let named = back.inverseName.map { "names \($0) as its inverse" } ?? "names no inverse"
      return [warning(entity.name, property: relationship.name, message: "the inverse \(place) \(named)")]
    }
    // The inverse may lead to an ancestor that declares the relationship, or to a descendant that inherits it.
    let target = back.destinationEntity
    guard !model.isKind(target, of: entity.name), !model.isKind(entity.name, of: target) else { return [] }
    return [warning(entity.name, property: relationship.name, message: "the inverse \(place) leads to \(target)")]
  }

  /// What an index or constraint names: an attribute or to-one with a column, something without, or nothing.
  private enum Named { case stored, notStored(String), unknown }

  private func named(_ path: String, in entity: EntityDescription) -> Named {
    let keys = path.split(separator: ".").map(String.init)
    guard let first = keys.first else { return .unknown }
    if let attribute = model.attribute(first, of: entity.name) {
      if attribute.isTransient { return .notStored("transient") }
      var elements = attribute.elements
      for key in keys.dropFirst() {
        guard let element = elements.first(where: { $0.name == key }) else { return .unknown }
        elements = element.elements
      }
      return .stored
    }
    if let relationship = model.relationship(first, of: entity.name) {
      if relationship.isTransient { return .notStored("transient") }
      return relationship.isToMany ? .notStored("to-many") : .stored
    }
    let owners = [entity] + model.ancestors(of: entity.name)
    return owners.contains { $0.fetchedProperties.contains { $0.name == first } } ? .notStored("fetched") : .unknown
  }

  func indexProblems(_ entity: EntityDescription) -> [ModelProblem] {
    let old = entity.compoundIndexes.map { (name: $0.joined(separator: ", "), properties: $0, isOld: true) }
    let new = entity.indexes.map { (name: $0.name, properties: $0.elements.map(\.property), isOld: false) }
    var found: [ModelProblem] = []
    for index in old + new {
      for property in index.properties where !property.isEmpty {
        switch named(property, in: entity) {
        case .stored: break
        case .unknown where !index.isOld && property == EntityDescription.FetchIndex.object: break
        case .notStored(let kind):
          found.append(
            warning(
              entity.name, property: nil, message: "the index \(index.name) is over the \(kind) property \(property)"))
        case .unknown:
          found.append(
            error(entity.name, property: nil, message: "the index \(index.name) names the unknown property \(property)")
          )
        }
      }
    }
    // The same index twice is one index: Core Data itself has written models like that into stores.
    let ambiguous = Dictionary(grouping: entity.indexes, by: \.name).filter { _, same in same.contains { $0 != same[0] }
    }
    for name in ambiguous.keys.sorted() {
      found.append(error(entity.name, property: nil, message: "two indexes are named \(name)"))
    }
    return found
  }

  func constraintProblems(_ entity: EntityDescription) -> [ModelProblem] {
    var found: [ModelProblem] = []
    for constraint in entity.uniquenessConstraints {
      let what = "the uniqueness constraint \(constraint.joined(separator: ", "))"
      if constraint.isEmpty {
        found.append(error(entity.name, property: nil, message: "a uniqueness constraint names no property"))
      }
      for property in constraint {
        switch named(property, in: entity) {
        case .stored: break
        case .notStored(let kind):
          found.append(error(entity.name, property: nil, message: "\(what) names the \(kind) property \(property)"))
        case .unknown:
          found.append(error(entity.name, property: nil, message: "\(what) names the unknown property \(property)"))
        }
      }
    }
    return found
  }
}
