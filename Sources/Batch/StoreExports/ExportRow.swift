import CoreDataStore
import Migrations
import RunSupport
import Streams

/// Writes objects in one format.
protocol ObjectWriter: AnyObject {
  /// Writes one object.
  ///
  /// - Throws: ``StreamsError`` and ``BatchError``, and what its sink throws.
  func write(_ entity: ExportEntity, _ row: ExportRow) throws
}

/// A row of an object, decoded.
struct ExportRow {
  let key: Int64
  let entity: SourceEntity
  let decoder: RecordDecoder
  let graph: SourceGraph
  let links: ExportLinks

  /// Calls `body` with a column's value.
  func cell(_ position: Int, _ body: (ExportCell) -> Void) {
    ExportCell.with(decoder, at: position, missing: { graph.missing(entity, $0) }, body)
  }

  func integer(_ position: Int) -> Int64? {
    if position < decoder.columnCount { return decoder.integer(position) }
    if case .integer(let integer) = graph.missing(entity, position) { return integer }
    return nil
  }

  /// The number of the entity of the object that a to-one points at; that of the relationship if the row does not hold
  /// it.
  func entityNumber(_ position: Int?, destination: String) -> Int? {
    let layout = graph.binding.layout
    if let position, let number = integer(position), number > 0, number <= Int64(layout.entityNames.count) {
      return Int(number)
    }
    return layout.entityNumbers[destination].map { Int($0) }
  }
}
