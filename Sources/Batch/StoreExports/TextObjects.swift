import Migrations

/// Writes objects as text.
final class TextObjects: ObjectWriter {
  private let text: ExportText
  private let values: ExportValueWriter
  /// Names of entities as they are written, by number.
  private let names: [[UInt8]]

  init(_ text: ExportText, values: ExportValueWriter, entityNames: [String]) {
    (self.text, self.values) = (text, values)
    names = [[]] + entityNames.map { ExportText.prepared($0, text.format) }
  }

  func write(_ entity: ExportEntity, _ row: ExportRow) throws {
    text.append(entity.beforeKey)
    text.append(row.key)
    text.append(entity.beforeURI)
    text.append(row.key)
    text.append(entity.afterURI)
    for part in entity.attributes { try write(part, row) }
    text.append(entity.between)
    for part in entity.relationships { try write(part, row) }
    text.append(entity.end)
    try text.flushIfLarge()
  }

  private func write(_ part: ExportEntity.Part, _ row: ExportRow) throws {
    text.append(part.label)
    switch part.content {
    case .attribute(let position, let kind): row.cell(position) { values.write($0, as: kind) }
    case .toOne(let position, let entityPosition, let destination):
      writeToOne(position, entityPosition: entityPosition, destination: destination, row)
    case .toOneEntity(let position, let entityPosition, let destination):
      guard row.integer(position) != nil else { break }
      text.append(name(entityPosition, destination: destination, row))
    case .toMany(let relationship): try writeToMany(relationship, row)
    case .externalFile, .nothing: break
    }
    if !part.end.isEmpty { text.append(part.end) }
  }

  private func writeToOne(_ position: Int, entityPosition: Int?, destination: String, _ row: ExportRow) {
    guard let target = row.integer(position) else { return text.appendNull() }
    guard text.format == .jsonLines else { return text.append(target) }
    text.append("{\"entity\":")
    text.append(name(entityPosition, destination: destination, row))
    text.append(",\"key\":")
    text.append(target)
    text.append("}")
  }

  private func name(_ position: Int?, destination: String, _ row: ExportRow) -> [UInt8] {
    row.entityNumber(position, destination: destination).map { names[$0] } ?? []
  }

  private func writeToMany(_ relationship: StoredRelationship, _ row: ExportRow) throws {
    if text.format == .jsonLines { text.append("[") }
    var isFirst = true
    try row.links.run(of: relationship).forEach(row.key) { other in
      if !isFirst { text.append(byte: text.format == .jsonLines ? 0x2C : 0x20) }
      isFirst = false
      text.append(other)
      // An object may have millions of others.
      try text.flushIfLarge()
    }
    if text.format == .jsonLines { text.append("]") }
  }
}
