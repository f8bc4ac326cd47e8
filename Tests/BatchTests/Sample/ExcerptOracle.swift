import Foundation
import GRDB
import Streams

@testable import CoreDataModel
@testable import CoreDataStore
@testable import StoreSamples

/// Compares an excerpt with what SQL takes of the store.
struct ExcerptOracle {
  private let model: ManagedObjectModel
  private let binding: StoreBinding
  private let queue: DatabaseQueue

  init(_ store: String, excerpt: String, model: ManagedObjectModel) throws {
    self.model = model
    let reader = try StoreReader(path: store, fileSystem: LocalFileSystem(), locking: .none)
    defer { reader.close() }
    binding = try StoreBinding(reader, model: model)
    queue = try DatabaseQueue()
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "ATTACH ? AS s; ATTACH ? AS e", arguments: [store, excerpt])
      for table in binding.tables.indices { try db.execute(sql: "CREATE TABLE k\(table) (k INTEGER PRIMARY KEY)") }
    }
  }

  private func name(_ table: Int) -> String { binding.tables[table].schema.name.quotedDatabaseIdentifier }

  private func column(_ table: Int, _ place: Int) -> String {
    let bound = binding.tables[table]
    return bound.schema.columns[bound.positions[place]].name.quotedDatabaseIdentifier
  }

  /// Everything in which the excerpt differs. `condition` is SQL.
  func problems(_ entity: String? = nil, where condition: String = "1", limit: Int) throws -> [String] {
    try queue.writeWithoutTransaction { db in
      try ask(db, entity, condition, limit)
      while try follow(db) > 0 {}
      return try binding.tables.indices.flatMap { try rows($0, db) + owners($0, db) }
        + binding.joins.flatMap { try links($0, db) }
    }
  }

  private func ask(_ db: Database, _ entity: String?, _ condition: String, _ limit: Int) throws {
    let members = binding.layout.entityNames.filter { name in entity.map { model.isKind(name, of: $0) } ?? true }
    for table in binding.tables.indices {
      let own = members.filter { binding.layout.tablePosition(ofEntity: $0) == table }
      let numbers = own.compactMap { binding.layout.entityNumbers[$0].map(String.init) }.joined(separator: ", ")
      try db.execute(
        sql: """
          INSERT INTO k\(table) SELECT Z_PK FROM s.\(name(table)) WHERE Z_ENT IN (\(numbers)) AND \(condition)
          ORDER BY Z_PK LIMIT \(limit)
          """)
    }
  }

  private func follow(_ db: Database) throws -> Int {
    let before = db.totalChangesCount
    for entity in binding.layout.entityNames {
      for relationship in model.relationships(of: entity) where !relationship.isToMany {
        guard case .ownKey(let table, let place, _, _)? = binding.layout.storage(of: relationship.name, entity: entity),
          let other = binding.layout.tablePosition(ofEntity: relationship.destinationEntity),
          let number = binding.layout.entityNumbers[entity]
        else { continue }
        try db.execute(
          sql: """
            INSERT OR IGNORE INTO k\(other) SELECT \(column(table, place)) FROM s.\(name(table))
            WHERE Z_ENT = \(number) AND Z_PK IN k\(table) AND \(column(table, place)) IN (SELECT Z_PK FROM s.\(name(other)))
            """)
      }
    }
    return db.totalChangesCount - before
  }

  private func differ(_ left: String, _ right: String, _ what: String, _ db: Database) throws -> [String] {
    try [(left, right, "too many"), (right, left, "missing")].compactMap { one, other, how -> String? in
      let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM (SELECT \(one) EXCEPT SELECT \(other))") ?? -1
      return count == 0 ? nil : "\(what): \(count) \(how)"
    }
  }

  private func rows(_ table: Int, _ db: Database) throws -> [String] {
    let bound = binding.tables[table]
    let owned = Set(
      bound.layout.columns.indices.filter { place in
        switch bound.layout.columns[place].role {
        case .inverselessOwner, .inverselessOrder: true
        default: false
        }
      }.map { bound.positions[$0] })
    let columns = bound.schema.columns.indices.filter { !owned.contains($0) }.map { position -> String in
      let name = bound.schema.columns[position].name.quotedDatabaseIdentifier
      return "\(name), typeof(\(name))"
    }.joined(separator: ", ")
    return try differ(
      "\(columns) FROM e.\(name(table))", "\(columns) FROM s.\(name(table)) WHERE Z_PK IN k\(table)", name(table), db)
  }

  private func owners(_ table: Int, _ db: Database) throws -> [String] {
    try binding.tables[table].layout.columns.indices.flatMap { place -> [String] in
      guard case .inverselessOwner(let entity, _) = binding.tables[table].layout.columns[place].role,
        let other = binding.layout.tablePosition(ofEntity: entity)
      else { return [] }
      let key = column(table, place)
      return try differ(
        "Z_PK, \(key) FROM e.\(name(table))",
        "Z_PK, CASE WHEN \(key) IN k\(other) THEN \(key) END FROM s.\(name(table)) WHERE Z_PK IN k\(table)", key, db)
    }
  }

  private func links(_ join: StoreBinding.Join, _ db: Database) throws -> [String] {
    let name = join.schema.name.quotedDatabaseIdentifier
    let names = join.schema.columns.map { $0.name.quotedDatabaseIdentifier }
    guard let source = binding.layout.tablePosition(ofEntity: join.layout.relationship.entity),
      let other = binding.layout.tablePosition(ofEntity: join.layout.inverse.entity)
    else { return ["\(name): no table"] }
    let columns = names.joined(separator: ", ")
    return try differ(
      "\(columns) FROM e.\(name)",
      """
      \(columns) FROM s.\(name)
      WHERE \(names[join.sourcePosition]) IN k\(source) AND \(names[join.destinationPosition]) IN k\(other)
      """, name, db)
  }
}
