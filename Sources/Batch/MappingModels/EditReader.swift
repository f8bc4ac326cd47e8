import CoreDataModel

/// Says what somebody did who made one model of another.
struct EditReader {
  let source: ManagedObjectModel
  let destination: ManagedObjectModel

  func edits() -> [ModelEdit] {
    ModelDifference(from: source, to: destination).entities.filter(\.changesVersionHash).flatMap(edits)
  }

  private func edits(_ entity: EntityDifference) -> [ModelEdit] {
    let name = entity.destination ?? entity.source ?? ""
    switch entity.kind {
    case .added: return [ModelEdit(entity: name, text: "was added")]
    case .removed: return [ModelEdit(entity: name, text: "was removed")]
    case .renamed, .moved, .changed: break
    }
    // What a parent's change does to its children is the parent's.
    let own = entity.changes.filter { $0.changesVersionHash && $0.facet != "ancestors" }
    var properties = entity.properties.filter(\.changesVersionHash)
    let renamed = renamed(&properties, of: entity)
    return own.map { change in
      ModelEdit(entity: name, text: change.facet == "name" ? "was renamed from \(change.old ?? "")" : Self.text(change))
    }
      + renamed.map { ModelEdit(entity: name, property: $0, text: "was renamed to \($1)") }
      + properties.flatMap { edits($0, of: entity, named: name) }
  }

  /// The one property that went and the one that came, if they are equal otherwise: somebody gave it another name.
  private func renamed(_ properties: inout [PropertyDifference], of entity: EntityDifference) -> [(String, String)] {
    let (gone, new) = (properties.filter { $0.kind == .removed }, properties.filter { $0.kind == .added })
    guard gone.count == 1, new.count == 1, let from = gone[0].source, let to = new[0].destination,
      let old = entity.source.flatMap(source.entity), let other = entity.destination.flatMap(destination.entity),
      Self.isSame(from, of: old, to, of: other)
    else { return [] }
    properties.removeAll { [.removed, .added].contains($0.kind) }
    return [(from, to)]
  }

  private static func isSame(_ from: String, of old: EntityDescription, _ to: String, of new: EntityDescription) -> Bool
  {
    if let one = old.attributes.first(where: { $0.name == from }),
      let other = new.attributes.first(where: { $0.name == to })
    {
      return one.type == other.type && one.isOptional == other.isOptional
    }
    guard let one = old.relationships.first(where: { $0.name == from }),
      let other = new.relationships.first(where: { $0.name == to })
    else { return false }
    return one.destinationEntity == other.destinationEntity && one.maxCount == other.maxCount
  }

  private func edits(_ property: PropertyDifference, of entity: EntityDifference, named name: String) -> [ModelEdit] {
    let (old, new) = (property.source ?? "", property.destination ?? "")
    func edit(_ text: String, of property: String) -> ModelEdit {
      ModelEdit(entity: name, property: property, text: text)
    }
    switch property.kind {
    case .added: return [edit("was added\(what(new, entity))", of: new)]
    case .removed: return [edit("was removed", of: old)]
    case .moved: return [ModelEdit(entity: name, property: nil, text: "got \(new), which was \(old)")]
    case .renamed, .changed: break
    }
    return property.changes.filter(\.changesVersionHash).map {
      edit($0.facet == "name" ? "was renamed to \(new)" : Self.text($0), of: old)
    }
  }

  /// ` (string, optional)`, of an attribute.
  private func what(_ name: String, _ entity: EntityDifference) -> String {
    let found = entity.destination.flatMap(destination.entity)?.attributes.first { $0.name == name }
    return found.map { " (\($0.type)\($0.isOptional ? ", optional" : ""))" } ?? ""
  }

  private static func text(_ change: FacetChange) -> String {
    let isTrue = change.new == "true"
    switch change.facet {
    case "isOptional": return isTrue ? "became optional" : "became required"
    case "isOrdered": return isTrue ? "became ordered" : "became unordered"
    case "isTransient": return isTrue ? "became transient" : "became persistent"
    case "isAbstract": return isTrue ? "became abstract" : "became concrete"
    case "allowsExternalBinaryDataStorage":
      return isTrue ? "got external storage" : "lost external storage"
    case "preservesValueInHistoryOnDeletion":
      return isTrue ? "is kept in the history on deletion now" : "is no longer kept in the history on deletion"
    case "maxCount" where change.old == "1": return "became to-many"
    case "maxCount" where change.new == "1": return "became to-one"
    default: return instead(change, what: phrases[change.facet] ?? change.facet)
    }
  }

  private static let phrases = [
    "type": "the type", "destinationEntity": "the destination", "inverseName": "the inverse",
    "superentity": "the parent", "uniquenessConstraints": "the uniqueness constraints", "elements": "the elements",
    "versionHashModifier": "the hash modifier",
  ]

  private static func instead(_ change: FacetChange, what: String) -> String {
    switch (change.old, change.new) {
    case (let old?, let new?): "has \(what) \(new) instead of \(old)"
    case (let old?, nil): "lost \(what) \(old)"
    case (nil, let new?): "got \(what) \(new)"
    case (nil, nil): "changed in \(what)"
    }
  }
}
