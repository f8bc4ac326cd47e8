import CoreDataStore
import Migrations
import RunSupport
import Streams

/// Writes the rows of one table as objects.
final class ExportRows: ExportRowWriter {
  private let graph: SourceGraph
  private let writer: any ObjectWriter
  private let table: StoreBinding.Table
  /// By Z_ENT; nil for entities of other tables and those that are not wanted.
  private let entities: [Int64: ExportEntity]
  /// Entities of the table, wanted or not: any other number is damage.
  private let known: Set<Int64>
  private let links: ExportLinks
  private let decoder = RecordDecoder()
  private var countsByNumber: [Int64: UInt64] = [:]

  init(
    graph: SourceGraph, writer: any ObjectWriter, table: Int, entities: [ExportEntity], links: ExportLinks
  ) {
    self.graph = graph
    self.writer = writer
    self.table = graph.binding.tables[table]
    self.entities = Dictionary(uniqueKeysWithValues: entities.map { (Int64($0.source.number), $0) })
    known = Set(graph.byNumber.compactMap { $0 }.filter { $0.table == table }.map { Int64($0.number) })
    self.links = links
  }

  var kind: ExportRowKind { .objects }

  var counts: [String: UInt64] {
    var counts: [String: UInt64] = [:]
    for (number, count) in countsByNumber { counts[entities[number]?.source.name ?? "", default: 0] += count }
    return counts
  }

  /// Writes rows until `limit` are written; returns how many were.
  func write(_ page: RowPage, limit: UInt64) throws -> UInt64 {
    var written: UInt64 = 0
    for row in 0..<page.count where written < limit {
      let key = page.rowid(row)
      guard decoder.decode(page.record(row)) else { throw damage("a row of \(table.schema.name) is damaged", key) }
      let number = decoder.integer(table.positions[1]) ?? 0
      guard let entity = entities[number] else {
        guard known.contains(number) else {
          throw damage("a row of \(table.schema.name) has the number \(number), which is no entity of this table", key)
        }
        continue
      }
      guard try entity.takes(decoder, key: key, of: graph) else { continue }
      try writer.write(
        entity, ExportRow(key: key, entity: entity.source, decoder: decoder, graph: graph, links: links))
      countsByNumber[number, default: 0] += 1
      written += 1
    }
    return written
  }

  private func damage(_ what: String, _ key: Int64) -> BatchError {
    BatchError(
      .badStore, what, hint: "Restore the store from a backup, or export the other entities one by one",
      path: graph.reader.path, entity: table.layout.rootEntity, key: key)
  }
}

/// To-many relationships of one table as sorted runs on disk, made when they are first asked for. Their files have no
/// name any more as soon as they are open.
final class ExportLinks {
  private let graph: SourceGraph
  private let files: StepFiles
  private var runs: [Key: RelationRun] = [:]

  private struct Key: Hashable {
    let storage: RelationshipStorage
    let isOrdered: Bool
  }

  init(graph: SourceGraph, files: StepFiles) {
    self.graph = graph
    self.files = files
  }

  func run(of relationship: StoredRelationship) throws -> RelationRun {
    let key = Key(storage: relationship.storage, isOrdered: relationship.isOrdered)
    if let run = runs[key] { return run }
    let path = files.path("links")
    let place = try graph.pairScan(relationship.storage, isOrdered: relationship.isOrdered)
    defer { try? files.fileSystem.remove(path) }
    let run = try RelationRun(path: path, identifier: relationship.destination, scratch: files) {
      try graph.forEachPair(place, $0)
    }
    runs[key] = run
    return run
  }
}
