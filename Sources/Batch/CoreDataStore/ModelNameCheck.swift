import CoreDataModel
import RunSupport

/// What a model must be before names are made of it: every entity and property named, every destination present.
struct ModelNameCheck {
  let model: ManagedObjectModel

  func run() throws {
    for entity in model.entities {
      try check(entity.name, kind: "entity", entity: entity.name)
      for attribute in entity.attributes { try check(attribute.name, kind: "attribute", entity: entity.name) }
      for relationship in entity.relationships {
        try check(relationship.name, kind: "relationship", entity: entity.name)
        guard !relationship.isTransient, model.entity(relationship.destinationEntity) == nil else { continue }
        throw BatchError(
          .badModel,
          "relationship \(relationship.name) leads to \(relationship.destinationEntity), which is not in the model",
          entity: entity.name)
      }
    }
  }

  /// Swift strings may hold NUL, SQL text may not.
  private func check(_ name: String, kind: String, entity: String) throws {
    guard name.isEmpty || name.utf8.contains(0) || name.utf8.count > 1_000 else { return }
    throw BatchError(
      .badModel, "the name of one \(kind) in the model is empty, overlong or holds NUL", hint: "Rename it",
      entity: entity.isEmpty ? nil : String(entity.prefix(100)))
  }
}
