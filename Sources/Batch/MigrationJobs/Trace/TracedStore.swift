import CoreDataModel
import CoreDataStore
import Foundation
import Migrations
import RunSupport
import StoreExports
import Streams

/// A store whose objects are looked at one by one.
struct TracedStore {
  private static let mostObjects = 10
  private static let longestText = 200

  let reader: StoreReader
  let graph: SourceGraph
  private let model: ManagedObjectModel

  /// Takes a store of that version. `files` is where lists of relationships go.
  init(_ reader: StoreReader, model: ManagedObjectModel, files: StepFiles) throws {
    (self.reader, self.model) = (reader, model)
    let binding = try StoreBinding(reader, model: model)
    graph = try SourceGraph(reader: reader, binding: binding, scratch: files, rowLimit: files.budget.rowLimit)
  }

  /// The object of an entity or its sub-entities; nil if there is none.
  func object(_ entity: String, key: Int64) throws -> SourceObject? {
    guard let found = graph.entities[entity], let object = try graph.object(found.number, key: key) else { return nil }
    return model.isKind(object.entity.name, of: entity) ? object : nil
  }

  /// What an object has. `origin` says where a property comes from; keys from `firstNew` on, by table, are those of
  /// objects created in addition.
  func properties(
    of object: SourceObject, withValues: Bool, firstNew: [Int64] = [],
    origin: (_ name: String, _ isAttribute: Bool) -> String?
  ) throws -> [ObjectTrace.Property] {
    let attributes = try object.entity.attributes.names.compactMap { name -> ObjectTrace.Property? in
      guard let attribute = object.entity.attributes[name] else { return nil }
      let value = withValues ? try Self.text(object, attribute) : nil
      return .init(name: name, type: "\(attribute.type)", origin: origin(name, true), value: value)
    }
    let relationships = try object.entity.relationships.names.compactMap { name -> ObjectTrace.Property? in
      guard let relationship = object.entity.relationships[name] else { return nil }
      let kind = relationship.keyPosition == nil ? "to-many" : "to-one"
      let others = try object.objects(name).prefix(Self.mostObjects).map { other in
        let first = other.entity.table < firstNew.count ? firstNew[other.entity.table] : .max
        return ObjectTrace.Object(entity: other.entityName, key: other.key, isExact: other.key < first)
      }
      return .init(
        name: name, type: "\(kind) \(relationship.destination)", origin: origin(name, false), objects: others)
    }
    return attributes + relationships
  }

  /// The names of attributes that are not the same in another store's object of the same entity.
  func differences(_ object: SourceObject, _ other: SourceObject) throws -> [String] {
    try object.entity.attributes.names.filter { name in
      guard let attribute = object.entity.attributes[name], let counterpart = other.entity.attributes[name] else {
        return true
      }
      return try object.value(attribute) != other.value(counterpart)
    }
  }

  private static func text(_ object: SourceObject, _ attribute: StoredAttribute) throws -> String {
    let length = attribute.position < object.decoder.columnCount ? object.decoder.body(attribute.position).count : 0
    guard object.decoder.longValue(attribute.position) == nil, length <= 1 << 16 else { return "a long value" }
    switch (attribute.type, try object.value(attribute)) {
    case (_, .null): return "NULL"
    case (.boolean, .integer(let number)) where number == 0 || number == 1: return number == 1 ? "true" : "false"
    case (.date, .real(let seconds)):
      return ExportDate.text(seconds).map { String(decoding: $0, as: UTF8.self) } ?? "\(seconds)"
    case (.uuid, .blob(let bytes)) where bytes.count == 16:
      return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)).uuidString }
    case (_, .integer(let number)): return "\(number)"
    case (_, .real(let number)): return "\(number)"
    case (_, .text(let text)):
      return text.count > longestText ? "\(String(text.prefix(longestText)).debugDescription)…" : text.debugDescription
    case (_, .blob(let bytes)): return "\(bytes.count) bytes"
    }
  }
}
