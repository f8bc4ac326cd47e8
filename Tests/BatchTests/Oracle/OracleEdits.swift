import Streams

@testable import CoreDataModel

/// Changes of a model that a mapping model can be inferred for. What inference refuses is left out by the `guard`s.
struct OracleEdits {
  var models: OracleModels
  var model: ManagedObjectModel
  let base: ManagedObjectModel
  /// What was done, for messages.
  var log: [String] = []

  init(_ models: OracleModels, _ model: ManagedObjectModel) {
    (self.models, self.model, base) = (models, model, model)
  }

  /// The next version: one to six changes. Never one whose hashes are those of a version before.
  mutating func version(_ name: String, after versions: [ManagedObjectModel]) -> ManagedObjectModel {
    model.name = name
    for _ in 0..<(1 + models.below(6)) { edit() }
    let hashes = versions.map(\.versionHashes)
    while hashes.contains(model.versionHashes) { addAttribute() }
    return model
  }

  private mutating func edit() {
    let before = model
    let count = log.count
    switch models.below(22) {
    case 0: renameEntity()
    case 1, 2: renameAttribute()
    case 3: renameRelationship()
    case 4: addAttribute()
    case 5: removeAttribute()
    case 6: toggleOptional()
    case 7, 8: changeNumber()
    case 9: toMany()
    case 10: toggleOrder()
    case 11: newParent()
    case 12: newChild()
    case 13: moveAttributeUp()
    case 14: moveAttributeDown()
    case 15: removeEntity()
    case 16: models.addRelationship(in: &model)
    case 17: removeRelationship()
    case 18: changeInverse()
    case 19: makeConcrete()
    case 20: dropIdentifier()
    default: moveRelationshipUp()
    }
    if (try? model.validate()) == nil {
      model = before
      log.removeSubrange(count...)
    }
  }

  mutating func attribute(where isFit: (AttributeDescription) -> Bool = { _ in true })
    -> (entity: String, attribute: AttributeDescription)?
  {
    models.pick(
      model.entities.flatMap { entity in
        entity.attributes.filter { !$0.isTransient && isFit($0) }.map { (entity.name, $0) }
      })
  }

  private mutating func change(_ attribute: String, of entity: String, _ body: (inout AttributeDescription) -> Void) {
    model.change(entity) { description in
      guard let index = description.attributes.firstIndex(where: { $0.name == attribute }) else { return }
      body(&description.attributes[index])
    }
  }

  private mutating func renameEntity() {
    guard let entity = models.pick(model.entities)?.name else { return }
    let name = models.entityName()
    var entities = model.entities
    for index in entities.indices {
      if entities[index].superentity == entity { entities[index].superentity = name }
      for place in entities[index].relationships.indices
      where entities[index].relationships[place].destinationEntity == entity {
        entities[index].relationships[place].destinationEntity = name
      }
      guard entities[index].name == entity else { continue }
      entities[index].renamingIdentifier = entities[index].renamingIdentifier ?? entity
      entities[index].name = name
    }
    model.entities = entities
    log.append("rename \(entity) to \(name)")
  }

  /// A new name, or the names of two attributes exchanged.
  private mutating func renameAttribute() {
    guard let (entity, old) = attribute() else { return }
    let other = model.entity(entity)?.attributes.first {
      $0.type == old.type && $0.name != old.name && !$0.isTransient
        && $0.allowsExternalBinaryDataStorage == old.allowsExternalBinaryDataStorage
    }
    let name = models.random.flag(3) ? other?.name ?? "new\(models.number())" : "new\(models.number())"
    model.change(entity) { description in
      for index in description.attributes.indices {
        let attribute = description.attributes[index]
        guard attribute.name == old.name || attribute.name == name else { continue }
        description.attributes[index].renamingIdentifier = attribute.renamingIdentifier ?? attribute.name
        description.attributes[index].name = attribute.name == old.name ? name : old.name
      }
    }
    log.append("rename \(entity).\(old.name) to \(name)")
  }

  private mutating func addAttribute() {
    guard let entity = models.pick(model.entities)?.name else { return }
    var attribute = models.newAttribute("added\(models.number())")
    // Without a default, objects would lack a required value: seldom, for that must be refused.
    if attribute.defaultValue == nil, !models.random.flag(8) { attribute.isOptional = true }
    model.change(entity) { $0.attributes.append(attribute) }
    log.append("add \(entity).\(attribute.name)")
  }

  private mutating func removeAttribute() {
    guard let (entity, old) = attribute() else { return }
    model.change(entity) { $0.attributes.removeAll { $0.name == old.name } }
    log.append("remove \(entity).\(old.name)")
  }

  private mutating func toggleOptional() {
    guard let (entity, old) = attribute(), !old.isOptional || models.random.flag(3) else { return }
    change(old.name, of: entity) { $0.isOptional.toggle() }
    log.append("toggle optional of \(entity).\(old.name)")
  }

  private mutating func changeNumber() {
    guard let (entity, old) = attribute(where: { OracleValues.numbers.contains($0.type) }) else { return }
    let wide: [AttributeType] = [.integer64, .double, .decimal]
    let type = models.pick(models.random.flag(3) ? OracleValues.numbers : wide) ?? .double
    change(old.name, of: entity) { attribute in
      attribute.type = type
      attribute.defaultValue = nil
    }
    log.append("make \(entity).\(old.name) \(type)")
  }

  /// An abstract entity that becomes a concrete one starts without objects.
  private mutating func makeConcrete() {
    guard let entity = models.pick(model.entities.filter(\.isAbstract))?.name else { return }
    model.change(entity) { $0.isAbstract = false }
    log.append("make \(entity) concrete")
  }

  /// A renaming that is done needs its identifier no more: the name counts then. Not where another one would match it.
  private mutating func dropIdentifier() {
    guard let (entity, old) = attribute(where: { $0.renamingIdentifier != nil }),
      model.entities.filter({ $0.renamed.contains(old.renamingIdentifier ?? "") }).count == 1,
      !model.entities.contains(where: {
        $0.propertyNames.contains(old.renamingIdentifier ?? "") || $0.renamed.contains(old.name)
      }
      ),
      base.attribute(old.name, of: entity)?.renamingIdentifier == old.renamingIdentifier
    else { return }
    change(old.name, of: entity) { $0.renamingIdentifier = nil }
    log.append("drop the identifier of \(entity).\(old.name)")
  }
}
