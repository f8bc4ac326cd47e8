import CoreDataModel

/// The rows of Z_PRIMARYKEY (B.2): one per entity, abstract ones too.
public struct PrimaryKeyTable: Sendable, Hashable {
  /// One row.
  public struct Row: Sendable, Hashable {
    /// Z_ENT, the entity's number.
    public let entityNumber: Int
    /// Z_NAME.
    public let name: String
    /// Z_SUPER: the parent's number, 0 for a root.
    public let superNumber: Int
    /// Z_MAX: the largest Z_PK ever given out in the table; 0 for sub-entities, whose root counts for them.
    public let maximum: Int64
  }

  /// The rows by Z_ENT.
  public let rows: [Row]

  /// Makes the rows of a layout. `maxima` holds the largest key by root entity; a missing one counts as 0.
  public init(layout: StoreLayout, maxima: [String: Int64]) {
    rows = layout.entityNames.enumerated().map { position, name in
      let parent = layout.model.entity(name)?.superentity
      return Row(
        entityNumber: position + 1, name: name, superNumber: parent.flatMap { layout.entityNumbers[$0] } ?? 0,
        maximum: parent == nil ? maxima[name] ?? 0 : 0)
    }
  }
}
