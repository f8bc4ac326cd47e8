/// Where the links of a relationship are stored, seen from the entity that owns it. Numbers are positions in
/// ``StoreLayout/entityTables`` or ``StoreLayout/joinTables`` and in a table's columns.
public enum RelationshipStorage: Sendable, Hashable {
  /// A key in the owner's own row: a to-one. `entityColumn` holds the destination's Z_ENT when it has sub-entities;
  /// `orderColumn` its place among the objects of the ordered inverse.
  case ownKey(table: Int, column: Int, entityColumn: Int?, orderColumn: Int?)
  /// A key in the destination's row that is the inverse to-one's: a to-many with a to-one inverse.
  case inverseKey(table: Int, column: Int, orderColumn: Int?)
  /// A key in the destination's row that belongs to this relationship: a to-many without inverse.
  case ownerKey(table: Int, column: Int, orderColumn: Int?)
  /// Rows of a join table: a many-to-many. `ownerIsSource` says which of its columns holds the owner.
  case join(table: Int, ownerIsSource: Bool)
}
