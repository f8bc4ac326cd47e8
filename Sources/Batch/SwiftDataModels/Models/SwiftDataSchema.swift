import CoreDataModel

/// What the sources of one commit say.
package struct SwiftDataSchema: Sendable {
  /// The versions in their order; none if there is no model.
  package var versions: [ManagedObjectModel]
  /// The migration plan, if there is one.
  package var plan: SwiftDataPlan?
}
