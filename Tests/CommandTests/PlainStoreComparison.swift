import Foundation
import GRDB

/// Compares a file with Core Data's names with the store itself, table by table and value by value.
struct PlainStoreComparison {
  struct Difference: Error, CustomStringConvertible { let description: String }

  let file: String
  let store: String

  /// Compares all tables; returns how many rows there are.
  func run() throws -> Int {
    let (ours, theirs) = (try DatabaseQueue(path: file), try DatabaseQueue(path: store))
    defer {
      try? ours.close()
      try? theirs.close()
    }
    return try ours.read { db in
      try theirs.read { other in
        let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        // A many-to-many relationship of an entity with itself may be named by either side.
        let known = Set(try String.fetchAll(other, sql: "SELECT name FROM sqlite_master WHERE type = 'table'"))
        guard tables.filter({ !known.contains($0) }).allSatisfy({ $0.hasPrefix("Z_") }) else {
          throw Difference(description: "the store lacks tables of \(tables)")
        }
        return try tables.filter(known.contains).reduce(0) { try $0 + compare($1, db, other) }
      }
    }
  }

  private func compare(_ table: String, _ db: Database, _ other: Database) throws -> Int {
    let columns = try db.columns(in: table).map(\.name)
    let types = Dictionary(
      try other.columns(in: table).map { ($0.name.uppercased(), $0.type.uppercased()) }, uniquingKeysWith: { $1 })
    let list = columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
    let order = columns.contains("Z_PK") ? "Z_PK" : list
    let sql = "SELECT \(list) FROM \(table.quotedDatabaseIdentifier) ORDER BY \(order)"
    let (found, wanted) = (try Row.fetchCursor(db, sql: sql), try Row.fetchCursor(other, sql: sql))
    var count = 0
    while let row = try wanted.next() {
      guard let mine = try found.next() else { throw Difference(description: "\(table) lacks rows") }
      for (place, column) in columns.enumerated() {
        let (one, two): (DatabaseValue, DatabaseValue) = (mine[place], row[place])
        guard Self.isSame(one, two, types[column.uppercased()] ?? "") else {
          throw Difference(description: "\(table).\(column): \(one) of \(two)")
        }
      }
      count += 1
    }
    guard try found.next() == nil else { throw Difference(description: "\(table) has rows too many") }
    return count
  }

  private static func isSame(_ found: DatabaseValue, _ wanted: DatabaseValue, _ type: String) -> Bool {
    if found == wanted { return type != "TIMESTAMP" || wanted.isNull }
    switch (found.storage, wanted.storage) {
    case (.string(let text), .blob(let data)):
      guard data.count == 16, let uuid = UUID(uuidString: text) else { return false }
      return withUnsafeBytes(of: uuid.uuid) { Data($0) } == data
    // The corpus lacks files of external data.
    case (.null, .blob(let name)): return name.first == 2 && name.last == 0 && name.count == 38
    case (.blob(let data), .blob(let marked)): return marked.first == 1 && marked.dropFirst() == data
    case (.string(let text), _) where type == "TIMESTAMP":
      guard let seconds = Double.fromDatabaseValue(wanted), let found = PlainTime.seconds(text) else { return false }
      return abs(found - 978_307_200 - seconds) <= 1e-6
    case (.double(let double), _) where type == "TIMESTAMP":
      return Double.fromDatabaseValue(wanted).map { $0 + 978_307_200 } == double
    case (.string(let text), _) where type == "DECIMAL": return Double(text) == Double.fromDatabaseValue(wanted)
    case (.double(let double), .int64(let integer)): return double == Double(integer)
    default: return false
    }
  }
}
