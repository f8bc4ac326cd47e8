import CoreDataModel
import CoreDataStore
import Streams

/// Counts the keys of a store that lead to no row: of to-one relationships, of to-manys without inverse, and of links.
///
/// Core Data keeps such keys in an inferred migration, since that changes rows in place; so a migrated store may have
/// as many as its source had. Reads every row, and looks up every key: only where a verification found such keys.
package struct DanglingKeys {
  package let reader: StoreReader
  package let binding: StoreBinding

  package init(reader: StoreReader, binding: StoreBinding) {
    self.reader = reader
    self.binding = binding
  }

  package func count() throws -> UInt64 {
    var total: UInt64 = 0
    for table in binding.tables {
      for (index, column) in table.layout.columns.enumerated() {
        guard let target = target(of: column.role) else { continue }
        total += try count(table.schema, columns: [(table.positions[index], target)])
      }
    }
    for join in binding.joins {
      let (relationship, inverse) = (join.layout.relationship, join.layout.inverse)
      let ends = [(join.sourcePosition, relationship.entity), (join.destinationPosition, inverse.entity)]
      total += try count(join.schema, columns: ends)
    }
    return total
  }

  private func target(of role: ColumnRole) -> String? {
    switch role {
    case .toOne(let entity, let name): binding.layout.model.relationship(name, of: entity)?.destinationEntity
    case .inverselessOwner(let entity, _): entity
    default: nil
    }
  }

  private func count(_ schema: TableSchema, columns: [(position: Int, entity: String)]) throws -> UInt64 {
    let lookups = columns.map { column in
      let table = binding.layout.tablePosition(ofEntity: column.entity).map { binding.tables[$0].schema.rootPage } ?? 0
      return RowLookup(snapshot: reader.snapshot, root: table, cacheBytes: 1 << 20, rowLimit: .max)
    }
    let (scan, page, row) = (
      try RowScan(
        snapshot: reader.snapshot, root: schema.rootPage, isWithoutRowid: schema.isWithoutRowid, rowLimit: .max,
        payloadLimit: StoreReader.keyBytes),
      RowPage(), RecordDecoder()
    )
    var count: UInt64 = 0
    while try scan.next(into: page) {
      for index in 0..<page.count where row.decodeBeginning(page.record(index)) {
        for (lookup, column) in zip(lookups, columns) {
          guard let key = row.integer(column.position) else { continue }
          if try !lookup.contains(key) { count += 1 }
        }
      }
    }
    return count
  }
}
