import CoreDataModel
import MappingModels

/// Renaming identifiers that find nothing in the version before: what was to be renamed begins empty, and its old values
/// are dropped.
struct RenamingNotes {
  let step: MigrationStep
  let library: ModelLibrary
  /// Whether no version lies between those of the step.
  private var isNext: Bool {
    guard let from = library.position(of: step.source), let to = library.position(of: step.destination) else {
      return false
    }
    return to == from + 1
  }
  /// What people wrote.
  private var word: String { step.destination.isOfSwiftData ? "originalName" : "renaming identifier" }

  /// A sentence for each, of steps that are inferred.
  static func list(_ steps: [MigrationStep], in library: ModelLibrary) -> [String] {
    steps.filter { $0.isInferred && !$0.isIdentity }.flatMap { step in
      RenamingNotes(step: step, library: library).list()
    }
  }

  private func list() -> [String] {
    let mappings = step.mappingModels.flatMap(\.entityMappings).filter { $0.sourceEntity != nil }
    let known = Set(mappings.compactMap(\.destinationEntity))
    return step.destination.entities.flatMap { entity -> [String] in
      let isNew = !entity.isAbstract && !known.contains(entity.name)
      let own = isNew ? entity.renamed.flatMap { note(entity.name, $0, earlier: step.source.entity($0)?.renamed) } : nil
      return [own].compactMap { $0 } + properties(of: entity, mappings)
    }
  }

  /// Of the properties that an entity declares; most have no identifier of their own.
  private func properties(of entity: EntityDescription, _ mappings: [EntityMapping]) -> [String] {
    let attributes = entity.attributes.filter { !$0.isTransient && $0.renamed != nil }
    let relationships = entity.relationships.filter { !$0.isTransient && $0.renamed != nil }
    guard !attributes.isEmpty || !relationships.isEmpty,
      case let heirs = mappings.filter({ step.destination.isKind($0.destinationEntity ?? "", of: entity.name) }),
      let source = heirs.first?.sourceEntity
    else { return [] }
    let read = Set(
      heirs.flatMap { $0.attributeMappings + $0.relationshipMappings }.filter { $0.valueExpression != nil }.map(\.name))
    func note<Property>(
      _ name: String, _ identifier: String?, earlier: (String) -> Property?, renamed: (Property) -> String?
    ) -> String? {
      guard let identifier, !read.contains(name), earlier(name) == nil else { return nil }
      return self.note("\(entity.name).\(name)", identifier, earlier: earlier(identifier).flatMap(renamed))
    }
    return attributes.compactMap {
      note($0.name, $0.renamed, earlier: { step.source.attribute($0, of: source) }, renamed: \.renamed)
    }
      + relationships.compactMap {
        note($0.name, $0.renamed, earlier: { step.source.relationship($0, of: source) }, renamed: \.renamed)
      }
  }

  /// `earlier` is the identifier of what has that name in the version before.
  private func note(_ path: String, _ identifier: String, earlier: String?) -> String? {
    guard earlier != nil || isNext else { return nil }
    let start = "\(path) has the \(word) \(identifier), which nothing in \(step.source.name) has: it begins empty"
    return earlier.map { "\(start). What is named \(identifier) there has \($0): give it that to take its values over" }
      ?? start
  }
}

extension EntityDescription {
  fileprivate var renamed: String? { renamingIdentifier == name ? nil : renamingIdentifier }
}

extension AttributeDescription {
  fileprivate var renamed: String? { renamingIdentifier == name ? nil : renamingIdentifier }
}

extension RelationshipDescription {
  fileprivate var renamed: String? { renamingIdentifier == name ? nil : renamingIdentifier }
}
