import CoreDataModel

extension MappingFileWriter {
  /// A mapping file to begin with: the mapping that follows from two versions, with comments if nothing can follow.
  public static func draft(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> String {
    draft(from: source, to: destination, byChecksum: [])
  }

  /// The same. Versions of these names are named by their checksums: those of stores, whose names are not the versions'.
  package static func draft(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, byChecksum: Set<String>
  ) -> String {
    func version(_ model: ManagedObjectModel) -> String {
      byChecksum.contains(model.name) ? "{ checksum: \(quoted(model.versionChecksum)) }" : quoted(model.name)
    }
    var inference = Inference(source: source, destination: destination)
    let mappings = inference.entityMappings()
    func title(_ model: ManagedObjectModel) -> String {
      byChecksum.contains(model.name) ? "the model \(model.name)" : model.name
    }
    var lines = ["# From \(title(source)) to \(title(destination)). Properties that are not named are mapped by name."]
    lines += ["from: \(version(source))", "to: \(version(destination))"]
    lines.append(mappings.isEmpty ? "entities: []" : "entities:")
    for mapping in mappings {
      let problems = inference.problems.filter { $0.entities.contains(mapping.destinationEntity ?? "") }
      lines += problems.map { comment("To do: \($0.description). \($0.remedy).") }
      lines += needs(mapping, source: source, destination: destination).map { comment("To do: \($0)") }
      lines += shared(mapping, source: source, destination: destination).map(comment)
      lines += dropped(mapping, source: source, version: title(destination)).map(comment)
      lines += draft(mapping, conflicts: Set(problems.flatMap(\.properties)))
    }
    let known = Set(mappings.compactMap(\.destinationEntity))
    for problem in inference.problems where known.isDisjoint(with: problem.entities) {
      lines.append(comment("To do: \(problem.description). \(problem.remedy)."))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// What the step leaves behind: entities and properties that the destination does not have.
  private static func dropped(_ mapping: EntityMapping, source: ManagedObjectModel, version: String) -> [String] {
    guard let entity = mapping.sourceEntity else { return [] }
    guard mapping.destinationEntity != nil else {
      return ["Dropped: all objects of \(entity), which \(version) does not have."]
    }
    let names =
      source.attributes(of: entity).filter { !$0.isTransient }.map(\.name)
      + source.relationships(of: entity).filter { !$0.isTransient }.map(\.name)
    let gone = names.filter { !mapping.sourceProperties.contains($0) }.map { "\(entity).\($0)" }
    return gone.isEmpty ? [] : ["Dropped, because \(version) has no place for it: \(gone.joined(separator: ", "))."]
  }

  /// Attributes that every object has to have a value of, and nothing gives one.
  private static func needs(
    _ mapping: EntityMapping, source: ManagedObjectModel, destination: ManagedObjectModel
  ) -> [String] {
    guard let from = mapping.sourceEntity, let to = mapping.destinationEntity else { return [] }
    let old = Dictionary(source.attributes(of: from).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return mapping.attributeMappings.compactMap { property in
      var name = property.name
      if case .keyPath(_, let path)? = property.valueExpression { name = path.joined(separator: ".") }
      let before = old[name].flatMap { $0.isTransient ? nil : $0 }
      // A mapping copies what is missing as well; only an inferred step puts the default value in its place.
      guard let new = destination.attributes(of: to).first(where: { $0.name == property.name }),
        Inference.needsValues(new, from: before) || property.valueForNull != nil
      else { return nil }
      if let place = new.unreadDefault, before == nil {
        return "\(to).\(property.name) has a default that is no literal (\(place)); give it a value."
      }
      return "\(to).\(property.name) is required\(old[name] == nil ? "; give it a value" : ", and was optional")."
    }
  }

  /// New attributes whose default SwiftData evaluates once.
  private static func shared(
    _ mapping: EntityMapping, source: ManagedObjectModel, destination: ManagedObjectModel
  ) -> [String] {
    guard let from = mapping.sourceEntity, let to = mapping.destinationEntity else { return [] }
    return destination.attributes(of: to).filter { attribute in
      attribute.evaluatedDefault != nil && source.attribute(attribute.name, of: from) == nil
        && mapping.attributeMappings.first { $0.name == attribute.name }?.valueExpression == nil
    }.compactMap { attribute in
      PerRowKind.allCases.first { $0.type == attribute.type }.map { kind in
        "All objects get the same \(to).\(attribute.name). "
          + "For one each: attributes: { \(attribute.name): { \(kind): per-row } }"
      }
    }
  }

  private static func draft(_ mapping: EntityMapping, conflicts: Set<String>) -> [String] {
    guard let to = mapping.destinationEntity else { return ["  - remove: \(quoted(mapping.sourceEntity ?? ""))"] }
    guard let from = mapping.sourceEntity else { return ["  - to: \(quoted(to))"] }
    var lines = ["from: \(quoted(from))", "to: \(quoted(to))"]
    lines += changed("attributes", mappings: mapping.attributeMappings, conflicts: conflicts)
    lines += changed("relationships", mappings: mapping.relationshipMappings, conflicts: conflicts)
    return lines.count == 2 && from == to ? ["  - \(quoted(to))"] : item(lines)
  }

  private static func changed(_ key: String, mappings: [PropertyMapping], conflicts: Set<String>) -> [String] {
    let named = mappings.compactMap { mapping in
      mapping.valueExpression.map { "  \(quoted(mapping.name)): \(quoted(text($0)))" }
        ?? (conflicts.contains(mapping.name) ? "  \(quoted(mapping.name)): \(RuleReader.same)" : nil)
    }
    return named.isEmpty ? [] : ["\(key):"] + named
  }

  /// A relationship that was renamed is written by its name alone.
  private static func text(_ expression: Expression) -> String {
    if case .function(.variable("manager")?, _, let arguments) = expression, let last = arguments.last {
      return last.description
    }
    return expression.description
  }
}
