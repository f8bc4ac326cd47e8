import RunSupport

/// Gives every composite of a model a name and a definition, as model files need them.
struct CompositeNames {
  private var composites: [String: CompositeDescription]
  /// The elements by which a name is known, as the model has them.
  private var known: [String: [AttributeDescription]]

  /// The model with a name for every composite attribute that has elements. Throws ``BatchError`` with the code
  /// `badModel` when two different composites have one name.
  static func applied(to model: ManagedObjectModel) throws -> ManagedObjectModel {
    var model = model
    var names = CompositeNames(composites: model.composites, known: model.composites.mapValues(\.elements))
    model.entities = try model.entities.map { entity in
      var entity = entity
      entity.attributes = try entity.attributes.map { try names.named($0, in: entity.name) }
      return entity
    }
    for (name, composite) in model.composites {
      let elements = try composite.elements.map { try names.named($0, in: name) }
      names.composites[name]?.elements = elements
    }
    model.composites = names.composites
    return model
  }

  private mutating func named(_ attribute: AttributeDescription, in owner: String) throws -> AttributeDescription {
    guard attribute.type == .composite, attribute.compositeName != nil || !attribute.elements.isEmpty else {
      return attribute
    }
    var attribute = attribute
    let name = attribute.compositeName ?? freeName("\(owner)_\(attribute.name)")
    attribute.compositeName = name
    if let elements = known[name] {
      guard elements == attribute.elements else {
        throw BatchError(
          .badModel, "two composites named \(name) have different elements", hint: "Give one of them another name",
          entity: owner)
      }
      return attribute
    }
    known[name] = attribute.elements
    attribute.elements = try attribute.elements.map { try named($0, in: name) }
    composites[name] = CompositeDescription(elements: attribute.elements)
    return attribute
  }

  private func freeName(_ wanted: String) -> String {
    var name = wanted
    var number = 2
    while known[name] != nil {
      name = "\(wanted)_\(number)"
      number += 1
    }
    return name
  }
}
