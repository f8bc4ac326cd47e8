import CoreDataStore
import Migrations
import RunSupport
import Streams

/// Writes the rows of one table as objects.
final class ExportRows {
  private let graph: SourceGraph
  private let text: ExportText
  private let values: ExportValueWriter
  private let table: StoreBinding.Table
  /// By Z_ENT; nil for entities of other tables and those that are not wanted.
  private let entities: [Int64: ExportEntity]
  /// Entities of the table, wanted or not: any other number is damage.
  private let known: Set<Int64>
  private let names: [[UInt8]]
  private let links: ExportLinks
  private let decoder = RecordDecoder()
  private(set) var counts: [Int64: UInt64] = [:]

  init(
    graph: SourceGraph, text: ExportText, values: ExportValueWriter, table: Int, entities: [ExportEntity],
    links: ExportLinks
  ) {
    self.graph = graph
    self.text = text
    self.values = values
    self.table = graph.binding.tables[table]
    self.entities = Dictionary(uniqueKeysWithValues: entities.map { (Int64($0.source.number), $0) })
    known = Set(graph.byNumber.compactMap { $0 }.filter { $0.table == table }.map { Int64($0.number) })
    names = [[]] + graph.binding.layout.entityNames.map { ExportText.prepared($0, text.format) }
    self.links = links
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
      try write(entity, key)
      counts[number, default: 0] += 1
      written += 1
      try text.flushIfLarge()
    }
    return written
  }

  private func damage(_ what: String, _ key: Int64) -> BatchError {
    BatchError(
      .badStore, what, hint: "Restore the store from a backup, or export the other entities one by one",
      path: graph.reader.path, entity: table.layout.rootEntity, key: key)
  }

  private func write(_ entity: ExportEntity, _ key: Int64) throws {
    text.append(entity.beforeKey)
    text.append(key)
    text.append(entity.beforeURI)
    text.append(key)
    text.append(entity.afterURI)
    for part in entity.attributes { try write(part, entity: entity, key: key) }
    text.append(entity.between)
    for part in entity.relationships { try write(part, entity: entity, key: key) }
    text.append(entity.end)
  }

  private func write(_ part: ExportEntity.Part, entity: ExportEntity, key: Int64) throws {
    text.append(part.label)
    switch part.content {
    case .attribute(let position, let kind): writeValue(position, kind: kind, entity: entity.source)
    case .toOne(let position, let entityPosition, let destination):
      writeToOne(position, entityPosition: entityPosition, destination: destination, entity: entity.source)
    case .toOneEntity(let position, let entityPosition, let destination):
      guard integer(position, entity.source) != nil else { break }
      text.append(name(entityPosition, destination: destination, entity: entity.source))
    case .toMany(let relationship): try writeToMany(relationship, key)
    case .nothing: break
    }
    if !part.end.isEmpty { text.append(part.end) }
  }

  private func writeValue(_ position: Int, kind: ExportKind, entity: SourceEntity) {
    guard position < decoder.columnCount else {
      return Self.withCell(graph.missing(entity, position)) { values.write($0, as: kind) }
    }
    let type = decoder.type(position)
    let body = decoder.body(position)
    let cell: ExportCell =
      switch type {
      case SerialType.null: .null
      case SerialType.real: .real(Double(bitPattern: UInt64(bigEndian: body.loadUnaligned(as: UInt64.self))))
      case _ where SerialType.isInteger(type): .integer(decoder.integer(position) ?? 0)
      case _ where SerialType.isText(type): .text(body)
      default: .blob(body)
      }
    values.write(cell, as: kind)
  }

  private static func withCell(_ value: Value, _ body: (ExportCell) -> Void) {
    switch value {
    case .null: body(.null)
    case .integer(let integer): body(.integer(integer))
    case .real(let double): body(.real(double))
    case .text(var text): text.withUTF8 { body(.text(UnsafeRawBufferPointer($0))) }
    case .blob(let bytes): bytes.withUnsafeBytes { body(.blob($0)) }
    }
  }

  private func integer(_ position: Int, _ entity: SourceEntity) -> Int64? {
    if position < decoder.columnCount { return decoder.integer(position) }
    if case .integer(let integer) = graph.missing(entity, position) { return integer }
    return nil
  }

  private func writeToOne(_ position: Int, entityPosition: Int?, destination: String, entity: SourceEntity) {
    guard let target = integer(position, entity) else { return text.appendNull() }
    guard text.format == .jsonLines else { return text.append(target) }
    text.append("{\"entity\":")
    text.append(name(entityPosition, destination: destination, entity: entity))
    text.append(",\"key\":")
    text.append(target)
    text.append("}")
  }

  /// The entity of the object that a to-one points at; that of the relationship if the row does not hold it.
  private func name(_ position: Int?, destination: String, entity: SourceEntity) -> [UInt8] {
    if let position, let number = integer(position, entity), number > 0, number < Int64(names.count) {
      return names[Int(number)]
    }
    return graph.binding.layout.entityNumbers[destination].map { names[$0] } ?? []
  }

  private func writeToMany(_ relationship: StoredRelationship, _ key: Int64) throws {
    if text.format == .jsonLines { text.append("[") }
    var isFirst = true
    try links.run(of: relationship).forEach(key) { other in
      if !isFirst { text.append(byte: text.format == .jsonLines ? 0x2C : 0x20) }
      isFirst = false
      text.append(other)
      // An object may have millions of others.
      try text.flushIfLarge()
    }
    if text.format == .jsonLines { text.append("]") }
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
