import CoreDataStore

/// What a column of a join table holds.
package enum LinkColumn {
  case source
  case destination
  case sourceOrder
  case destinationOrder

  /// Of the columns of a join table, in their order.
  package static func columns(of table: JoinTable) -> [LinkColumn] {
    table.columns.map { name in
      switch name {
      case table.sourceColumn: .source
      case table.destinationColumn: .destination
      case table.sourceOrderColumn: .sourceOrder
      default: .destinationOrder
      }
    }
  }
}
