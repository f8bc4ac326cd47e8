import CoreDataModel
import Migrations
import RunSupport

/// Writes objects as rows of a Parquet file.
final class ParquetObjects: ObjectWriter {
  private let file: ParquetFile
  private let blobs: BlobReader
  private let uuid: String
  private let names: [String]
  /// Bytes of the keys of one to-many relationship at most.
  private let longest: Int

  init(_ file: ParquetFile, blobs: BlobReader, of graph: SourceGraph, memory: MemoryBudget) {
    (self.file, self.blobs, longest) = (file, blobs, memory.rowLimit)
    (uuid, names) = (graph.reader.metadata.uuid, graph.binding.layout.entityNames)
  }

  func write(_ entity: ExportEntity, _ row: ExportRow) throws {
    file.columns[0].append(entity.source.name)
    file.columns[1].append(row.key)
    file.columns[2].append("x-coredata://\(uuid)/\(entity.source.name)/p\(row.key)")
    for (part, column) in zip(entity.attributes, file.columns[3...]) { try write(part.content, row, to: column) }
    try file.endRow()
  }

  private func write(_ content: ExportEntity.Content, _ row: ExportRow, to column: ParquetColumn) throws {
    switch content {
    case .attribute(let position, .external): row.cell(position) { blobs.write(external: $0, to: column) }
    case .attribute(let position, let kind) where column.isMixed:
      row.cell(position) { blobs.write($0, as: kind, toMixed: column) }
    case .attribute(let position, _): row.cell(position) { blobs.write($0, to: column) }
    case .externalFile(let position): row.cell(position) { blobs.write(fileOf: $0, to: column) }
    case .toOne(let position, _, _): row.cell(position) { column.append($0) }
    case .toOneEntity(let position, let entityPosition, let destination):
      guard row.integer(position) != nil,
        let number = row.entityNumber(entityPosition, destination: destination)
      else { return column.appendNull() }
      column.append(names[number - 1])
    case .toMany(let relationship): try write(relationship, row, to: column)
    case .nothing: column.appendNull()
    }
  }

  /// Keys with blanks between them, as in CSV.
  private func write(_ relationship: StoredRelationship, _ row: ExportRow, to column: ParquetColumn) throws {
    var keys: [UInt8] = []
    try row.links.run(of: relationship).forEach(row.key) { key in
      keys += (keys.isEmpty ? "\(key)" : " \(key)").utf8
      guard keys.count <= longest else {
        throw BatchError(
          .refused, "\(column.name) has more objects than one value of a Parquet file can hold in memory",
          hint: "Give more --memory, or export as jsonl", entity: row.entity.name, key: row.key)
      }
    }
    keys.withUnsafeBytes { column.append($0) }
  }
}

extension ExportPlanner {
  /// The columns of a Parquet file of objects.
  func parquetColumns(_ columns: [ExportColumn], _ entities: [SourceEntity]) -> [ParquetColumn] {
    let types: [ParquetType] = [.text, .int64, .text]
    return zip(ExportColumn.first, types).map { ParquetColumn($0, $1, isOptional: false) }
      + columns.map { column in
        let types = column.content == .value ? self.types(column.property, entities) : [.text]
        // What holds the values of all.
        return ParquetColumn(column.name, types.count == 1 ? types.first ?? .text : .text, isMixed: types.count > 1)
      }
  }

  /// The types of a name in some entities: of its attributes, and of keys.
  private func types(_ name: String, _ entities: [SourceEntity]) -> Set<ParquetType> {
    var types: Set<ParquetType> = []
    for entity in entities {
      for (path, description) in leaves(entity.name) where path == name { types.insert(.init(description, options)) }
      guard relationships(entity.name).contains(where: { $0.name == name }),
        let content = relationship(name, entity)
      else { continue }
      if case .toOne = content { types.insert(.int64) } else { types.insert(.text) }
    }
    return types
  }
}
