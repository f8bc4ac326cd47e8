import Foundation
import GRDB

@testable import CoreDataModel
@testable import CoreDataStore

/// A value of JSON, or what an export should have made of a value in a store.
enum ExportedValue: Decodable, CustomStringConvertible {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case list([ExportedValue])
  case object([String: ExportedValue])
  /// Expected only: a text that names this moment, in seconds since 2001.
  case moment(Double)

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .boolean(flag)
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? container.decode(Double.self) {
      self = .real(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([ExportedValue].self) {
      self = .list(list)
    } else {
      self = .object(try container.decode([String: ExportedValue].self))
    }
  }

  /// Does an exported value say what this one expects?
  func isMet(by other: ExportedValue) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.boolean(let left), .boolean(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.real(let left), .real(let right)): left == right
    // JSON does not tell 1 from 1.0.
    case (.real(let left), .integer(let right)): left == Double(right)
    case (.text(let left), .text(let right)): left == right
    case (.list(let left), .list(let right)):
      left.count == right.count && zip(left, right).allSatisfy { $0.isMet(by: $1) }
    case (.object(let left), .object(let right)):
      left.keys == right.keys && left.allSatisfy { right[$0.key].map($0.value.isMet) ?? false }
    case (.moment(let seconds), .text(let text)): Self.seconds(text).map { abs($0 - seconds) <= 0.000_001 } ?? false
    default: false
    }
  }

  /// Foundation's reading of a date, the fraction added.
  static func seconds(_ text: String) -> Double? {
    guard text.count == 27, let dot = text.firstIndex(of: "."), text.hasSuffix("Z"),
      let date = ISO8601DateFormatter().date(from: text[..<dot] + "Z"),
      let fraction = Double("0" + text[dot...].dropLast())
    else { return nil }
    return date.timeIntervalSinceReferenceDate + fraction
  }

  var description: String {
    switch self {
    case .null: "null"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let value): value.debugDescription
    case .list(let value): "\(value)"
    case .object(let value): "\(value.sorted { $0.key < $1.key })"
    case .moment(let value): "moment(\(value))"
    }
  }
}

/// What an export should say of a store, found by SQL: shares no code with it but the names of columns and tables.
struct ExportOracle {
  let database: Database
  let layout: StoreLayout
  let uuid: String

  init(_ database: Database, _ model: ManagedObjectModel) throws {
    self.database = database
    layout = try StoreLayout(model: model, purpose: .reading)
    uuid = try String.fetchOne(database, sql: "SELECT Z_UUID FROM Z_METADATA") ?? ""
  }

  /// The objects of exactly this entity, in the order of their keys.
  func objects(_ entity: String, withToMany: Bool) throws -> [ExportedValue] {
    guard let table = layout.table(ofEntity: entity), let number = layout.entityNumbers[entity] else { return [] }
    let rows = try Row.fetchAll(
      database, sql: "SELECT * FROM \"\(table.name)\" WHERE Z_ENT = ? ORDER BY Z_PK", arguments: [number])
    let toMany = try withToMany ? self.toMany(entity) : [:]
    return rows.map { row in
      let key: Int64 = row["Z_PK"]
      var related = toOne(entity, row)
      for (name, lists) in toMany { related[name] = .list((lists[key] ?? []).map { .integer($0) }) }
      return .object([
        "entity": .text(entity), "key": .integer(key), "uri": .text("x-coredata://\(uuid)/\(entity)/p\(key)"),
        "attributes": attributes(layout.model.attributes(of: entity), "", entity, row),
        "relationships": .object(related),
      ])
    }
  }

  private func attributes(_ all: [AttributeDescription], _ prefix: String, _ entity: String, _ row: Row)
    -> ExportedValue
  {
    var found: [String: ExportedValue] = [:]
    for attribute in all where !attribute.isTransient {
      let path = prefix + attribute.name
      if attribute.type == .composite {
        found[attribute.name] = attributes(attribute.elements, path + ".", entity, row)
      } else if let column = layout.column(forAttribute: path, ofEntity: entity) {
        found[attribute.name] = Self.value(row[column.name], attribute)
      }
    }
    return .object(found)
  }

  static func value(_ stored: DatabaseValue, _ attribute: AttributeDescription) -> ExportedValue {
    switch (attribute.type, stored.storage) {
    case (_, .null): return .null
    case (.boolean, .int64(let number)) where number == 0 || number == 1: return .boolean(number == 1)
    case (.date, .int64(let number)): return .moment(Double(number))
    case (.date, .double(let number)): return .moment(number)
    case (.float, .double(let number)) where Double(Float(number)) == number:
      return .real(Double("\(Float(number))") ?? 0)
    case (.uuid, .blob(let data)) where data.count == 16:
      let bytes = [UInt8](data).map { String(format: "%02X", $0) }.joined()
      let cuts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
      return .text(cuts.map { String(Array(bytes)[$0]) }.joined(separator: "-"))
    case (.binaryData, .blob(let data)) where attribute.allowsExternalBinaryDataStorage:
      if data.first == 1 { return .text(data.dropFirst().base64EncodedString()) }
      guard data.first == 2, data.count == 38 else { return .text(data.base64EncodedString()) }
      return .object(["bytes": .null, "externalFile": .text(String(decoding: data[1..<37], as: UTF8.self))])
    case (_, .int64(let number)): return .integer(number)
    case (_, .double(let number)): return .real(number)
    case (_, .string(let text)): return .text(text)
    case (_, .blob(let data)): return .text(data.base64EncodedString())
    }
  }

  private func toOne(_ entity: String, _ row: Row) -> [String: ExportedValue] {
    var found: [String: ExportedValue] = [:]
    for relationship in layout.model.relationships(of: entity) where !relationship.isToMany && !relationship.isTransient
    {
      guard let column = layout.column(forToOne: relationship.name, ofEntity: entity) else { continue }
      found[relationship.name] = .null
      guard let key = row[column.name] as Int64? else { continue }
      var destination = relationship.destinationEntity
      if let helper = layout.entityColumn(forToOne: relationship.name, ofEntity: entity), row.hasColumn(helper.name),
        let number = row[helper.name] as Int?
      {
        destination = layout.entityNames[number - 1]
      }
      found[relationship.name] = .object(["entity": .text(destination), "key": .integer(key)])
    }
    return found
  }

  private func toMany(_ entity: String) throws -> [String: [Int64: [Int64]]] {
    var found: [String: [Int64: [Int64]]] = [:]
    for relationship in layout.model.relationships(of: entity) where relationship.isToMany && !relationship.isTransient
    {
      let pairs: String
      switch layout.storage(of: relationship.name, entity: entity) {
      case .inverseKey(let table, let column, let order), .ownerKey(let table, let column, let order):
        let table = layout.entityTables[table]
        let place = relationship.isOrdered ? order.map { "\"\(table.columns[$0].name)\"" } ?? "0" : "0"
        pairs = "SELECT \"\(table.columns[column].name)\", \(place), Z_PK FROM \"\(table.name)\""
      case .join(let table, let ownerIsSource):
        let join = layout.joinTables[table]
        let (own, other) =
          ownerIsSource ? (join.sourceColumn, join.destinationColumn) : (join.destinationColumn, join.sourceColumn)
        let order = ownerIsSource ? join.destinationOrderColumn : join.sourceOrderColumn
        let place = relationship.isOrdered ? order.map { "\"\($0)\"" } ?? "0" : "0"
        pairs = "SELECT \"\(own)\", \(place), \"\(other)\" FROM \"\(join.name)\""
      default: continue
      }
      var lists: [Int64: [Int64]] = [:]
      for row in try Row.fetchAll(database, sql: pairs + " ORDER BY 1, 2, 3") where !(row[0] as DatabaseValue).isNull {
        lists[row[0], default: []].append(row[2])
      }
      found[relationship.name] = lists
    }
    return found
  }
}
