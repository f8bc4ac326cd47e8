import CoreDataStore

extension StoreInspection {
  /// A table of a store whose model is not known: what its schema says, and what that is taken for.
  public struct RawTable: Sendable, Codable {
    /// A column.
    public struct Column: Sendable, Codable {
      /// The name, as ZTITLE.
      public var name: String
      /// The declared type.
      public var type: String
      /// What values are taken for, as Core Data declares such columns (B.4); nil if the type says all.
      public var guess: String?
    }

    /// The table's name.
    public var name: String
    /// The root entity whose objects it has; nil for a join table.
    public var entity: String?
    /// The entities that a join table links, nil each if Z_PRIMARYKEY lacks the number in the column's name; nil for
    /// other tables. A guess (B.6).
    public var links: [String?]?
    /// The columns with values.
    public var columns: [Column]

    init(_ table: RawSchema.Table) {
      name = table.schema.name
      columns = table.columns.map { Column(name: $0.name, type: $0.type, guess: Self.guess($0)) }
      switch table.content {
      case .objects: entity = table.name
      case .links(let ends): links = ends.map(\.entity)
      case .rows: break
      }
    }

    private static func guess(_ column: RawSchema.Column) -> String? {
      if column.isDate { return "date" }
      switch column.type.uppercased() {
      case "INTEGER": return "number, key or Boolean"
      case "BLOB": return "bytes or UUID"
      default: return nil
      }
    }
  }
}
