import CoreDataModel
import MappingModels

/// Renaming identifiers that find nothing in the version before: what was to be renamed begins empty, and its old values
/// are dropped.
struct RenamingNotes {
  private let step: MigrationStep
  /// Whether no version lies between those of the step.
  private let isNext: Bool
  /// What people wrote.
  private var word: String { step.destination.isOfSwiftData ? "originalName" : "renaming identifier" }

  private init(_ step: MigrationStep, isNext: Bool) { (self.step, self.isNext) = (step, isNext) }

  /// A sentence for each, of steps that are inferred.
  static func list(_ steps: [MigrationStep], in library: ModelLibrary) -> [String] {
    steps.filter { $0.isInferred && !$0.isIdentity }.flatMap { step in
      let places = [step.source, step.destination].map(library.position)
      let isNext = if let from = places[0], let to = places[1] { to == from + 1 } else { false }
      return RenamingNotes(step, isNext: isNext).list()
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
      let mapping = mappings.first(where: { step.destination.isKind($0.destinationEntity ?? "", of: entity.name) }),
      let source = mapping.sourceEntity
    else { return [] }
    let read = Set(
      (mapping.attributeMappings + mapping.relationshipMappings).filter { $0.valueExpression != nil }.map(\.name))
    return attributes.compactMap { attribute in
      guard !read.contains(attribute.name), step.source.attribute(attribute.name, of: source) == nil,
        let identifier = attribute.renamed
      else { return nil }
      return note(
        "\(entity.name).\(attribute.name)", identifier, earlier: step.source.attribute(identifier, of: source)?.renamed)
    }
      + relationships.compactMap { relationship in
        guard !read.contains(relationship.name), step.source.relationship(relationship.name, of: source) == nil,
          let identifier = relationship.renamed
        else { return nil }
        return note(
          "\(entity.name).\(relationship.name)", identifier,
          earlier: step.source.relationship(identifier, of: source)?.renamed)
      }
  }

  /// `earlier` is the identifier of what has that name in the version before.
  private func note(_ path: String, _ identifier: String, earlier: String?) -> String? {
    guard isNext || earlier != nil else { return nil }
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
