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
    let mappings = step.mappingModels.flatMap(\.entityMappings)
    let known = Set(mappings.filter { $0.sourceEntity != nil }.compactMap(\.destinationEntity))
    let entities = step.destination.entities.filter { !$0.isAbstract && !known.contains($0.name) }.compactMap {
      note(
        $0.name, identifier: $0.renamingIdentifier, earlier: step.source.entity($0.renamingIdentifier ?? "")?.renamed)
    }
    return entities + mappings.flatMap(properties)
  }

  private func properties(_ mapping: EntityMapping) -> [String] {
    guard let source = mapping.sourceEntity, let entity = mapping.destinationEntity else { return [] }
    let attributes = step.destination.attributes(of: entity).filter { attribute in
      !attribute.isTransient && step.source.attribute(attribute.name, of: source) == nil
        && mapping.attributeMappings.first { $0.name == attribute.name }?.valueExpression == nil
    }
    let relationships = step.destination.relationships(of: entity).filter { relationship in
      !relationship.isTransient && step.source.relationship(relationship.name, of: source) == nil
        && mapping.relationshipMappings.first { $0.name == relationship.name }?.valueExpression == nil
    }
    return attributes.compactMap {
      note(
        "\(entity).\($0.name)", identifier: $0.renamingIdentifier == $0.name ? nil : $0.renamingIdentifier,
        earlier: step.source.attribute($0.renamingIdentifier ?? "", of: source)?.renamed)
    }
      + relationships.compactMap {
        note(
          "\(entity).\($0.name)", identifier: $0.renamingIdentifier == $0.name ? nil : $0.renamingIdentifier,
          earlier: step.source.relationship($0.renamingIdentifier ?? "", of: source)?.renamed)
      }
  }

  /// `earlier` is the identifier of what has that name in the version before.
  private func note(_ path: String, identifier: String?, earlier: String?) -> String? {
    guard let identifier, identifier != path, isNext || earlier != nil else { return nil }
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
