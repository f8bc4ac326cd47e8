import Foundation
import GRDB
import Testing

@testable import LoadTables
@testable import MappingModels
@testable import Migrations
@testable import PlainLoads
@testable import RunSupport
@testable import Streams

@Suite("The proof of ordinary tables")
struct PlainProofTests {
  /// Runs the proof on a file.
  private func prove(_ file: String, _ store: String, _ model: String, _ rows: [String: Int], _ dates: PlainDates)
    throws
  {
    var destination = PlainDestination(path: file)
    destination.dates = dates
    let rules = PlainRules(destination)
    let version = try ModelLibrary(paths: [model]).target(named: "Zoo")
    let source = try LoadStore(store, model: version, LocalFileSystem())
    defer { source.close() }
    let schema = try LoadSchemaPlanner.plan(version, rules.tables)
    try PlainProof(
      path: file, schema: schema, rules: rules, store: source, rowLimit: MemoryBudget.standard.rowLimit,
      monitor: RunMonitor()
    ).run(rows: schema.tables.map { UInt64(rows[$0.name] ?? 0) }) { _ in }
  }

  @Test("Each value that is not what the store has is found, and the row is named", arguments: [PlainDates.iso, .unix])
  func changed(dates: PlainDates) throws {
    let folder = try CommandFolder()
    let (store, model) = try ZooModel.store(folder)
    let output = folder.file("plain.sqlite")
    let made = try folder.run(
      "godwit",
      ["migrate", store, "--models", model, "--to-sqlite", "plain", "--output", output, "--dates", dates.rawValue])
    #expect(made.code == 0, "\(made)")
    let rows = try PlainFile(path: output).check()
    try prove(output, store, model, rows, dates)
    let time = dates == .iso ? "'1969-07-20T20:17:40.123458Z'" : "birth_date + 0.000002"
    for change in [
      "birth_date = \(time) WHERE pk = 1", "birth_date = NULL WHERE pk = 1", "mid = 2000000001 WHERE pk = 1",
      "weight = 70.5 WHERE pk = 1", "pay = '12.51' WHERE pk = 1", "uuid = lower(uuid) || ' ' WHERE pk = 1",
      "uuid = NULL WHERE pk = 1", "photo = x'0102' WHERE pk = 1", "photo = NULL WHERE pk = 2",
      "photo = substr(photo, 1, 199999) || x'00' WHERE pk = 2", "plain = NULL WHERE pk = 1",
      "\"order\" = 'a' WHERE pk = 2",
      "keeper_rowid = substr(keeper_rowid, 1, length(keeper_rowid) - 1) || 'x' WHERE pk = 5",
      "boss_id = 3 WHERE pk = 5",
      "\"group\" = 0 WHERE pk = 1", "small = NULL WHERE pk = 1", "pk = 10 WHERE pk = 9",
    ] {
      try expectFound("UPDATE keeper SET \(change)", output, store, model, rows, dates)
    }
    for change in [
      "DELETE FROM url_thing", "INSERT INTO void VALUES (1)", "UPDATE keeper_tags SET tags_order = 5 WHERE tag_id = 3",
      "UPDATE animal SET entity = 'Cub' WHERE id = 1", "DELETE FROM keeper_friends WHERE friends_id = 2",
    ] { try expectFound(change, output, store, model, rows, dates) }
  }

  private func expectFound(
    _ change: String, _ output: String, _ store: String, _ model: String, _ rows: [String: Int], _ dates: PlainDates
  ) throws {
    let copy = output + ".changed"
    defer { try? FileManager.default.removeItem(atPath: copy) }
    try FileManager.default.copyItem(atPath: output, toPath: copy)
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    let queue = try DatabaseQueue(path: copy, configuration: configuration)
    try queue.write { db in
      // What the tables themselves refuse is not of interest here.
      try db.execute(sql: "PRAGMA writable_schema = ON")
      try db.execute(sql: "UPDATE sqlite_master SET sql = replace(sql, ' TEXT NOT NULL', ' TEXT')")
      try db.execute(sql: "UPDATE sqlite_master SET sql = replace(sql, ' REAL NOT NULL', ' REAL')")
      try db.execute(sql: "PRAGMA writable_schema = RESET")
      try db.execute(sql: change)
    }
    try queue.close()
    do {
      try prove(copy, store, model, rows, dates)
      Issue.record("not found: \(change)")
    } catch let error as BatchError { #expect(error.code == .mismatch, "\(change): \(error)") }
  }
}
