import Foundation
import GRDB
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import RunSupport
@testable import StoreVerification

/// A store that is mutated, and the forms in which it is verified.
final class IntegrityStore {
  struct Form {
    var name: String
    /// The argument says whether bytes alone were changed, and not by SQLite.
    var verify: (Bool) throws -> [Violation]
  }

  let name: String
  let path: String
  let forms: [Form]
  private let whole: [UInt8]
  /// What the store lies in.
  private let owner: AnyObject
  private let trees: [String]

  private init(_ name: String, _ path: String, model: ManagedObjectModel, owner: AnyObject, forms: [Form] = []) throws {
    (self.name, self.path, self.owner) = (name, path, owner)
    whole = [UInt8](try MigrationFolder.bytes(path))
    let alone = Form(name: "alone") { _ in
      try Self.violations { try StoreVerifier(path: path, model: model).verify(nil, mode: .full) }
    }
    self.forms = [alone] + forms
    trees = try MigrationFolder.rows(path, "SELECT name FROM sqlite_master WHERE sql LIKE '%USING rtree%'")
      .map { $0.split(separator: "\"").dropFirst().first.map(String.init) ?? $0 }
  }

  static func violations(_ verify: () throws -> VerificationReport) throws -> [Violation] {
    do { return try verify().violations } catch let error as BatchError {
      // A file that is none of SQLite's, or whose log or schema nobody understands.
      return [Violation(kind: .damaged, message: "SQLite cannot read the file: \(error.message)")]
    }
  }

  static func all(seed: UInt64) throws -> [IntegrityStore] {
    var stores: [IntegrityStore] = []
    for (size, vacuum) in [(1024, 2), (512, 0), (4096, 1)] {
      let store = try VerificationStore(seed: seed)
      try store.change("PRAGMA page_size = \(size); PRAGMA auto_vacuum = \(vacuum); VACUUM")
      try store.change { try OtherTables.add(to: $0, seed: seed) }
      stores.append(
        try IntegrityStore("pages of \(size), vacuum \(vacuum)", store.path, model: store.layout.model, owner: store))
    }
    let finished = try MutatedStore(seed: seed)
    stores.append(
      try IntegrityStore(
        "migrated", finished.path, model: VerificationStore.model(), owner: finished,
        forms: [
          Form(name: "after a migration") { isRaw in
            try violations { try finished.verify(isDense: isRaw, mode: .full) }
          }
        ]))
    let places = try PlaceStore(rows: 250)
    let path = try places.migrated("whole")
    stores.append(try IntegrityStore("R-trees", path, model: try places.folder.model("V2"), owner: places.folder))
    return stores
  }

  /// Puts a fault into a fresh copy.
  func mutate(_ random: inout SeededRandom) throws -> (name: String, isRaw: Bool) {
    try Data(whole).write(to: URL(fileURLWithPath: path))
    if Int.random(in: 0..<4, using: &random) == 0 {
      return (try SchemaMutator(path: path).mutate(&random), false)
    }
    var mutator = FileMutator(whole)
    let name = mutator.mutate(&random)
    try Data(mutator.bytes).write(to: URL(fileURLWithPath: path))
    return (name, true)
  }

  /// What SQLite finds wrong in a copy: on a connection that only reads, integrity_check leaves out CHECK clauses.
  func integrityCheck() -> [String] {
    let copy = path + "-judged.sqlite"
    defer {
      for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: copy + suffix) }
    }
    do {
      try MigrationFolder.bytes(path).write(to: URL(fileURLWithPath: copy))
      let queue = try DatabaseQueue(path: copy)
      defer { try? queue.close() }
      return try queue.inDatabase { database in
        var lines = try String.fetchAll(database, sql: "PRAGMA integrity_check(5)").filter { $0 != "ok" }
        for tree in trees where lines.isEmpty {
          let found = try String.fetchOne(database, sql: "SELECT rtreecheck(?)", arguments: [tree]) ?? "ok"
          if found != "ok" { lines.append(found) }
        }
        return lines
      }
    } catch { return ["\(error)"] }
  }
}

/// Tables of every kind that a store may have beside those of its model.
enum OtherTables {
  static let sql = """
    CREATE TABLE OTHER_W (a VARCHAR COLLATE NOCASE, b INTEGER, c VARCHAR, d FLOAT NOT NULL DEFAULT 1, PRIMARY KEY (b DESC, a)) WITHOUT ROWID;
    CREATE INDEX OTHER_W_C ON OTHER_W (c);
    CREATE UNIQUE INDEX OTHER_W_D ON OTHER_W (d DESC, c COLLATE NOCASE);
    CREATE TABLE OTHER_T (k INTEGER PRIMARY KEY AUTOINCREMENT, t VARCHAR NOT NULL, n DECIMAL, x BLOB, u VARCHAR UNIQUE, f FLOAT);
    CREATE INDEX OTHER_T_T ON OTHER_T (t COLLATE NOCASE DESC, n);
    CREATE INDEX OTHER_T_F ON OTHER_T (f DESC, u COLLATE RTRIM);
    CREATE TABLE OTHER_P (k INTEGER PRIMARY KEY, n DECIMAL);
    CREATE INDEX OTHER_P_PART ON OTHER_P (n) WHERE n > 10;
    CREATE INDEX OTHER_P_SUM ON OTHER_P (n + 1);
    CREATE TABLE OTHER_C (k INTEGER PRIMARY KEY, v INTEGER CHECK (v < 1000));
    CREATE TABLE OTHER_G (k INTEGER PRIMARY KEY, v INTEGER, g INTEGER AS (v * 2) STORED);
    CREATE INDEX OTHER_G_G ON OTHER_G (g);
    CREATE TABLE OTHER_S (k INTEGER PRIMARY KEY, i INT NOT NULL, t TEXT, r REAL, x ANY) STRICT;
    CREATE INDEX OTHER_S_T ON OTHER_S (t, r DESC);
    CREATE VIRTUAL TABLE OTHER_R USING rtree(id, x0, x1, y0, y1, +note TEXT);
    CREATE VIRTUAL TABLE OTHER_I USING rtree_i32(id, x0, x1);
    """

  static func add(to database: Database, seed: UInt64) throws {
    var random = SeededRandom(seed)
    try database.execute(sql: sql)
    func number(_ most: Int) -> Int { Int.random(in: 0..<most, using: &random) }
    try database.execute(sql: "BEGIN")
    for key in 1...90 {
      let text = String(repeating: ["a", "B", "z "][number(3)], count: key % 17 == 0 ? 1500 : 1 + number(20))
      try database.execute(
        sql: "INSERT INTO OTHER_W VALUES (?, ?, ?, ?)",
        arguments: ["w\(key)", number(30), key % 5 == 0 ? nil : text, Double(key)])
      try database.execute(
        sql: "INSERT INTO OTHER_T VALUES (?, ?, ?, ?, ?, ?)",
        arguments: [
          key, text, key % 7 == 0 ? nil : number(50), Data(count: key % 20 == 0 ? 5000 : 3),
          key % 9 == 0 ? nil : "\(key)", Double(number(9)) / 2,
        ])
      try database.execute(sql: "INSERT INTO OTHER_P VALUES (?, ?)", arguments: [key, number(40)])
      try database.execute(sql: "INSERT INTO OTHER_C VALUES (?, ?)", arguments: [key, number(900)])
      try database.execute(sql: "INSERT INTO OTHER_G (v) VALUES (?)", arguments: [number(900)])
      try database.execute(
        sql: "INSERT INTO OTHER_S VALUES (?, ?, ?, ?, ?)", arguments: [key, number(99), text, Double(number(9)), key])
      let (x, y) = (Double(number(1000)), Double(number(1000)))
      try database.execute(
        sql: "INSERT INTO OTHER_R VALUES (?, ?, ?, ?, ?, 'n')", arguments: [key, x, x + 1, y, y + 2])
      try database.execute(sql: "INSERT INTO OTHER_I VALUES (?, ?, ?)", arguments: [key, Int(x), Int(y) + 1000])
    }
    try change(database)
  }

  /// Leaves free blocks, fragments and free pages.
  private static func change(_ database: Database) throws {
    // Its rows are shorter than the table now, and an expression gives what they lack.
    try database.execute(sql: "ALTER TABLE OTHER_P ADD COLUMN z INTEGER NOT NULL DEFAULT (CAST('5' AS INTEGER))")
    for table in ["OTHER_W WHERE d", "OTHER_T WHERE k", "OTHER_P WHERE k", "OTHER_S WHERE k", "OTHER_R WHERE id"] {
      try database.execute(sql: "DELETE FROM \(table) % 4 = 1")
    }
    try database.execute(sql: "UPDATE OTHER_T SET t = substr(t, 2) || 'yy' WHERE k % 3 = 0 AND length(t) > 3")
    try database.execute(sql: "COMMIT; DELETE FROM OTHER_T WHERE k > 70")
  }
}
