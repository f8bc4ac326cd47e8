@testable import CoreDataModel

/// Compares a version in XML with the same version compiled.
///
/// What a compiled model cannot say is left out by ``CompiledCorpus/archivable(_:)``. Two things it says in other
/// words: the class of an entity carries its module, or is missing where the program that wrote the archive had no such
/// class; and an index on one property may be a flag of the property or an index of its own, whatever the XML has.
struct CompiledComparison {
  let xml: ManagedObjectModel
  let compiled: ManagedObjectModel

  init(xml: ManagedObjectModel, compiled: ManagedObjectModel) {
    self.xml = CompiledCorpus.archivable(xml)
    self.compiled = compiled
  }

  func differences() -> [String] {
    var found: [String] = []
    if xml.versionIdentifiers != compiled.versionIdentifiers { found.append("version identifiers") }
    if xml.configurations != compiled.configurations { found.append("configurations") }
    if xml.fetchRequestTemplates != compiled.fetchRequestTemplates { found.append("fetch requests") }
    if xml.entities.map(\.name) != compiled.entities.map(\.name) { found.append("entities") }
    for (left, right) in zip(xml.entities, compiled.entities) {
      if !Self.isSameClass(left.managedObjectClassName, right.managedObjectClassName) {
        found.append("\(left.name): class")
      }
      if indexes(left, xml) != indexes(right, compiled) { found.append("\(left.name): indexes") }
      found += properties(left, right)
      if bare(left) != bare(right) { found.append("\(left.name): other") }
    }
    return found
  }

  private static func isSameClass(_ xml: String?, _ compiled: String?) -> Bool {
    guard let compiled else { return true }
    guard let xml else { return compiled == "NSManagedObject" }
    return compiled == xml || xml.hasPrefix(".") && compiled.hasSuffix(xml)
  }

  /// Lists of the indexed properties, whichever way the model says it; inherited flags as well.
  private func indexes(_ entity: EntityDescription, _ model: ManagedObjectModel) -> Set<[String]> {
    let flags = model.attributes(of: entity.name).filter(\.isIndexed).map { [$0.name] }
    let owners = [entity] + model.ancestors(of: entity.name)
    return Set(flags + owners.flatMap { $0.compoundIndexes + $0.indexes.map { $0.elements.map(\.property) } })
  }

  private func properties(_ left: EntityDescription, _ right: EntityDescription) -> [String] {
    var found: [String] = []
    for (a, b) in zip(left.attributes, right.attributes) {
      var (a, b) = (a, b)
      (a.isIndexed, b.isIndexed) = (false, false)
      if a.defaultValue != b.defaultValue { found.append("\(left.name).\(a.name): default") }
      (a.defaultValue, b.defaultValue) = (nil, nil)
      if a != b { found.append("\(left.name).\(a.name)") }
    }
    for (a, b) in zip(left.relationships, right.relationships) where a != b { found.append("\(left.name).\(a.name)") }
    return found
  }

  private func bare(_ entity: EntityDescription) -> EntityDescription {
    var entity = entity
    entity.attributes = entity.attributes.map { AttributeDescription(name: $0.name, type: $0.type) }
    entity.relationships = []
    entity.managedObjectClassName = nil
    (entity.indexes, entity.compoundIndexes) = ([], [])
    return entity
  }
}
