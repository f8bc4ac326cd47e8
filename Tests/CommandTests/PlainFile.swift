import Foundation
import GRDB

/// A file of ordinary tables, compared with what `export` says of the store, and with the store itself: by SQL and
/// Foundation, and nothing of the engine.
struct PlainFile {
  struct Difference: Error, CustomStringConvertible { let description: String }

  let path: String

  private func differs(_ what: String) -> Difference { Difference(description: what) }

  /// Judges the file by SQLite's own checks; returns the rows of each table.
  func check() throws -> [String: Int] {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read { db in
      let found = try String.fetchAll(db, sql: "PRAGMA integrity_check")
      guard found == ["ok"] else { throw differs("\(found)") }
      let keys = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check")
      guard keys.isEmpty else { throw differs("\(keys)") }
      let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
      return try Dictionary(
        uniqueKeysWithValues: tables.map {
          ($0, try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0.quotedDatabaseIdentifier)") ?? -1)
        })
    }
  }

  /// Compares the objects of an export, which a table or view shows for each entity; returns their number.
  ///
  /// `tables` are tables or views by entity and `columns` columns by property, where they are not the usual ones.
  func compare(
    export text: String, tables: [String: String] = [:], columns: [String: String] = [:], dates: String = "iso",
    external: String? = nil
  ) throws -> Int {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    let lines = text.split(separator: "\n")
    try queue.read { db in
      for line in lines {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
        let (entity, key) = (object["entity"] as? String ?? "", (object["key"] as? NSNumber)?.int64Value ?? 0)
        let table = tables[entity] ?? Self.snakeCase(entity)
        let names = try db.columns(in: table).map(\.name)
        let id = names.contains("pk") ? "pk" : "id"
        let sql = "SELECT * FROM \(table.quotedDatabaseIdentifier) WHERE \(id) = ?"
        guard let row = try Row.fetchOne(db, sql: sql, arguments: [key]) else { throw differs("no \(entity) \(key)") }
        for (name, value) in object["attributes"] as? [String: Any] ?? [:] {
          let column = columns["\(entity).\(name)"] ?? Self.snakeCase(name)
          guard names.contains(column) else { throw differs("\(table) has no \(column): \(names)") }
          let found: DatabaseValue = row[column]
          guard try Self.isSame(found, value, dates, external) else {
            throw differs("\(entity) \(key) \(name): \(found), and \(value) was exported")
          }
        }
        for (name, value) in object["relationships"] as? [String: Any] ?? [:] where !(value is [Any]) {
          let found: DatabaseValue = row[Self.snakeCase(name) + "_id"]
          guard found == (Self.key(value).map(\.databaseValue) ?? .null) else {
            throw differs("\(entity) \(key) \(name): \(found), and \(value) was exported")
          }
        }
      }
    }
    return lines.count
  }

  /// The key in an exported link.
  static func key(_ value: Any) -> Int64? {
    ((value as? [String: Any])?["key"] as? NSNumber ?? value as? NSNumber)?.int64Value
  }

  private static func isSame(_ found: DatabaseValue, _ value: Any, _ dates: String, _ external: String?) throws -> Bool
  {
    switch (found.storage, value) {
    case (.null, is NSNull): return true
    case (.int64(let integer), let number as NSNumber): return integer == number.int64Value
    case (.double(let double), let number as NSNumber):
      // The parser's own double may be off by its last bit, and of a Float the digits are the shortest.
      return double == Double(number.stringValue) || Float(number.stringValue).map { Double($0) } == double
    case (.double(let double), let text as String):
      // A time: seconds since 1970 beside ISO 8601.
      return PlainTime.seconds(text).map { abs(double - $0) < 2e-6 } ?? false
    case (.string(let text), let number as NSNumber):
      return Decimal(string: text).map { NSDecimalNumber(decimal: $0).doubleValue } == number.doubleValue
        || Double(text) == Double(number.stringValue)
    // GRDB reads a text up to a NUL; another test looks at the bytes.
    case (.string(let text), let wanted as String): return text == String(wanted.prefix { $0 != "\0" })
    case (.blob(let data), let text as String): return Data(base64Encoded: text) == data
    case (.blob(let data), let file as [String: Any]):
      guard let name = file["externalFile"] as? String, let external else { return false }
      return try Data(contentsOf: URL(fileURLWithPath: external + "/" + name)) == data
    default: return false
    }
  }

  /// By another rule than the program's: a regular expression.
  static func snakeCase(_ name: String) -> String {
    name.replacing(/([A-Z]+)([A-Z][a-z])/) { "\($0.1)_\($0.2)" }.replacing(/([a-z0-9])([A-Z])/) { "\($0.1)_\($0.2)" }
      .lowercased()
  }
}

extension CommandFolder {
  /// Loads a store into a new file of ordinary tables.
  func loadPlain(_ store: String, _ model: String, _ words: [String], to output: String) throws
    -> CommandProcess.Outcome
  {
    try run("godwit", ["migrate", store, "--models", model, "--to-sqlite", "plain", "--output", output] + words)
  }
}
