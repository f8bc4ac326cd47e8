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
    /// The entity of that object, in a column of its own.
    case toOneEntity(position: Int, entityPosition: Int, destination: String)
    /// The file that holds a value beside the store, in a column of its own.
    case externalFile(position: Int)
    /// Keys of the objects at the other end of a to-many.
    case toMany(StoredRelationship)
    /// A column that this entity does not have.
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
  /// Which of its objects are written; nil for all.
  var filter: ExportFilter?

  /// Whether an object is written.
  func takes(_ decoder: RecordDecoder, key: Int64, of graph: SourceGraph) throws -> Bool {
    try filter?.takes(decoder, key: key) { graph.missing(source, $0) } ?? true
  }
}

/// Prepares the entities of an export in one of its formats.
package struct ExportPlanner {
  let graph: SourceGraph
  let options: ExportOptions
  let uuid: String

  package init(graph: SourceGraph, options: ExportOptions, uuid: String) {
    (self.graph, self.options, self.uuid) = (graph, options, uuid)
  }

  private var format: ExportTextFormat { options.format.text ?? .csv }

  private var layout: StoreLayout { graph.binding.layout }

  /// Attributes that are stored, elements of composite attributes as `composite.element`, sorted by the attribute's
  /// name.
  func leaves(_ entity: String) -> [(path: String, attribute: AttributeDescription)] {
    let own = layout.model.attributes(of: entity).filter { !$0.isTransient }
    var seen: Set<String> = []
    return own.filter { seen.insert($0.name).inserted }.sorted { NameOrder.codeUnits($0.name, $1.name) }
      .flatMap(\.leaves).filter { isWanted($0.path) }
  }

  /// Whether a property, or the composite attribute that it is a part of, is asked for.
  private func isWanted(_ path: String) -> Bool {
    options.columns.isEmpty || options.columns.contains { path == $0 || path.hasPrefix($0 + ".") }
  }

  func relationships(_ entity: String) -> [RelationshipDescription] {
    var seen: Set<String> = []
    return layout.model.relationships(of: entity).filter { !$0.isTransient && seen.insert($0.name).inserted }
      .filter { options.includesToMany || !$0.isToMany }.filter { isWanted($0.name) }.sorted {
        NameOrder.codeUnits($0.name, $1.name)
      }
  }

  private func position(_ column: Column?, _ entity: SourceEntity) -> Int? {
    let table = graph.binding.tables[entity.table]
    return column.flatMap { table.layout.columns.firstIndex(of: $0) }.map { table.positions[$0] }
  }

  func attribute(_ path: String, attribute: AttributeDescription, entity: SourceEntity) -> ExportEntity
    .Content?
  {
    position(layout.column(forAttribute: path, ofEntity: entity.name), entity).map {
      .attribute(position: $0, kind: ExportKind(attribute).written(options.dates))
    }
  }

  func relationship(_ name: String, _ entity: SourceEntity) -> ExportEntity.Content? {
    guard let stored = entity.relationships[name] else { return nil }
    guard case .ownKey(let table, let column, let entityColumn, _) = stored.storage else { return .toMany(stored) }
    let positions = graph.binding.tables[table].positions
    return .toOne(
      position: positions[column], entityPosition: entityColumn.map { positions[$0] }, destination: stored.destination)
  }

  /// What the options say of an entity's objects. Columns that are not written can be asked about, too.
  package func filter(_ entity: SourceEntity) throws -> ExportFilter? {
    let attributes = layout.model.storedAttributes(of: entity.name)
    func place(_ path: String, _ attribute: AttributeDescription) -> ExportFilter.Place? {
      position(layout.column(forAttribute: path, ofEntity: entity.name), entity).map {
        ExportFilter.Place(position: $0, kind: ExportKind(attribute), isText: [.string, .uri].contains(attribute.type))
      }
    }
    let dates = attributes.filter { $0.attribute.type == .date }.compactMap { place($0.path, $0.attribute)?.position }
    return try ExportFilter(options, dates: dates) { name in
      if let found = attributes.first(where: { $0.path == name }) { return place(found.path, found.attribute) }
      guard case .toOne(let position, _, _) = relationship(name, entity) else { return nil }
      return .init(position: position, kind: .stored, isKey: true)
    }
  }

  func quoted(_ name: String) -> [UInt8] { ExportText.prepared(name, format) }

  func uriPrefix(_ entity: String) -> [UInt8] {
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
}
