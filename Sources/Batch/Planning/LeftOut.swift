/// What an inferred step drops because the new version does not have it: Core Data does so without a word, a plan says it.
enum LeftOut {
  /// One note a step, or none.
  static func notes(_ steps: [MigrationStep]) -> [String] {
    steps.filter(\.isInferred).compactMap { step in
      let names = entities(step) + attributes(step)
      guard !names.isEmpty else { return nil }
      return "the inferred step \(step.source.name) to \(step.destination.name) leaves out \(names.joined(separator: ", "))"
    }
  }

  private static func entities(_ step: MigrationStep) -> [String] {
    let carried = Set(mappings(step).compactMap(\.sourceEntity))
    return step.source.entities.filter { !$0.isAbstract && !carried.contains($0.name) }.map { "all objects of \($0.name)" }
  }

  private static func attributes(_ step: MigrationStep) -> [String] {
    mappings(step).flatMap { mapping in
      let source = mapping.sourceEntity ?? ""
      let read = Set(mapping.attributeMappings.map(sourceName))
      return step.source.attributes(of: source).filter { !$0.isTransient && !read.contains($0.name) }.map {
        "\(source).\($0.name)"
      }
    }
  }

  private static func mappings(_ step: MigrationStep) -> [EntityMapping] {
    step.mappingModels.flatMap(\.entityMappings).filter { $0.sourceEntity != nil && $0.destinationEntity != nil }
  }

  private static func sourceName(_ property: PropertyMapping) -> String {
    switch property.valueExpression {
    case nil: property.name
    // Of a composite, the element is named with it.
    case .keyPath(.variable("source"), let path): path.first?.split(separator: ".").first.map(String.init) ?? property.name
    default: ""
    }
  }
}
