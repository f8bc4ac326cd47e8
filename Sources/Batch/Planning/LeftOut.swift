/// What a step has no place for: objects, attributes and relationships of its source that no mapping takes along.
struct LeftOut {
  /// Entities whose objects go, and properties of those that stay.
  private(set) var losses: [Loss] = []
  private let step: MigrationStep
  private let mappings: [EntityMapping]
  /// Entities whose objects have a place.
  private let carried: Set<String>

  /// Looks at a step. Nothing is counted.
  init(_ step: MigrationStep) {
    self.step = step
    mappings = step.mappingModels.flatMap(\.entityMappings).filter { $0.sourceEntity != nil && $0.destinationEntity != nil }
    carried = Set(mappings.compactMap(\.sourceEntity))
    losses = step.source.entities.filter { !$0.isAbstract && !carried.contains($0.name) }.map { Loss($0.name) }
    for mapping in mappings { losses += attributes(mapping) + relationships(mapping) }
  }

  /// One note for each inferred step that leaves something out: Core Data drops it without a word, a plan says it.
  static func notes(_ steps: [MigrationStep]) -> [String] {
    steps.filter(\.isInferred).compactMap { step in
      let names = LeftOut(step).losses.map(\.name)
      guard !names.isEmpty else { return nil }
      return "the inferred step \(step.source.name) to \(step.destination.name) leaves out \(names.joined(separator: ", "))"
    }
  }

  private func attributes(_ mapping: EntityMapping) -> [Loss] {
    let source = mapping.sourceEntity ?? ""
    let read = Set(mapping.attributeMappings.map(sourceName))
    return step.source.attributes(of: source).filter { !$0.isTransient && !read.contains($0.name) }.map { Loss(source, $0.name) }
  }

  private func sourceName(_ property: PropertyMapping) -> String {
    switch property.valueExpression {
    case nil: property.name
    // Of a composite, the element is named with it.
    case .keyPath(.variable("source"), let path): path.first?.split(separator: ".").first.map(String.init) ?? property.name
    default: ""
    }
  }

  /// Links that neither side takes along; of two sides the one with the key is named, or the first.
  private func relationships(_ mapping: EntityMapping) -> [Loss] {
    let source = mapping.sourceEntity ?? ""
    return step.source.relationships(of: source).filter { relationship in
      guard !relationship.isTransient, !takes(mapping, relationship.name) else { return false }
      let (other, inverse) = (relationship.destinationEntity, relationship.inverseName)
      guard let inverse, let back = step.source.relationships(of: other).first(where: { $0.name == inverse }) else { return true }
      // Links to objects that go are lost from both sides, and are told with these objects.
      let ends = mappings.filter { step.source.isKind($0.sourceEntity ?? "", of: other) }
      guard !ends.isEmpty else { return false }
      if ends.contains(where: { takes($0, inverse) }) { return false }
      guard relationship.isToMany == back.isToMany else { return !relationship.isToMany }
      return (source, relationship.name) <= (other, inverse)
    }.map { Loss(source, $0.name) }
  }

  private func takes(_ mapping: EntityMapping, _ name: String) -> Bool {
    mapping.relationshipMappings.contains { property in
      guard let expression = property.valueExpression else { return property.name == name }
      return expression.carriedRelationship?.path == name
    }
  }
}
