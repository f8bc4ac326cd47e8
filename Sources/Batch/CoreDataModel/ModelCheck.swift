import RunSupport

extension ManagedObjectModel {
  /// Checks that the parts of the model fit together.
  ///
  /// - Throws: one ``BatchError`` with the code `badModel` that names every problem of the severity `error`, one to
  ///   a line.
  public func validate() throws {
    let errors = problems.filter { $0.severity == .error }
    guard !errors.isEmpty else { return }
    throw BatchError(
      .badModel, "the model \(name) contradicts itself:\n" + errors.map(\.description).joined(separator: "\n"),
      hint: "Correct the model in Xcode")
  }

  /// Everything that is wrong in the model, entity by entity in order of their names.
  ///
  /// Errors: empty and repeated names, unknown parents and destinations, rings of parents, missing inverses, a least
  /// number above the greatest, types that cannot be stored, composites without elements, constraints and indexes of
  /// unknown properties, constraints of properties without a column, unknown members of configurations. Warnings:
  /// inverses that do not point back, names that Core Data reserves or that are no identifiers, indexes without a
  /// column, fetch requests of unknown entities, abstract entities without a concrete one, elements of the file that
  /// are not known.
  public var problems: [ModelProblem] { ModelCheck(model: self).problems() }
}

/// Checks one model; each function looks for one kind of problem.
struct ModelCheck {
  let model: ManagedObjectModel
  /// Concrete entities and all their ancestors.
  private let withObjects: Set<String>

  init(model: ManagedObjectModel) {
    self.model = model
    let concrete = model.entities.filter { !$0.isAbstract }
    withObjects = Set(concrete.flatMap { [$0.name] + model.ancestors(of: $0.name).map(\.name) })
  }

  func problems() -> [ModelProblem] {
    var found = repeatedEntities()
    for entity in model.entities {
      found += nameProblems(entity) + parentProblems(entity) + repeatedProperties(entity)
      for attribute in entity.attributes { found += problems(of: attribute, in: entity) }
      for relationship in entity.relationships { found += problems(of: relationship, in: entity) }
      for property in entity.fetchedProperties {
        found += problems(of: property.fetchRequest, in: entity, property.name)
      }
      found += indexProblems(entity) + constraintProblems(entity)
    }
    return found + wholeProblems()
  }

  func error(_ entity: String?, property: String? = nil, message: String) -> ModelProblem {
    ModelProblem(severity: .error, entity: entity, property: property, message: message)
  }

  func warning(_ entity: String?, property: String? = nil, message: String) -> ModelProblem {
    ModelProblem(severity: .warning, entity: entity, property: property, message: message)
  }

  /// Names that are there more than once, sorted.
  static func repeated(_ names: [String]) -> [String] {
    if Set(names).count == names.count { return [] }
    return Dictionary(grouping: names) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
  }

  private func repeatedEntities() -> [ModelProblem] {
    let all = model.entities.map(\.name)
    var found = Self.repeated(all).map { error(nil, property: nil, message: "two entities are named \($0)") }
    let folded = Dictionary(grouping: Set(all)) { $0.uppercased() }.values.filter { $0.count > 1 }
    for names in folded.map({ $0.sorted() }).sorted(by: { $0[0] < $1[0] }) {
      found.append(
        warning(
          nil, property: nil,
          message: "the entities \(names.joined(separator: " and ")) differ in upper and lower case only"))
    }
    return found
  }

  private func parentProblems(_ entity: EntityDescription) -> [ModelProblem] {
    var found: [ModelProblem] = []
    if let parent = entity.superentity {
      if !model.hasEntity(parent) {
        found.append(error(entity.name, property: nil, message: "the parent \(parent) does not exist"))
      } else if isInRing(entity.name) {
        found.append(error(entity.name, property: nil, message: "the entity is its own ancestor"))
      }
    }
    if !withObjects.contains(entity.name) {
      found.append(
        warning(
          entity.name, property: nil, message: "the entity is abstract and no concrete entity has it as an ancestor"))
    }
    return found
  }

  private func isInRing(_ name: String) -> Bool {
    var seen: Set<String> = []
    var next = model.superentity(of: name)
    while let parent = next, seen.insert(parent).inserted {
      if parent == name { return true }
      next = model.superentity(of: parent)
    }
    return false
  }

  private func repeatedProperties(_ entity: EntityDescription) -> [ModelProblem] {
    var found: [ModelProblem] = []
    let own = entity.propertyNames
    for name in Self.repeated(own) {
      found.append(error(entity.name, property: name, message: "two properties have this name"))
    }
    for ancestor in model.ancestors(of: entity.name) {
      for name in Set(ancestor.propertyNames).intersection(own).sorted() {
        found.append(
          error(entity.name, property: name, message: "\(ancestor.name) has a property of this name already"))
      }
    }
    return found
  }

  /// Configurations, templates, and what the file holds in addition.
  private func wholeProblems() -> [ModelProblem] {
    var found: [ModelProblem] = []
    for (name, members) in model.configurations.sorted(by: { $0.key < $1.key }) {
      for member in members where model.entity(member) == nil {
        found.append(error(nil, property: nil, message: "the configuration \(name) names the unknown entity \(member)"))
      }
    }
    for (name, request) in model.fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
      guard let entity = request.entity, model.entity(entity) == nil else { continue }
      found.append(warning(nil, property: nil, message: "the fetch request \(name) names the unknown entity \(entity)"))
    }
    return found
      + model.unknownElements.map {
        warning(nil, property: nil, message: "the element \($0) is not known and was left out")
      }
  }

  private func problems(
    of request: FetchRequestDescription, in entity: EntityDescription, _ property: String
  ) -> [ModelProblem] {
    guard let name = request.entity else {
      return [warning(entity.name, property: property, message: "it fetches no entity")]
    }
    guard model.entity(name) == nil else { return [] }
    return [warning(entity.name, property: property, message: "it fetches the unknown entity \(name)")]
  }
}

extension EntityDescription {
  /// Names of all own properties, attributes first.
  var propertyNames: [String] {
    attributes.map(\.name) + relationships.map(\.name) + fetchedProperties.map(\.name)
  }
}
