import CoreDataModel

extension MappingFileWriter {
  /// A mapping file to begin with: the mapping that follows from two versions, with comments if nothing can follow.
  public static func draft(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> String {
    draft(from: source, to: destination, byChecksum: [])
  }

  /// The same. Versions of these names are named by their checksums: those of stores, whose names are not the versions'.
  /// `stage` says why the application itself makes the step: then a person has to decide what of that is to be written.
  package static func draft(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, byChecksum: Set<String>, stage: String? = nil
  ) -> String {
    func version(_ model: ManagedObjectModel) -> String {
      byChecksum.contains(model.name) ? "{ checksum: \(quoted(model.versionChecksum)) }" : quoted(model.name)
    }
    var inference = Inference(source: source, destination: destination)
    let mappings = inference.entityMappings()
    var lines = ["# From \(source.name) to \(destination.name). Properties that are not named are mapped by name."]
    if let stage { lines.append("# To do: \(stage). Write below what that code does, then remove the line undecided.") }
    lines += ["from: \(version(source))", "to: \(version(destination))"]
    if let stage { lines.append("undecided: \(quoted(stage))") }
    lines.append(mappings.isEmpty ? "entities: []" : "entities:")
    for mapping in mappings {
      let problems = inference.problems.filter { $0.entities.contains(mapping.destinationEntity ?? "") }
      let needs =
        needs(mapping, source: source, destination: destination)
        + alone(mapping, source: source, destination: destination)
      lines += problems.map { comment("To do: \($0.description). \($0.remedy).") }
      lines += needs.map { comment("To do: \($0.text)") }
      lines += shared(mapping, source: source, destination: destination).map(comment)
      lines += dropped(mapping, source: source, version: destination.name).map(comment)
      let open = Open(
        problems, needs, emptied: emptied(mapping, by: inference.problems, in: destination),
        elements: destination.attributes(of: mapping.destinationEntity ?? ""))
      lines += open.emptied.sorted().map { comment("\(mapping.destinationEntity ?? "").\($0) is set by its inverse.") }
      lines += draft(mapping, open)
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

  /// An attribute that every object has to have a value of, and which lacks one in all or some of them.
  private struct Need {
    let name: String
    let text: String
    /// What stands in the draft for a value that no object has.
    let undecided: String?
  }

  private static func needs(
    _ mapping: EntityMapping, source: ManagedObjectModel, destination: ManagedObjectModel
  ) -> [Need] {
    guard let from = mapping.sourceEntity, let to = mapping.destinationEntity else { return [] }
    let old = Dictionary(source.attributes(of: from).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return mapping.attributeMappings.compactMap { property in
      var name = property.name
      if case .keyPath(_, let path)? = property.valueExpression { name = path.joined(separator: ".") }
      let before = old[name].flatMap { $0.isTransient ? nil : $0 }
      // A mapping copies what is missing as well; only an inferred step puts the default value in its place.
      guard let new = destination.attributes(of: to).first(where: { $0.name == property.name }),
        Inference.needsValues(new, from: before) || property.valueForNull != nil,
        new.type != .composite || new.unreadDefault != nil || !new.neededElements.isEmpty || new.needsAnyElement
      else { return nil }
      let place = "\(to).\(property.name)"
      if before != nil {
        return Need(name: property.name, text: "\(place) is required, and was optional.", undecided: nil)
      }
      if let literal = new.unreadDefault {
        let fact = "has a default that is no literal (\(literal))"
        return Need(
          name: property.name, text: "\(place) \(fact); give it a value.", undecided: "it \(fact)")
      }
      return Need(
        name: property.name, text: "\(place) is required; give it a value.",
        undecided: "it is required, and nothing gives it a value")
    }
  }

  /// Many-to-many relationships that have no inverse any more: an object is in one list alone then.
  private static func alone(
    _ mapping: EntityMapping, source: ManagedObjectModel, destination: ManagedObjectModel
  ) -> [Need] {
    guard let from = mapping.sourceEntity, let to = mapping.destinationEntity else { return [] }
    return mapping.relationshipMappings.compactMap { property in
      let path = property.valueExpression.map { $0.carriedRelationship?.path } ?? property.name
      guard let path, let new = destination.relationship(property.name, of: to), new.isToMany, new.inverseName == nil,
        let old = source.relationship(path, of: from), old.isToMany, source.otherEnd(of: old)?.isToMany == true
      else { return nil }
      let fact =
        "without an inverse an object can be in \(property.name) of one object alone, and was in those of several"
      return Need(name: property.name, text: "\(to).\(property.name): \(fact); choose which.", undecided: fact)
    }
  }

  /// To-one relationships whose inverse has become a to-one that is still to be decided: it will set both sides.
  private static func emptied(
    _ mapping: EntityMapping, by problems: [InferenceProblem], in destination: ManagedObjectModel
  ) -> Set<String> {
    guard mapping.sourceEntity != nil, let entity = mapping.destinationEntity else { return [] }
    let decided = Set(
      problems.filter { $0.kind == .toOne }.flatMap { problem in
        problem.entities.flatMap { owner in
          problem.properties.compactMap { destination.relationship($0, of: owner) }
            .filter { destination.isKind(entity, of: $0.destinationEntity) }.compactMap(\.inverseName)
        }
      })
    return decided.filter { destination.relationship($0, of: entity)?.isToMany == false }
  }

  /// What has to be named in a draft although no value follows.
  private struct Open {
    /// Properties that wait for a decision, and why.
    var undecided: [String: String] = [:]
    /// Relationships that are null, because their inverses set them.
    var emptied: Set<String>
    /// Other properties with a problem, which are mapped by name until it is solved.
    var conflicts: Set<String> = []

    /// `elements` are the attributes that may be composites: each of several elements is decided on its own.
    init(
      _ problems: [InferenceProblem], _ needs: [Need], emptied: Set<String>, elements: [AttributeDescription]
    ) {
      self.emptied = emptied
      let composites = elements.filter { $0.type == .composite }
      let parts = Dictionary(composites.map { ($0.name, $0.leaves.map(\.path)) }) { first, _ in first }
      func paths(_ name: String) -> [String] { parts[name].flatMap { $0.count > 1 ? $0 : nil } ?? [name] }
      for need in needs { for path in paths(need.name) { undecided[path] = need.undecided } }
      for problem in problems {
        if problem.kind == .type || problem.kind == .toOne {
          for path in problem.properties.flatMap(paths) { undecided[path] = problem.reason }
        } else {
          conflicts.formUnion(problem.properties)
        }
      }
      self.emptied.subtract(undecided.keys)
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

  private static func draft(_ mapping: EntityMapping, _ open: Open) -> [String] {
    guard let to = mapping.destinationEntity else { return ["  - remove: \(quoted(mapping.sourceEntity ?? ""))"] }
    guard let from = mapping.sourceEntity else { return ["  - to: \(quoted(to))"] }
    var lines = ["from: \(quoted(from))", "to: \(quoted(to))"]
    lines += changed("attributes", mappings: mapping.attributeMappings, open)
    lines += changed("relationships", mappings: mapping.relationshipMappings, open)
    return lines.count == 2 && from == to ? ["  - \(quoted(to))"] : item(lines)
  }

  private static func changed(_ key: String, mappings: [PropertyMapping], _ open: Open) -> [String] {
    let named = mappings.flatMap { mapping -> [String] in
      let undecided = open.undecided.filter { $0.key == mapping.name || $0.key.hasPrefix(mapping.name + ".") }
      guard undecided.isEmpty else {
        return undecided.sorted { $0.key < $1.key }.map { "  \(quoted($0)): { undecided: \(quoted($1)) }" }
      }
      if open.emptied.contains(mapping.name) { return ["  \(quoted(mapping.name)): null"] }
      if let expression = mapping.valueExpression {
        return ["  \(quoted(mapping.name)): \(quoted(text(expression)))"]
      }
      return open.conflicts.contains(mapping.name) ? ["  \(quoted(mapping.name)): \(RuleReader.same)"] : []
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
