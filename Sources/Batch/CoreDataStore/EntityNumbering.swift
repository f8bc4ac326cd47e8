import CoreDataModel
import RunSupport

/// The Z_ENT of every entity of a model whose hierarchy is sound (B.3).
package struct EntityNumbering: Sendable {
  /// Entity names in the model's own order, in which columns and tables are named.
  let names: [String]
  /// Entity name to Z_ENT.
  let numbers: [String: Int]
  /// Entities that have sub-entities.
  package let parents: Set<String>

  /// Numbers the entities. Throws `badModel` for a hierarchy that is not sound.
  package init(model: ManagedObjectModel) throws {
    self = try model.remembered(ModelFacts.numbering) { try EntityNumbering(numbered: model) }
  }

  private init(numbered model: ManagedObjectModel) throws {
    let names = model.entitiesInNumberOrder
    var seen: Set<String> = []
    // Depth first: a parent that was not met before its child is missing, or is below it.
    for name in names {
      if let parent = model.superentity(of: name), !seen.contains(parent) {
        let problem =
          !model.hasEntity(parent) ? "the parent entity \(parent) is not in" : "the entity is its own ancestor in"
        throw BatchError(.badModel, "\(problem) model \(model.name)", entity: name)
      }
      seen.insert(name)
    }
    guard names.count == model.entities.count else {
      throw BatchError(
        .badModel, "model \(model.name) names an entity twice", hint: "Give every entity a name of its own")
    }
    self.names = names
    numbers = Dictionary(names.enumerated().map { ($1, $0 + 1) }, uniquingKeysWith: { first, _ in first })
    parents = Set(names.compactMap(model.superentity))
  }

  /// The same entities under the numbers of a store: the model's, in another order.
  package init(_ own: EntityNumbering, numbers: [String: Int]) {
    (names, parents) = (own.names, own.parents)
    self.numbers = numbers
  }

  /// Entity names in Z_ENT order.
  var numberedNames: [String] { names.sorted { numbers[$0] ?? 0 < numbers[$1] ?? 0 } }
}

extension ModelFacts {
  fileprivate static let numbering = Key<EntityNumbering>("numbers of entities")
}
