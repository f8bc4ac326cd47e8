/// The table of a many-to-many relationship (B.6).
public struct JoinTable: Sendable, Hashable {
  /// The name, as Z_2AUTHORS.
  public let name: String
  /// The relationship that names the table.
  public let relationship: PropertyReference
  /// Its inverse; equal to ``relationship`` when it is its own inverse: ``isOwnInverse``.
  public let inverse: PropertyReference
  /// Holds the Z_PK of the row that owns ``relationship``. It is named after the inverse, which points at that row.
  public let sourceColumn: String
  /// Holds the Z_PK of the destination's row.
  public let destinationColumn: String
  /// `Z_FOK_` + ``sourceColumn``: position of the source among the inverse's objects, when the inverse is ordered.
  public let sourceOrderColumn: String?
  /// `Z_FOK_` + ``destinationColumn``: position of the destination in ``relationship``, when that is ordered.
  public let destinationOrderColumn: String?
  /// Whether both ends lie in the same entity. Then real stores disagree about which side names the table.
  public let isSelfReferencing: Bool
  /// The name it has when the other side names it; nil unless self-referencing.
  public let otherName: String?

  /// All columns, in the order of a fresh store.
  public var columns: [String] {
    [firstColumn, secondColumn] + [sourceOrderColumn, destinationOrderColumn].compactMap { $0 }
  }

  /// Whether one relationship is both sides. Each link has two rows then, one for either object.
  public var isOwnInverse: Bool { relationship == inverse }
  /// The column that leads the primary key.
  public var firstColumn: String { isOwnInverse ? destinationColumn : sourceColumn }
  /// The column that leads the table's second index.
  public var secondColumn: String { isOwnInverse ? sourceColumn : destinationColumn }

  /// The text of its CREATE TABLE, in Core Data's spacing.
  public var sql: String {
    let list = columns.map { "\(SQLText.name($0)) INTEGER" }
    let key = "PRIMARY KEY (\(SQLText.name(firstColumn)), \(SQLText.name(secondColumn)))"
    return "CREATE TABLE \(SQLText.name(name)) ( \((list + [key]).joined(separator: ", ")) )"
  }
}
