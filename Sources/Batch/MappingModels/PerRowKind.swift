import CoreDataModel

/// What a rule can give each row for itself: values that follow from the store and the row's key, so that a run that is
/// resumed gives the same ones.
public enum PerRowKind: String, Sendable, CaseIterable {
  /// A UUID.
  case uuid
  /// The moment of the migration, a microsecond later with each key.
  case date

  /// The type of the attributes that take it.
  package var type: AttributeType {
    switch self {
    case .uuid: .uuid
    case .date: .date
    }
  }
}
