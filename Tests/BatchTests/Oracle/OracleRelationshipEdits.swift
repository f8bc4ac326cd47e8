import Streams

@testable import CoreDataModel

// Changes of hierarchies and of relationships.
extension OracleEdits {
  mutating func renameRelationship() {
    guard let (entity, old) = models.pick(model.declaredRelationships) else { return }
    let (name, inverse) = ("link\(models.number())", model.inverse(of: old))
    model.change(old.name, of: entity) { link in
      link.renamingIdentifier = link.renamingIdentifier ?? link.name
      link.name = name
      if link.inverseName == old.name { link.inverseName = name }
    }
    if let inverse { model.change(inverse.link.name, of: inverse.entity) { $0.inverseName = name } }
    log.append("rename \(entity).\(old.name) to \(name)")
  }

  /// Both ends of a pair become to-many, or the one end of a one-to-one that is left alone. Without inverse it is
  /// refused.
  mutating func toMany() {
    let fit = model.declaredRelationships.filter { !$0.link.isToMany && $0.link.inverseName != nil }
    guard let (entity, old) = models.pick(fit) else { return }
    model.change(old.name, of: entity) { link in
      link.maxCount = 0
      link.isOrdered = link.inverseName != link.name && models.random.flag(2)
    }
    log.append("make \(entity).\(old.name) to-many")
  }

  mutating func toggleOrder() {
    let fit = model.declaredRelationships.filter { $0.link.isToMany && $0.link.inverseName != $0.link.name }
    guard let (entity, old) = models.pick(fit) else { return }
    model.change(old.name, of: entity) { $0.isOrdered.toggle() }
    log.append("toggle order of \(entity).\(old.name)")
  }

  mutating func newParent() {
    guard let entity = models.pick(model.entities) else { return }
    var parent = EntityDescription(name: models.entityName(), superentity: entity.superentity)
    parent.isAbstract = models.random.flag(2)
    model.entities.append(parent)
    model.change(entity.name) { $0.superentity = parent.name }
    let attribute = models.newAttribute("added\(models.number())", .string)
    if models.random.flag(2) { model.change(parent.name) { $0.attributes.append(attribute) } }
    log.append("new parent \(parent.name) of \(entity.name)")
  }

  mutating func newChild() {
    guard let entity = models.pick(model.entities) else { return }
    let child = EntityDescription(name: models.entityName(), superentity: models.random.flag(3) ? nil : entity.name)
    model.entities.append(child)
    models.addAttribute(to: child.name, in: &model)
    log.append("new entity \(child.name)")
  }

  mutating func moveAttributeUp() {
    guard let (entity, old) = attribute(), let parent = model.entity(entity)?.superentity else { return }
    var moved = old
    moved.isOptional = moved.isOptional || moved.defaultValue == nil
    // Two sub-entities' attributes of one name would become one, of two types.
    let isTaken = (model.entities + base.entities).contains {
      $0.name != entity
        && !Set($0.propertyNames + $0.renamed).isDisjoint(with: [old.name, old.renamingIdentifier ?? old.name])
    }
    guard !isTaken else { return }
    model.change(entity) { $0.attributes.removeAll { $0.name == old.name } }
    model.change(parent) { $0.attributes.append(moved) }
    log.append("move \(entity).\(old.name) up to \(parent)")
  }

  mutating func moveAttributeDown() {
    guard let (entity, old) = attribute(), let child = models.pick(model.entities.filter { $0.superentity == entity })
    else { return }
    model.change(entity) { $0.attributes.removeAll { $0.name == old.name } }
    model.change(child.name) { $0.attributes.append(old) }
    log.append("move \(entity).\(old.name) down to \(child.name)")
  }

  /// A leaf. Links of its ancestors' join tables would lead to nothing, which is refused.
  mutating func removeEntity() {
    let ways = model.declaredRelationships
    let fit = model.entities.filter { entity in
      !model.hasChildren(entity.name) && model.entities.count > 2
        && !ways.contains { way in
          way.entity != entity.name && way.link.destinationEntity != entity.name && way.link.isToMany
            && model.inverse(of: way.link)?.link.isToMany == true
            && (model.isKind(entity.name, of: way.entity) || model.isKind(entity.name, of: way.link.destinationEntity))
        }
    }
    guard let entity = models.pick(fit)?.name else { return }
    for (owner, link) in ways where link.destinationEntity == entity || owner == entity {
      if let inverse = model.inverse(of: link) { model.remove(relationship: inverse.link.name, of: inverse.entity) }
      model.remove(relationship: link.name, of: owner)
    }
    model.entities.removeAll { $0.name == entity }
    log.append("remove \(entity)")
  }

  mutating func removeRelationship() {
    guard let (entity, link) = models.pick(model.declaredRelationships) else { return }
    if let inverse = model.inverse(of: link) { model.remove(relationship: inverse.link.name, of: inverse.entity) }
    model.remove(relationship: link.name, of: entity)
    log.append("remove \(entity).\(link.name)")
  }

  /// A to-one loses its to-many inverse, or a relationship without inverse gets one.
  mutating func changeInverse() {
    guard let (entity, link) = models.pick(model.declaredRelationships), link.inverseName != link.name else { return }
    if let inverse = model.inverse(of: link) {
      guard !link.isToMany else { return }
      model.remove(relationship: inverse.link.name, of: inverse.entity)
      model.change(link.name, of: entity) { $0.inverseName = nil }
      log.append("remove the inverse of \(entity).\(link.name)")
    } else {
      var inverse = RelationshipDescription(
        name: "back\(models.number())", destinationEntity: entity, inverseName: link.name,
        maxCount: link.isToMany ? 1 : 0)
      inverse.isOrdered = inverse.isToMany && models.random.flag(2)
      model.change(link.destinationEntity) { $0.relationships.append(inverse) }
      model.change(link.name, of: entity) { $0.inverseName = inverse.name }
      log.append("add the inverse of \(entity).\(link.name)")
    }
  }

  mutating func moveRelationshipUp() {
    guard let (entity, link) = models.pick(model.declaredRelationships), let parent = model.entity(entity)?.superentity,
      model.root(of: link.destinationEntity) != model.root(of: entity)
    else { return }
    let inverse = model.inverse(of: link)
    model.remove(relationship: link.name, of: entity)
    model.change(parent) { $0.relationships.append(link) }
    if let inverse { model.change(inverse.link.name, of: inverse.entity) { $0.destinationEntity = parent } }
    log.append("move \(entity).\(link.name) up to \(parent)")
  }
}
