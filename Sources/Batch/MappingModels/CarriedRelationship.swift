import CoreDataModel

extension Expression {
  /// The source relationship whose objects are carried over as they are, and the entity mapping whose objects are
  /// meant, if it is named: their keys move by arithmetic, and no object has to be there before. Nil for every other
  /// expression.
  package var carriedRelationship: (path: String, mapping: String?)? {
    switch self {
    case .keyPath(.variable("source"), let path) where path.count == 1: (path[0], nil)
    case .function(.some(.variable("manager")), let name, let arguments) where arguments.count == 2:
      switch (name, arguments[0], arguments[1]) {
      case (
        "destinationInstancesForEntityMappingNamed:sourceInstances:", .constant(.text(let mapping)),
        .keyPath(.variable("source"), let path)
      ) where path.count == 1:
        (path[0], mapping)
      case (
        "destinationInstancesForSourceRelationshipNamed:sourceInstances:", _, .keyPath(.variable("source"), let path)
      ) where path.count == 1:
        (path[0], nil)
      default: nil
      }
    default: nil
    }
  }

  /// Whether a relationship's expression must be evaluated for every object, because no relationship of the source is
  /// carried over.
  package var isEvaluatedRelationship: Bool { self != .constant(.null) && carriedRelationship == nil }
}
