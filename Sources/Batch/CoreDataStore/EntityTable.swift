/// What a column of an entity table holds. Entities are those that *declare* the property, however deep it is
/// inherited.
public enum ColumnRole: Sendable, Hashable {
  /// `Z_PK`.
  case primaryKey
  /// `Z_ENT`, the number of the row's entity.
  case entity
  /// `Z_OPT`, the optimistic lock.
  case optimisticLock
  /// An attribute's value. An element of a composite attribute is named by its path, `composite.element`.
  case attribute(entity: String, name: String)
  /// The Z_PK of the object that a to-one relationship points at.
  case toOne(entity: String, name: String)
  /// The Z_ENT of the object that a to-one relationship points at; exists when the destination has sub-entities.
  case toOneEntity(entity: String, name: String)
  /// `Z_FOK_…`: the position among the objects of the ordered to-many whose inverse is this to-one.
  case orderingKey(entity: String, name: String)
  /// `Z<n><NAME>`: the Z_PK of the owner of a to-many without inverse, in the *destination's* table; `entity` is the
  /// owner.
  case inverselessOwner(entity: String, name: String)
  /// `Z_FOK_<n><NAME>`: the position in an ordered to-many without inverse.
  case inverselessOrder(entity: String, name: String)
  /// A column that the model does not know, as a deferred migration leaves it behind (E.4).
  case unknown(name: String)
}

/// A column of an entity table.
public struct Column: Sendable, Hashable {
  /// The name, as ZTITLE.
  public let name: String
  /// The declared SQL type, as VARCHAR.
  public let type: String
  /// What it holds.
  public let role: ColumnRole
}

/// The table of a root entity and all its sub-entities (B.4).
public struct EntityTable: Sendable, Hashable {
  /// The name, as ZBOOK.
  public let name: String
  /// The root entity.
  public let rootEntity: String
  /// The columns in the order of a fresh store.
  public let columns: [Column]
  /// The text of a table that exists already.
  var text: String?

  /// The text of its CREATE TABLE: that of the store, or one in Core Data's spacing.
  public var sql: String {
    if let text { return text }
    let list = columns.map { column in
      let suffix = column.role == .primaryKey ? " PRIMARY KEY" : ""
      return "\(SQLText.name(column.name)) \(column.type)\(suffix)"
    }
    return "CREATE TABLE \(SQLText.name(name)) ( \(list.joined(separator: ", ")) )"
  }
}
