import CoreDataModel
import CoreDataStore
import Migrations
import Streams

/// What an export writes of the objects of one entity, prepared: everything that does not depend on a row is text
/// already.
struct ExportEntity {
  /// One value of an object.
  struct Part {
    /// What stands before the value: a comma, the name.
    var label: [UInt8]
    var content: Content
    /// What stands after it: the end of a composite attribute.
    var end: [UInt8] = []
  }

  enum Content {
    /// A column of the row.
    case attribute(position: Int, kind: ExportKind)
    /// The object at the other end of a to-one; its entity by number where it may be a sub-entity.
    case toOne(position: Int, entityPosition: Int?, destination: String)
    /// The entity of that object, in a CSV column of its own.
    case toOneEntity(position: Int, entityPosition: Int, destination: String)
    /// Keys of the objects at the other end of a to-many.
    case toMany(StoredRelationship)
    /// A CSV column that this entity does not have.
    case nothing
  }

  let source: SourceEntity
  /// Up to the key, and between the key's two appearances.
  let beforeKey: [UInt8]
  let beforeURI: [UInt8]
  /// Behind the URI.
  let afterURI: [UInt8]
  let attributes: [Part]
  /// Between attributes and relationships.
  let between: [UInt8]
  let relationships: [Part]
  let end: [UInt8]
}

/// Prepares the entities of an export in one of its formats.
struct ExportPlanner {
  let graph: SourceGraph
  let format: ExportFormat
  let uuid: String
  let includesToMany: Bool

  private var layout: StoreLayout { graph.binding.layout }

  /// Attributes that are stored, elements of composite attributes as `composite.element`, sorted by the attribute's
  /// name.
  private func leaves(_ entity: String) -> [(path: String, attribute: AttributeDescription)] {
    let own = layout.model.attributes(of: entity).filter { !$0.isTransient }
    var seen: Set<String> = []
    return own.filter { seen.insert($0.name).inserted }.sorted { NameOrder.codeUnits($0.name, $1.name) }
      .flatMap(\.leaves)
  }

  private func relationships(_ entity: String) -> [RelationshipDescription] {
    var seen: Set<String> = []
    return layout.model.relationships(of: entity).filter { !$0.isTransient && seen.insert($0.name).inserted }
      .filter { includesToMany || !$0.isToMany }.sorted { NameOrder.codeUnits($0.name, $1.name) }
  }

  private func position(_ column: Column?, _ entity: SourceEntity) -> Int? {
    let table = graph.binding.tables[entity.table]
    return column.flatMap { table.layout.columns.firstIndex(of: $0) }.map { table.positions[$0] }
  }

  private func attribute(_ path: String, attribute: AttributeDescription, entity: SourceEntity) -> ExportEntity
    .Content?
  {
    position(layout.column(forAttribute: path, ofEntity: entity.name), entity).map {
      .attribute(position: $0, kind: ExportKind(attribute))
    }
  }

  private func relationship(_ name: String, _ entity: SourceEntity) -> ExportEntity.Content? {
    guard let stored = entity.relationships[name] else { return nil }
    guard case .ownKey(let table, let column, let entityColumn, _) = stored.storage else { return .toMany(stored) }
    let positions = graph.binding.tables[table].positions
    return .toOne(
      position: positions[column], entityPosition: entityColumn.map { positions[$0] }, destination: stored.destination)
  }

  private func quoted(_ name: String) -> [UInt8] { ExportText.prepared(name, format) }

  private func uriPrefix(_ entity: String) -> [UInt8] {
    // The UUID comes from a file: it is quoted like any other text, and loses its closing quote until the key is there.
    var text = ExportText.prepared("x-coredata://\(uuid)/\(entity)/p", format)
    if text.last == 0x22 { text.removeLast() }
    return text
  }
}

extension ExportPlanner {
  /// One object of JSON: `{"entity":…,"key":…,"uri":…,"attributes":{…},"relationships":{…}}`.
  func jsonEntity(_ entity: SourceEntity) -> ExportEntity {
    var attributes: [ExportEntity.Part] = []
    var open: [String] = []
    for (path, description) in leaves(entity.name) {
      guard let content = attribute(path, attribute: description, entity: entity) else { continue }
      let names = path.split(separator: ".").map(String.init)
      let shared = zip(open, names.dropLast()).prefix { $0 == $1 }.count
      if !attributes.isEmpty {
        attributes[attributes.count - 1].end = Array(repeating: 0x7D, count: open.count - shared)
      }
      var label: [UInt8] = attributes.isEmpty ? [] : [0x2C]
      for (depth, name) in names.enumerated() where depth >= shared {
        label += quoted(name) + [0x3A] + (depth < names.count - 1 ? [0x7B] : [])
      }
      attributes.append(.init(label: label, content: content))
      open = names.dropLast()
    }
    if !attributes.isEmpty { attributes[attributes.count - 1].end = Array(repeating: 0x7D, count: open.count) }
    var related: [ExportEntity.Part] = []
    for description in relationships(entity.name) {
      guard let content = relationship(description.name, entity) else { continue }
      related.append(
        .init(label: (related.isEmpty ? [] : [0x2C]) + quoted(description.name) + [0x3A], content: content))
    }
    return ExportEntity(
      source: entity, beforeKey: Array("{\"entity\":".utf8) + quoted(entity.name) + Array(",\"key\":".utf8),
      beforeURI: Array(",\"uri\":".utf8) + uriPrefix(entity.name), afterURI: Array("\",\"attributes\":{".utf8),
      attributes: attributes, between: Array("},\"relationships\":{".utf8), relationships: related,
      end: Array("}}\n".utf8))
  }

  /// The columns of CSV for an entity and its sub-entities: every property that one of them has, by name.
  func csvColumns(_ entities: [SourceEntity]) -> (
    attributes: [String], relationships: [String], entityColumns: Set<String>
  ) {
    var (attributes, related, entityColumns): (Set<String>, Set<String>, Set<String>) = ([], [], [])
    for entity in entities {
      for (path, description) in leaves(entity.name)
      where attribute(path, attribute: description, entity: entity) != nil {
        attributes.insert(path)
      }
      for description in relationships(entity.name) {
        guard let content = relationship(description.name, entity) else { continue }
        related.insert(description.name)
        if case .toOne(_, .some, _) = content { entityColumns.insert(description.name) }
      }
    }
    return (attributes.sorted(by: NameOrder.codeUnits), related.sorted(by: NameOrder.codeUnits), entityColumns)
  }

  /// The first line: `@entity`, `@key`, `@uri`, attributes, relationships; `name@entity` holds the entity of a to-one's
  /// object where it may be a sub-entity.
  func csvHeader(_ entities: [SourceEntity]) -> [UInt8] {
    let columns = csvColumns(entities)
    let names =
      ["@entity", "@key", "@uri"] + columns.attributes
      + columns.relationships.flatMap { columns.entityColumns.contains($0) ? [$0, "\($0)@entity"] : [$0] }
    return Array(names.map(quoted).joined(separator: [0x2C])) + [0x0D, 0x0A]
  }

  /// One row of CSV.
  func csvEntity(_ entity: SourceEntity, among all: [SourceEntity]) -> ExportEntity {
    let columns = csvColumns(all)
    let own = Dictionary(leaves(entity.name).map { ($0.path, $0.attribute) }, uniquingKeysWith: { first, _ in first })
    let attributes = columns.attributes.map { path in
      let content = own[path].flatMap { attribute(path, attribute: $0, entity: entity) }
      return ExportEntity.Part(label: [0x2C], content: content ?? .nothing)
    }
    let mine = Set(relationships(entity.name).map(\.name))
    var related: [ExportEntity.Part] = []
    for name in columns.relationships {
      let content = mine.contains(name) ? relationship(name, entity) : nil
      related.append(.init(label: [0x2C], content: content ?? .nothing))
      guard columns.entityColumns.contains(name) else { continue }
      var second = ExportEntity.Content.nothing
      if case .toOne(let position, .some(let entityPosition), let destination) = content {
        second = .toOneEntity(position: position, entityPosition: entityPosition, destination: destination)
      }
      related.append(.init(label: [0x2C], content: second))
    }
    return ExportEntity(
      source: entity, beforeKey: quoted(entity.name) + [0x2C], beforeURI: [0x2C] + uriPrefix(entity.name),
      // A URI with a strange UUID in it is a quoted field.
      afterURI: uriPrefix(entity.name).first == 0x22 ? [0x22] : [], attributes: attributes, between: [],
      relationships: related, end: [0x0D, 0x0A])
  }
}
