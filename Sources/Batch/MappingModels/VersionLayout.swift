import CoreDataModel
import CoreDataStore

/// A version, and how its stores are laid out: found when it is asked for, because most versions of a path only pass on
/// what they were given.
package struct VersionLayout {
  package let model: ManagedObjectModel
  private let known: StoreLayout?

  /// A version whose layout is the model's.
  package init(_ model: ManagedObjectModel) { (self.model, known) = (model, nil) }

  /// A version with the layout of a store.
  package init(_ layout: StoreLayout) { (model, known) = (layout.model, layout) }

  /// The layout. Throws `badModel` for a model that no store can have.
  package func layout() throws -> StoreLayout { try known ?? StoreLayout(model: model, purpose: .reading) }

  /// What the entity's table goes by: the topmost of its parents. Nil for an entity that is not there.
  func table(ofEntity name: String) -> String? { model.hasEntity(name) ? model.root(of: name) : nil }

  /// Whether the rows of every table go into one table of another version, and no others into that. `heirs` are the
  /// destination entities by source entity.
  func keepsTables(in other: VersionLayout, heirs: [String: String]) -> Bool {
    var targets: [String: String] = [:]
    for (old, new) in heirs {
      guard let from = table(ofEntity: old), let to = other.table(ofEntity: new) else { return false }
      if let known = targets[from], known != to { return false }
      targets[from] = to
    }
    return Set(targets.values).count == targets.count
  }
}
