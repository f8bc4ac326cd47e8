import Foundation
import GRDB
import Streams

@testable import CoreDataModel

/// Writes graphs into stores and reads them, all through SQL.
enum OracleStore {
  struct Damage: Error, CustomStringConvertible { let description: String }

  /// Fills an empty store that has the model's tables.
  static func write(_ graph: OracleGraph, to path: String, _ random: inout SeededRandom) throws {
    var rows = Rows(graph: graph, layout: OracleLayout(graph.model))
    for key in graph.objects.keys.sorted() { rows.add(key, &random) }
    let queue = try DatabaseQueue(path: path)
    try queue.write { db in
      for (name, values) in rows.tables.sorted(by: { $0.key < $1.key }) {
        for (key, row) in values.sorted(by: { $0.key < $1.key }) {
          try insert(db, name, row.merging(["Z_PK": .integer(key)]) { $1 })
        }
      }
      for (root, largest) in graph.largestKeys {
        try db.execute(sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = ?", arguments: [largest, root])
      }
      for (name, links) in rows.links.sorted(by: { $0.key < $1.key }) {
        for link in links.shuffled(using: &random) { try insert(db, name, link) }
      }
    }
    // Small pages: more of them, and less for fingerprints to hash.
    let pageSize = [512, 512, 1024, 4096].randomElement(using: &random) ?? 512
    try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA page_size = \(pageSize); VACUUM") }
    try queue.close()
  }

  private static func insert(_ db: Database, _ table: String, _ row: [String: Value]) throws {
    let columns = row.keys.sorted()
    let names = columns.map { "\"\($0)\"" }.joined(separator: ", ")
    let marks = columns.map { _ in "?" }.joined(separator: ", ")
    let statement = try db.cachedStatement(sql: "INSERT INTO \"\(table)\" (\(names)) VALUES (\(marks))")
    try statement.execute(arguments: StatementArguments(columns.map { database(row[$0] ?? .null) }))
  }

  private static func database(_ value: Value) -> DatabaseValue {
    switch value {
    case .null: .null
    case .integer(let number): number.databaseValue
    case .real(let number): number.databaseValue
    case .text(let text): text.databaseValue
    case .blob(let bytes): Data(bytes).databaseValue
    }
  }

  /// Rows of tables by key, and rows of join tables.
  private struct Rows {
    let graph: OracleGraph
    let layout: OracleLayout
    var tables: [String: [Int64: [String: Value]]] = [:]
    var links: [String: [[String: Value]]] = [:]

    mutating func add(_ key: OracleKey, _ random: inout SeededRandom) {
      guard let object = graph.objects[key] else { return }
      var row: [String: Value] = ["Z_ENT": .integer(Int64(layout.numbers[key.entity] ?? 0))]
      row["Z_OPT"] = .integer(Int64.random(in: 1...9, using: &random))
      for attribute in graph.model.attributes(of: key.entity) where !attribute.isTransient {
        let column = layout.attributes["\(layout.owner(of: attribute.name, key.entity)).\(attribute.name)"] ?? ""
        row[column] = object.values[attribute.name] ?? .null
      }
      tables[layout.table(key.entity), default: [:]][key.key, default: [:]].merge(row) { $1 }
      for relationship in graph.model.relationships(of: key.entity) { add(relationship, of: key, object) }
    }

    private mutating func add(_ relationship: RelationshipDescription, of key: OracleKey, _ object: OracleGraph.Object)
    {
      let place = "\(layout.owner(of: relationship.name, key.entity)).\(relationship.name)"
      let targets = object.links[relationship.name] ?? []
      if let toOne = layout.toOnes[place], let target = targets.first {
        set(layout.table(key.entity), key.key, toOne.column, target.key)
        if let helper = toOne.entityColumn {
          set(layout.table(key.entity), key.key, helper, Int64(layout.numbers[target.entity] ?? 0))
        }
        if let order = toOne.orderColumn, let inverse = relationship.inverseName {
          let place = graph.objects[target]?.links[inverse]?.firstIndex(of: key) ?? 0
          set(layout.table(key.entity), key.key, order, Int64(place + 1) * 1024)
        }
      }
      for (index, target) in targets.enumerated() {
        if let owner = layout.owners[place] {
          set(owner.table, target.key, owner.column, key.key)
          if let order = owner.orderColumn { set(owner.table, target.key, order, Int64(index) * 512 - 700) }
        }
        guard let join = layout.joins[place], join.isFirst else { continue }
        var row: [String: Value] = [join.own: .integer(key.key), join.other: .integer(target.key)]
        if let order = join.order { row[order] = .integer(Int64(index + 1) * 1024) }
        if let inverse = relationship.inverseName, inverse != relationship.name,
          let order = layout.joins["\(layout.owner(of: inverse, target.entity)).\(inverse)"]?.order
        {
          let place = graph.objects[target]?.links[inverse]?.firstIndex(of: key) ?? 0
          row[order] = .integer(Int64(place + 1) * 3)
        }
        links[join.table, default: []].append(row)
      }
    }

    private mutating func set(_ table: String, _ key: Int64, _ column: String, _ value: Int64) {
      tables[table, default: [:]][key, default: [:]][column] = .integer(value)
    }
  }
}

extension OracleStore {
  /// Reads a store. Throws where SQLite finds damage, or a key leads to no object of the right entity.
  static func read(_ path: String, model: ManagedObjectModel) throws -> OracleGraph {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read { db in
      let check = try String.fetchAll(db, sql: "PRAGMA integrity_check")
      guard check == ["ok"] else { throw Damage(description: "integrity_check: \(check.prefix(3))") }
      var reading = Reading(layout: OracleLayout(model), graph: OracleGraph(model: model))
      for entity in model.entities where entity.superentity == nil { try reading.objects(db, root: entity.name) }
      for (name, join) in reading.layout.joins { try reading.links(db, name, join) }
      for (name, toOne) in reading.layout.toOnes { try reading.toOne(db, name, toOne) }
      for (name, owner) in reading.layout.owners { try reading.owners(db, name, owner) }
      return reading.graph
    }
  }

  private struct Reading {
    let layout: OracleLayout
    var graph: OracleGraph

    private var model: ManagedObjectModel { layout.model }

    mutating func objects(_ db: Database, root: String) throws {
      let largest = try Int64.fetchOne(
        db, sql: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", arguments: [layout.numbers[root]])
      for row in try Row.fetchAll(db, sql: "SELECT * FROM \"\(layout.table(root))\"") {
        let (key, number): (Int64, Int) = (row["Z_PK"], row["Z_ENT"])
        guard number > 0, number <= layout.names.count, model.root(of: layout.names[number - 1]) == root,
          model.entity(layout.names[number - 1])?.isAbstract == false, key <= largest ?? 0
        else { throw Damage(description: "\(root)/\(key) has the entity number \(number); Z_MAX is \(largest ?? 0)") }
        let entity = layout.names[number - 1]
        var object = OracleGraph.Object()
        for attribute in model.attributes(of: entity) where !attribute.isTransient {
          let column = layout.attributes["\(layout.owner(of: attribute.name, entity)).\(attribute.name)"] ?? ""
          guard row.hasColumn(column) else {
            throw Damage(description: "\(entity).\(attribute.name): no column \(column)")
          }
          object.values[attribute.name] = attribute.type.graphValue(OracleStore.value(row[column] as DatabaseValue))
        }
        graph.objects[OracleKey(entity: entity, key: key)] = object
      }
    }

    /// The object of a key that leads to an entity or one of its sub-entities.
    private func find(_ entity: String, _ key: Int64, _ name: String) throws -> OracleKey {
      for candidate in model.entities where model.isKind(candidate.name, of: entity) {
        let found = OracleKey(entity: candidate.name, key: key)
        if graph.objects[found] != nil { return found }
      }
      throw Damage(description: "\(name) has the key \(key), which leads to no \(entity)")
    }

    private func split(_ name: String) -> (entity: String, relationship: RelationshipDescription) {
      let parts = name.split(separator: ".").map(String.init)
      guard let found = model.relationship(parts[1], of: parts[0]) else { preconditionFailure(name) }
      return (parts[0], found)
    }

    private func pairs(_ db: Database, _ table: String, _ columns: [String?], by order: String?) throws -> [[Int64?]] {
      let names = columns.map { $0.map { "\"\($0)\"" } ?? "NULL" }.joined(separator: ", ")
      let sql = "SELECT \(names) FROM \"\(table)\" WHERE \"\(columns[1] ?? "")\" IS NOT NULL ORDER BY "
      return try Row.fetchAll(db, sql: sql + (order.map { "\"\($0)\", " } ?? "") + "1, 2").map { row in
        columns.indices.map { row[$0] }
      }
    }

    mutating func toOne(_ db: Database, _ name: String, _ toOne: OracleLayout.ToOne) throws {
      let (entity, relationship) = split(name)
      let (table, inverse) = (layout.table(entity), layout.inverse(of: relationship))
      for pair in try pairs(db, table, ["Z_PK", toOne.column, toOne.entityColumn], by: toOne.orderColumn) {
        guard let key = pair[0], let other = pair[1] else { continue }
        let (owner, target) = (try find(entity, key, name), try find(relationship.destinationEntity, other, name))
        if toOne.entityColumn != nil, pair[2] != layout.numbers[target.entity].map(Int64.init) {
          throw Damage(description: "\(owner).\(relationship.name) leads to \(target) and names entity \(pair[2] ?? 0)")
        }
        graph.add(target, to: relationship.name, of: owner)
        if let inverse, inverse.isToMany { graph.add(owner, to: inverse.name, of: target) }
      }
    }

    mutating func owners(_ db: Database, _ name: String, _ place: OracleLayout.Owner) throws {
      let (entity, relationship) = split(name)
      for pair in try pairs(db, place.table, ["Z_PK", place.column], by: place.orderColumn) {
        guard let key = pair[0], let other = pair[1] else { continue }
        let (owner, target) = (try find(entity, other, name), try find(relationship.destinationEntity, key, name))
        graph.add(target, to: relationship.name, of: owner)
      }
    }

    mutating func links(_ db: Database, _ name: String, _ join: OracleLayout.Join) throws {
      let (entity, relationship) = split(name)
      for pair in try pairs(db, join.table, [join.own, join.other], by: join.order) {
        guard let key = pair[0], let other = pair[1] else { continue }
        let (owner, target) = (try find(entity, key, name), try find(relationship.destinationEntity, other, name))
        graph.add(target, to: relationship.name, of: owner)
      }
    }
  }

  private static func value(_ value: DatabaseValue) -> Value {
    switch value.storage {
    case .null: .null
    case .int64(let number): .integer(number)
    case .double(let number): .real(number)
    case .string(let text): .text(text)
    case .blob(let data): .blob(Array(data))
    }
  }
}
