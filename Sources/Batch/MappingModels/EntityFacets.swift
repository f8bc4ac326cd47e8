import CoreDataModel

/// Facets of entities and of whole models.
extension FacetList {
  /// The hash of an entity holds its parent's, whether the parent is another entity or has itself changed (A.5).
  mutating func compare(_ old: EntityDescription, _ new: EntityDescription, changesParentHash: Bool) {
    add("name", old: old.name, new: new.name, hashed: true)
    add("isAbstract", old: old.isAbstract, new: new.isAbstract, hashed: true)
    if old.superentity == new.superentity {
      add("ancestors", old: false, new: changesParentHash, hashed: true) { _ in nil }
    } else {
      add("superentity", old: old.superentity, new: new.superentity, hashed: changesParentHash) { $0 }
    }
    add("versionHashModifier", old: old.versionHashModifier ?? "", new: new.versionHashModifier ?? "", hashed: true) {
      $0.isEmpty ? nil : $0
    }
    let constraints = [old, new].map { $0.uniquenessConstraints.map { $0.joined(separator: ".") }.sorted() }
    add(
      "uniquenessConstraints", old: old.uniquenessConstraints, new: new.uniquenessConstraints,
      hashed: constraints[0] != constraints[1], text: Self.text)
    add("indexes", old: old.indexes, new: new.indexes, text: Self.text)
    if !isOfSwiftData {
      add("managedObjectClassName", old: old.managedObjectClassName, new: new.managedObjectClassName) { $0 }
      add("compoundIndexes", old: old.compoundIndexes, new: new.compoundIndexes, text: Self.text)
    }
    add("renamingIdentifier", old: old.renamingIdentifier, new: new.renamingIdentifier) { $0 }
    add("codeGenerationType", old: old.codeGenerationType, new: new.codeGenerationType) { $0 }
    add(
      "coreSpotlightDisplayNameExpression", old: old.coreSpotlightDisplayNameExpression,
      new: new.coreSpotlightDisplayNameExpression
    ) { $0 }
    add("isSyncable", old: old.isSyncable, new: new.isSyncable) { $0.map { "\($0)" } }
    addEntries("userInfo", old: old.userInfo, new: new.userInfo)
    addEntries("unknown", old: old.unknown, new: new.unknown)
  }

  /// Changes of a model as a whole.
  static func changes(of old: ManagedObjectModel, to new: ManagedObjectModel) -> [FacetChange] {
    var list = FacetList()
    list.add("versionIdentifiers", old: old.versionIdentifiers, new: new.versionIdentifiers) {
      $0.joined(separator: ", ")
    }
    // SwiftData writes one configuration with all entities into the stores of newer frameworks.
    let ofSwiftData = [old, new].contains(where: \.isOfSwiftData)
    let configurations = [old, new].map { ofSwiftData ? [:] : $0.configurations }
    list.add("configurations", old: configurations[0], new: configurations[1]) { configurations in
      configurations.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.joined(separator: ", "))" }
        .joined(separator: "; ")
    }
    list.add("cloudKitConfigurations", old: old.cloudKitConfigurations, new: new.cloudKitConfigurations) {
      $0.sorted().joined(separator: ", ")
    }
    list.add("fetchRequestTemplates", old: old.fetchRequestTemplates, new: new.fetchRequestTemplates) { templates in
      templates.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value) ?? "")" }.joined(separator: "; ")
    }
    if !ofSwiftData {
      list.add("composites", old: old.composites, new: new.composites) { $0.keys.sorted().joined(separator: ", ") }
    }
    list.add("isUsedWithCloudKit", old: old.isUsedWithCloudKit, new: new.isUsedWithCloudKit)
    list.add("isUsedWithSwiftData", old: old.isOfSwiftData, new: new.isOfSwiftData)
    return list.changes
  }

  private static func text(_ lists: [[String]]) -> String? {
    lists.isEmpty ? nil : lists.map { $0.joined(separator: ", ") }.joined(separator: "; ")
  }

  private static func text(_ indexes: [EntityDescription.FetchIndex]) -> String? {
    guard !indexes.isEmpty else { return nil }
    return indexes.map { index in
      let elements = index.elements.map { element in
        let name = element.expression ?? element.property
        return name + (element.isAscending ? "" : " descending") + (element.type == "Binary" ? "" : " \(element.type)")
      }
      let filter = index.partialPredicate.map { " where \($0)" } ?? ""
      return "\(index.name)(\(elements.joined(separator: ", "))\(filter))"
    }.joined(separator: "; ")
  }
}
