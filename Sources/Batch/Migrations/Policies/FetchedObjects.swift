import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// The objects of a source entity, sub-entities included, for which a predicate holds. They are the same for every row:
/// the table is read once, and their keys are kept.
final class FetchedObjects {
  private static let mostObjects = 1 << 17
  private let entity: SourceEntity
  private let predicate: CompiledPredicate
  private let graph: SourceGraph
  private var found: [Int64]?

  init(_ entity: SourceEntity, _ predicate: CompiledPredicate, graph: SourceGraph) {
    (self.entity, self.predicate, self.graph) = (entity, predicate, graph)
  }

  func objects() throws -> [SourceObject] {
    let keys = try found ?? scan()
    found = keys
    return try keys.compactMap { try graph.object(entity.number, key: $0) }
  }

  private func scan() throws -> [Int64] {
    var keys: [Int64] = []
    try graph.forEach(entity) { object in
      guard try predicate.holds(for: object) else { return }
      guard keys.count < Self.mostObjects else {
        throw ExpressionDamage("fetches more than \(Self.mostObjects) objects of \(entity.name)")
      }
      keys.append(object.key)
    }
    return keys
  }
}

extension SourceGraph {
  /// Calls `body` with every object of an entity and of its sub-entities; each is valid until the call returns.
  package func forEach(_ entity: SourceEntity, _ body: (SourceObject) throws -> Void) throws {
    let table = binding.tables[entity.table]
    let row = RecordDecoder(longValues: longValues)
    try forEachPage(table.schema.rootPage, isWithoutRowid: false) { page in
      for index in 0..<page.count {
        let key = page.rowid(index)
        guard row.decode(page.record(index)) else {
          throw BatchError(.badStore, "a row is damaged", path: reader.path, entity: entity.name, key: key)
        }
        guard let number = row.integer(table.positions[1]), number > 0, number < Int64(byNumber.count),
          let actual = byNumber[Int(number)], binding.layout.model.isKind(actual.name, of: entity.name)
        else { continue }
        try body(SourceObject(entity: actual, graph: self, key: key, decoder: row))
      }
    }
  }
}
