import Foundation
import GRDB
import Testing

@Suite("Ordinary tables of SQLite by the command")
struct PlainLoadTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder() }

  private func export(_ store: String, _ model: String) throws -> String {
    let outcome = try folder.run("godwit", ["export", store, "--models", model, "--to-many"])
    #expect(outcome.code == 0, "\(outcome)")
    return outcome.output
  }

  @Test(
    "A migrated store is loaded whole, with keys that hold; the store stays as it was, and nothing is left but the record"
  )
  func migrated() throws {
    let store = try folder.sample(rows: 3000)
    let migrated = folder.newPath("migrated.sqlite")
    #expect(
      try folder.run("book-migration", ["migrate", store, "--output", migrated] + CommandFolder.models).code == 0)
    let before = try folder.tree().filter { !$0.key.isEmpty }
    let output = folder.file("plain.sqlite")
    let outcome = try folder.run(
      "book-migration", ["migrate", store, "--to-sqlite", "plain", "--output", output] + CommandFolder.models)
    #expect(outcome.code == 0 && outcome.output.contains("verified"), "\(outcome)")
    #expect(
      try folder.tree().filter { !["", "plain.sqlite", ".plain.sqlite.godwit-report"].contains($0.key) } == before)
    let rows = try PlainFile(path: output).check()
    let exported = try export(migrated, ExampleFolder.models)
    #expect(try PlainFile(path: output).compare(export: exported) == exported.split(separator: "\n").count)
    let links = try ExampleFolder.rows(
      migrated, "SELECT Z_1AUTHORS AS a, Z_2BOOKS AS b FROM Z_1BOOKS ORDER BY 1, 2")
    #expect(links.count == rows["author_books"] && links.count > 1000)
  }

  @Test("Every type, relationship and name comes through, with either inheritance and both forms of dates")
  func everything() throws {
    let (store, model) = try ZooModel.store(folder)
    let exported = try export(store, model)
    let external = folder.path + "/.Zoo_SUPPORT/_EXTERNAL_DATA"
    let columns = [
      "Keeper.imageURL": "keeper_image_url", "Keeper.rowid": "keeper_rowid", "Lion.title": "lion_title",
      "Cub.title": "lion_title",
    ]
    for (inheritance, dates) in [("root", "iso"), ("class", "unix"), ("root", "unix"), ("class", "iso")] {
      let output = folder.newPath("plain.sqlite")
      let outcome = try folder.loadPlain(store, model, ["--inheritance", inheritance, "--dates", dates], to: output)
      #expect(outcome.code == 0, "\(outcome)")
      let file = PlainFile(path: output)
      let rows = try file.check()
      #expect(rows["keeper_friends"] == 4 && rows["keeper_tags"] == 4 && rows["void"] == 0)
      let isRoot = inheritance == "root"
      let tables = [
        "URLThing": "url_thing_2", "Lion": isRoot ? "lion" : "lion_whole", "Cub": isRoot ? "cub" : "cub_whole",
        "Seal": isRoot ? "seal" : "seal_whole",
      ]
      let count = try file.compare(
        export: exported, tables: tables,
        columns: isRoot
          ? columns : columns.merging(["Lion.title": "title", "Cub.title": "title"], uniquingKeysWith: { $1 }),
        dates: dates, external: external)
      #expect(count == 15)
    }
  }

  @Test("Order, links and the kinds of objects are as the store has them")
  func relationships() throws {
    let (store, model) = try ZooModel.store(folder)
    let output = folder.file("plain.sqlite")
    #expect(try folder.loadPlain(store, model, [], to: output).code == 0)
    func rows(_ sql: String) throws -> [String] { try ExampleFolder.rows(output, sql) }
    #expect(
      try rows("SELECT tag_id AS t FROM keeper_tags WHERE keeper_id = 1 ORDER BY tags_order") == [
        "[t:3]", "[t:1]", "[t:2]",
      ])
    #expect(
      try rows("SELECT name AS n FROM animal WHERE keeper_id = 9 ORDER BY keeper_order") == [
        "[n:\"Sal\"]", "[n:\"Leo\"]", "[n:\"Kit\"]",
      ])
    #expect(try rows("SELECT count(*) AS n FROM lion") == ["[n:3]"])
    #expect(try rows("SELECT lion_prey_id AS l FROM tag WHERE id = 1") == ["[l:1]"])
    #expect(
      try rows("SELECT hex(\"order\") AS o FROM keeper WHERE pk = 2") == ["[o:\"610062\"]"])
  }

  @Test("A file that exists is never replaced, and words that contradict each other are refused")
  func refusals() throws {
    let store = try folder.sample(rows: 50)
    let output = folder.file("there.sqlite")
    try "mine".write(toFile: output, atomically: false, encoding: .utf8)
    let model = ExampleFolder.models
    let before = try folder.tree()
    let (here, records) = (["--to", "Library 1"], folder.file("new.sqlite"))
    for (words, path, code, message) in [
      (here, output, 20, "a load replaces nothing"),
      (here + ["--records", output], records, 20, "a load replaces nothing"),
      (here + ["--schema", "s"], records, 64, "--schema does not go with --to-sqlite"),
      (here + ["--to-postgres", "postgres://a@b/c"], records, 64, "name one"),
      (here + ["--restart"], records, 64, "--to-sqlite"), (here + ["--continue"], records, 64, "--to-sqlite"),
    ] as [([String], String, Int32, String)] {
      let outcome = try folder.loadPlain(store, model, words, to: path)
      #expect(outcome.code == code && outcome.error.contains(message), "\(words): \(outcome)")
    }
    for (words, message) in [
      (["--to-sqlite", "plain"], "needs --output"), (["--dates", "iso"], "--to-sqlite"),
      (["--to-sqlite", "fancy", "--output", records], "plain"),
    ] {
      let outcome = try folder.run("godwit", ["migrate", store, "--models", model] + here + words)
      #expect(outcome.code == 64 && outcome.error.contains(message), "\(words): \(outcome)")
    }
    #expect(try folder.tree() == before)
  }

  @Test("Killed at any moment, nothing is at the path; the same command begins anew, says so, and makes the same bytes")
  func killed() throws {
    let store = try folder.sample(rows: 20_000)
    let whole = folder.newPath("whole.sqlite")
    let words = ["migrate", store, "--to-sqlite", "plain", "--throttle", "20krows/s"] + CommandFolder.models
    let start = ContinuousClock.now
    #expect(try folder.run("book-migration", words + ["--output", whole]).code == 0)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    var (random, resumed) = (ExampleRandom(state: 11), 0)
    for round in 0..<4 {
      let output = folder.file("killed-\(round).sqlite")
      let process = try CommandProcess("book-migration", words + ["--output", output], in: folder)
      usleep(UInt32(seconds * 1e6 * Double(15 + random.next(75)) / 100))
      process.send(SIGKILL)
      guard try process.wait().code != 0 else { continue }
      // It has its name from one moment to the next, and whole.
      guard !FileManager.default.fileExists(atPath: output) else {
        #expect(try CommandFolder.bytes(output) == CommandFolder.bytes(whole))
        continue
      }
      let wasBegun = FileManager.default.fileExists(atPath: folder.file(".killed-\(round).sqlite.godwit-plain"))
      let again = try folder.run("book-migration", words + ["--output", output])
      #expect(again.code == 0 && again.output.contains("this one began anew") == wasBegun, "\(again)")
      #expect(try CommandFolder.bytes(output) == CommandFolder.bytes(whole))
      #expect(!FileManager.default.fileExists(atPath: folder.file(".killed-\(round).sqlite.godwit-plain")))
      resumed += wasBegun ? 1 : 0
    }
    #expect(resumed > 0)
  }

  @Test("A stop ends the load with 75, and nothing is left")
  func stopped() throws {
    let store = try folder.sample(rows: 20_000)
    let before = try folder.tree().filter { !$0.key.isEmpty }
    let output = folder.file("stopped.sqlite")
    let process = try CommandProcess(
      "book-migration",
      ["migrate", store, "--to-sqlite", "plain", "--output", output, "--throttle", "2000rows/s"] + CommandFolder.models,
      in: folder)
    while process.isRunning, !FileManager.default.fileExists(atPath: folder.file(".stopped.sqlite.godwit-plain")) {
      usleep(2000)
    }
    usleep(300_000)
    process.send(SIGTERM)
    let outcome = try process.wait()
    #expect(outcome.code == 75 && outcome.error.contains("Begin anew with"), "\(outcome)")
    #expect(try folder.tree().filter { !$0.key.isEmpty } == before)
  }

  @Test("A mapping file can name the file; what the command names comes before it")
  func mappingFile() throws {
    let model = ExampleFolder.root + "/Benchmarks/Models/Plain.xcdatamodeld"
    let (store, mapping) = (folder.file("Plain.sqlite"), folder.file("Away.yaml"))
    let (output, other) = (folder.file("named.sqlite"), folder.newPath("other.sqlite"))
    let made = try folder.run(
      "godwit", ["sample", model, "--version", "Plain 1", "--rows", "300", "--output", store])
    #expect(made.code == 0, "\(made)")
    try """
    from: Plain 1
    to: Plain 2
    destination:
      sqlite: \(output)
      names: core-data
    entities: [Row]
    """.write(toFile: mapping, atomically: false, encoding: .utf8)
    let words = ["migrate", store, "--models", model, "--mappings", mapping]
    let outcome = try folder.run("godwit", words)
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try ExampleFolder.rows(output, "SELECT count(*) AS n FROM ZROW") == ["[n:300]"])
    let again = try folder.run("godwit", words + ["--to-sqlite", "plain", "--output", other])
    #expect(again.code == 0, "\(again)")
    #expect(try ExampleFolder.rows(other, "SELECT count(*) AS n FROM \"row\"") == ["[n:300]"])
  }

  @Test("The script of --ddl-only makes the tables that a load makes")
  func script() throws {
    let (store, model) = try ZooModel.store(folder)
    for words in [[], ["--inheritance", "class", "--names", "core-data", "--dates", "unix"]] {
      let output = folder.newPath("plain.sqlite")
      #expect(try folder.loadPlain(store, model, words, to: output).code == 0)
      let printed = try folder.loadPlain(store, model, words + ["--ddl-only"], to: folder.file("unmade.sqlite"))
      #expect(printed.code == 0, "\(printed)")
      let made = folder.newPath("made.sqlite")
      let queue = try DatabaseQueue(path: made)
      try queue.write { try $0.execute(sql: printed.output) }
      try queue.close()
      let sql = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
      #expect(try ExampleFolder.rows(made, sql) == ExampleFolder.rows(output, sql))
      #expect(!FileManager.default.fileExists(atPath: folder.file("unmade.sqlite")))
    }
  }
}
