import CoreDataModel
import Streams

/// Which rows of a store's table belong into a table of a database, and of which entities they are. Rows of one entity
/// table may go into several.
package struct RowKinds: Sendable {
  /// A row whose number of an entity is none of its table.
  package struct Unknown: Error {
    package let number: Int64
  }

  private let position: Int?
  /// Names of entities by their numbers; nil for those whose rows belong elsewhere.
  private let names: [[UInt8]?]
  private let known: Set<Int64>

  package init(_ table: LoadTable, _ store: LoadStore) {
    switch table.rows {
    case .objects(let place, let wanted):
      let all = store.binding.layout.entityNames
      position = store.binding.tables[place].positions[1]
      names = [nil] + all.enumerated().map { wanted.contains($0 + 1) ? Array($1.utf8) : nil }
      let root = store.binding.layout.entityTables[place].rootEntity
      known = Set(all.indices.filter { store.binding.layout.model.root(of: all[$0]) == root }.map { Int64($0 + 1) })
    case .links:
      (position, names, known) = (nil, [], [])
    }
  }

  /// The number of a row's entity, 0 for a link; nil for a row that belongs elsewhere. Throws ``Unknown``.
  @inline(__always)
  package func number(_ record: RecordDecoder) throws -> Int? {
    guard let position else { return 0 }
    let number = record.integer(position) ?? 0
    guard known.contains(number) else { throw Unknown(number: number) }
    return names[Int(number)] == nil ? nil : Int(number)
  }

  /// The name of an entity that belongs into the table, as UTF-8.
  @inline(__always)
  package func name(_ number: Int) -> [UInt8]? { names[number] }
}
