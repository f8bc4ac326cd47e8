#if PostgreSQL
  import Foundation
  import GRDB

  @testable import CoreDataModel
  @testable import MappingModels
  @testable import LoadTables
  @testable import PostgresLoads

  /// Compares tables of a server with those of a store, by SQL on both sides and nothing of the engine: under Core
  /// Data's names columns have equal names, and a value's text on the server tells what it must be in the store.
  struct LoadedTables {
    struct Difference: Error, CustomStringConvertible { let description: String }

    let session: any PostgresSession
    let schema: String
    let store: String
    let model: ManagedObjectModel

    /// Compares all tables of the schema; returns how many rows there are.
    func compare(_ inheritance: TableInheritance) throws -> Int {
      let database = try DatabaseQueue(path: store)
      defer { try? database.close() }
      let tables = try session.rows(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = '\(schema)'"
      ).compactMap { $0[0] }
      var expected = Set(
        model.entities.filter { inheritance == .class || $0.superentity == nil }.map { "Z" + $0.name.uppercased() })
      expected.formUnion(try database.read { try String.fetchAll($0, sql: Self.joinTables) })
      guard Set(tables) == expected else { throw Difference(description: "tables \(tables), expected \(expected)") }
      return try tables.reduce(0) { try $0 + compare($1, database, inheritance) }
    }

    private static let joinTables =
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'Z_[0-9]*'"

    private func compare(_ table: String, _ database: DatabaseQueue, _ inheritance: TableInheritance) throws
      -> Int
    {
      let columns = try session.rows(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = '\(schema)' AND table_name = '\(table)' "
          + "ORDER BY ordinal_position"
      ).map { ($0[0] ?? "", $0[1] ?? "") }
      let list = columns.map { (name, type) -> String in
        switch type {
        // Microseconds since 2001, exactly.
        case "timestamp with time zone": "(extract(epoch FROM \"\(name)\") - 978307200)::text"
        case "bytea": "encode(\"\(name)\", 'hex')"
        default: "\"\(name)\"::text"
        }
      }.joined(separator: ", ")
      let found = try session.rows("SELECT \(list) FROM \"\(schema)\".\"\(table)\"").map { $0.map { $0 ?? "NULL" } }
      let wanted = try database.read { db in
        try Row.fetchAll(db, sql: try query(table, columns.map(\.0), inheritance)).map { row in
          columns.indices.map { text(row[$0], columns[$0].1, columns[$0].0, table) }
        }
      }
      let (left, right) = (
        found.map { $0.joined(separator: "|") }.sorted(), wanted.map { $0.joined(separator: "|") }.sorted()
      )
      guard left == right else {
        let place = left.indices.first { $0 >= right.count || left[$0] != right[$0] } ?? left.count
        let pair = [left, right].map { $0.indices.contains(place) ? String($0[place].prefix(2000)) : "-" }
        throw Difference(description: "\(table): \(left.count) and \(right.count) rows; \(pair[0])\nagainst \(pair[1])")
      }
      return left.count
    }

    /// Rows of the store's table: of a class those of its entity and all below it.
    private func query(_ table: String, _ columns: [String], _ inheritance: TableInheritance) throws
      -> String
    {
      let list: String = columns.map { (name: String) -> String in "\"\(name)\"" }.joined(separator: ", ")
      guard let entity = model.entities.first(where: { "Z" + $0.name.uppercased() == table }) else {
        return "SELECT \(list) FROM \"\(table)\""
      }
      let root = "Z" + model.root(of: entity.name).uppercased()
      guard inheritance == .class else { return "SELECT \(list) FROM \"\(root)\"" }
      let kinds = model.entities.filter { model.isKind($0.name, of: entity.name) }.map { entity -> String in
        "'\(entity.name)'"
      }
      .joined(separator: ", ")
      return
        "SELECT \(list) FROM \"\(root)\" WHERE Z_ENT IN (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME IN (\(kinds)))"
    }

    /// What a value of the store reads like on the server.
    private func text(_ value: DatabaseValue, _ type: String, _ column: String, _ table: String) -> String {
      switch (type, value.storage) {
      case (_, .null): return "NULL"
      case ("boolean", .int64(let number)): return number == 1 ? "true" : "false"
      case ("timestamp with time zone", _):
        let seconds = Double.fromDatabaseValue(value) ?? 0
        return String(format: "%.6f", seconds)
      case ("double precision", _): return Self.double(Double.fromDatabaseValue(value) ?? 0)
      case ("real", _): return Self.float(Float(Double.fromDatabaseValue(value) ?? 0))
      case ("uuid", .blob(let data)):
        return UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }).uuidString.lowercased()
      case ("bytea", .blob(let data)):
        // Of values that may lie in files, the first byte tells where they are.
        return data.dropFirst(isExternal(column, of: table) ? 1 : 0).map { String(format: "%02x", $0) }.joined()
      case ("numeric", .double(let number)): return NSDecimalNumber(string: "\(number)").stringValue
      case (_, .int64(let number)): return "\(number)"
      case (_, .string(let text)): return text
      default: return "?\(value)"
      }
    }

    private func isExternal(_ column: String, of table: String) -> Bool {
      guard let named = model.entities.first(where: { "Z" + $0.name.uppercased() == table }) else { return false }
      return model.entities.filter { model.root(of: $0.name) == model.root(of: named.name) }.flatMap(\.attributes)
        .contains {
          $0.allowsExternalBinaryDataStorage && "Z" + $0.name.uppercased() == column
        }
    }

    /// The shortest text that gives the number again, as PostgreSQL writes it.
    private static func double(_ number: Double) -> String { normal(number.description, isInfinite: number.isInfinite) }
    private static func float(_ number: Float) -> String { normal(number.description, isInfinite: number.isInfinite) }

    private static func normal(_ text: String, isInfinite: Bool) -> String {
      if isInfinite { return text.hasPrefix("-") ? "-Infinity" : "Infinity" }
      return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
  }
#endif
