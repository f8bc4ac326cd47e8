import CoreDataModel
import CoreDataStore
import Migrations

/// A column of a table of objects, as CSV and Parquet have it. A name has one column, even if it is an attribute in one
/// sub-entity and a relationship in another.
struct ExportColumn {
  enum Content {
    /// What an object's entity has by that name: an attribute, an element of a composite one, or a relationship.
    case value
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
    case .value: property
    case .entity: "\(property)@entity"
    case .externalFile: "\(property)@file"
    }
  }
}

extension ExportPlanner {
  /// The columns for an entity and its sub-entities: every property that one of them has, by name; first what is an
  /// attribute in one of them.
  func columns(_ entities: [SourceEntity]) -> [ExportColumn] {
    var (attributes, found): (Set<String>, [String: [ExportEntity.Content]]) = ([], [:])
    for entity in entities {
      for (path, description) in leaves(entity.name) {
        guard let content = attribute(path, attribute: description, entity: entity) else { continue }
        attributes.insert(path)
        found[path, default: []].append(content)
      }
      for description in relationships(entity.name) {
        guard let content = relationship(description.name, entity) else { continue }
        found[description.name, default: []].append(content)
      }
    }
    let names = found.keys.sorted(by: NameOrder.codeUnits)
    return (names.filter(attributes.contains) + names.filter { !attributes.contains($0) }).flatMap { name in
      columns(name, found[name] ?? [])
    }
  }

  /// The columns for a name that has these kinds in the entities of a file.
  private func columns(_ name: String, _ contents: [ExportEntity.Content]) -> [ExportColumn] {
    let isExternal = contents.contains { if case .attribute(_, .external) = $0 { true } else { false } }
    let hasEntity = contents.contains { if case .toOne(_, .some, _) = $0 { true } else { false } }
    var columns = [ExportColumn(property: name, content: .value)]
    if isExternal, options.format == .parquet { columns.append(.init(property: name, content: .externalFile)) }
    if hasEntity { columns.append(.init(property: name, content: .entity)) }
    return columns
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
        case .value:
          own[column.property].flatMap { attribute(column.property, attribute: $0, entity: entity) }
            ?? (mine.contains(column.property) ? relationship(column.property, entity) : nil)
        case .externalFile: own[column.property].flatMap { file(column.property, attribute: $0, entity: entity) }
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
