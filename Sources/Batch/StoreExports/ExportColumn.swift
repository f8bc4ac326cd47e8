import CoreDataModel
import CoreDataStore
import Migrations

/// A column of a table of objects, as CSV and Parquet have it.
struct ExportColumn {
  enum Content {
    /// An attribute, or an element of a composite one.
    case attribute
    case relationship
    /// The entity of a to-one's object, if it may be a sub-entity.
    case entity
    /// The file beside the store that holds the value.
    case externalFile
  }

  /// Columns before all others.
  static let first = ["@entity", "@key", "@uri"]

  /// The property.
  let property: String
  let content: Content

  var name: String {
    switch content {
    case .attribute, .relationship: property
    case .entity: "\(property)@entity"
    case .externalFile: "\(property)@file"
    }
  }
}

extension ExportPlanner {
  /// The columns for an entity and its sub-entities: every property that one of them has, attributes first, by name.
  func columns(_ entities: [SourceEntity]) -> [ExportColumn] {
    var attributes: [String: Bool] = [:]
    var related: [String: Bool] = [:]
    for entity in entities {
      for (path, description) in leaves(entity.name) {
        guard case .attribute(_, let kind) = attribute(path, attribute: description, entity: entity) else { continue }
        attributes[path] = attributes[path] == true || kind == .external
      }
      for description in relationships(entity.name) {
        guard let content = relationship(description.name, entity) else { continue }
        if case .toOne(_, .some, _) = content { related[description.name] = true }
        related[description.name] = related[description.name] ?? false
      }
    }
    let hasFiles = options.format == .parquet
    return attributes.keys.sorted(by: NameOrder.codeUnits).flatMap { name in
      [ExportColumn(property: name, content: .attribute)]
        + (hasFiles && attributes[name] == true ? [ExportColumn(property: name, content: .externalFile)] : [])
    }
      + related.keys.sorted(by: NameOrder.codeUnits).flatMap { name in
        [ExportColumn(property: name, content: .relationship)]
          + (related[name] == true ? [ExportColumn(property: name, content: .entity)] : [])
      }
  }

  /// The first line of CSV.
  func csvHeader(_ columns: [ExportColumn]) -> [UInt8] {
    let names = ExportColumn.first + columns.map(\.name)
    return Array(names.map(quoted).joined(separator: [0x2C])) + [0x0D, 0x0A]
  }

  /// An entity's objects as rows of a table, with a part for each column.
  func tableEntity(_ entity: SourceEntity, _ columns: [ExportColumn]) -> ExportEntity {
    let own = Dictionary(leaves(entity.name).map { ($0.path, $0.attribute) }, uniquingKeysWith: { first, _ in first })
    let mine = Set(relationships(entity.name).map(\.name))
    let parts = columns.map { column in
      let content: ExportEntity.Content? =
        switch column.content {
        case .attribute: own[column.property].flatMap { attribute(column.property, attribute: $0, entity: entity) }
        case .externalFile: own[column.property].flatMap { file(column.property, attribute: $0, entity: entity) }
        case .relationship: mine.contains(column.property) ? relationship(column.property, entity) : nil
        case .entity: mine.contains(column.property) ? entityColumn(column.property, entity) : nil
        }
      return ExportEntity.Part(label: [0x2C], content: content ?? .nothing)
    }
    return ExportEntity(
      source: entity, beforeKey: quoted(entity.name) + [0x2C], beforeURI: [0x2C] + uriPrefix(entity.name),
      // A URI with a strange UUID in it is a quoted field.
      afterURI: uriPrefix(entity.name).first == 0x22 ? [0x22] : [], attributes: parts, between: [], relationships: [],
      end: [0x0D, 0x0A])
  }

  private func file(_ path: String, attribute description: AttributeDescription, entity: SourceEntity) -> ExportEntity
    .Content?
  {
    guard case .attribute(let position, .external) = attribute(path, attribute: description, entity: entity) else {
      return nil
    }
    return .externalFile(position: position)
  }

  private func entityColumn(_ name: String, _ entity: SourceEntity) -> ExportEntity.Content? {
    guard case .toOne(let position, let entityPosition?, let destination) = relationship(name, entity) else {
      return nil
    }
    return .toOneEntity(position: position, entityPosition: entityPosition, destination: destination)
  }
}
