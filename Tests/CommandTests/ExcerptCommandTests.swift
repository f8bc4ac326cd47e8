import Foundation
import GRDB
import Testing

@Suite("Samples of stores: objects that are taken, not made up")
struct ExcerptCommandTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder() }

  private func rows(_ store: String, _ sql: String) throws -> [String] {
    let queue = try DatabaseQueue(path: store)
    defer { try? queue.close() }
    return try queue.read { db in
      try Row.fetchAll(db, sql: sql).map { $0.databaseValues.map(\.description).joined(separator: " ") }
    }
  }

  private func change(_ store: String, _ sql: String) throws {
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  private static func summary(_ part: String, of store: String) -> String {
    """
    \(part): 10 of the 15 objects of \(store)
      Cub: 1 of 2
      Keeper: 3 of 5, 1 only because others lead to it
      Lion: 1 of 1
      Seal: 0 of 1
      Select: 1 of 1
      Tag: 2 of 3
      URLThing: 1 of 1
      URL_Thing: 1 of 1
      links: 5
      external files: 1 beside the store
      left out, as the other end is not taken:
        Keeper.animals: 1 link
        Keeper.friends: 2 links
        Keeper.minions: 2 links
        Keeper.tags: 1 link

    """
  }

  @Test(
    "Objects, what they lead to, links, files and lists are the store's; the summary counts them, and what is left out")
  func zoo() throws {
    let (store, model) = try ZooModel.store(folder)
    let part = folder.newPath("Part.sqlite")
    let text = try expectLook(["sample", store, "--limit", "2", "--models", model, "--output", part], in: folder)
    #expect(text == Self.summary(part, of: store))
    try expectSound(part, model)
    for table in ["ZANIMAL", "ZKEEPER", "ZTAG", "ZSELECT"] {
      let keys = try rows(part, "SELECT Z_PK FROM \(table)").joined(separator: ", ")
      #expect(
        try rows(part, "SELECT * FROM \(table)") == rows(store, "SELECT * FROM \(table) WHERE Z_PK IN (\(keys))"))
    }
    let file = "_SUPPORT/_EXTERNAL_DATA/" + ZooModel.photo
    let url = URL(fileURLWithPath: part)
    let copy = url.deletingLastPathComponent().path + "/." + url.deletingPathExtension().lastPathComponent + file
    #expect(try CommandFolder.bytes(copy) == CommandFolder.bytes(folder.file(".Zoo" + file)))
    let exported = try folder.run("godwit", ["export", part, "Keeper", "--to-many", "--models", model]).output
    #expect(exported.contains("\"tags\":[1,2]") && exported.contains("\"friends\":[2]"), "\(exported)")
  }

  private func expectSound(_ store: String, _ model: String, at location: SourceLocation = #_sourceLocation) throws {
    let verified = try folder.run("godwit", ["verify", store, "--models", model])
    #expect(verified.code == 0, "\(verified)", sourceLocation: location)
  }

  @Test("An entity and a condition choose the objects; what they do not lead to stays away")
  func condition() throws {
    let store = try folder.sample(rows: 900)
    let part = folder.newPath("Part.sqlite")
    let words = ["sample", store, "Book", "--where", "pages > 100", "--limit", "20", "--output", part]
    let text = try expectLook(words + ["--models", ExampleFolder.models], in: folder)
    let books = try rows(store, "SELECT Z_PK FROM ZBOOK WHERE ZPAGES > 100 ORDER BY Z_PK LIMIT 20")
    #expect(try rows(part, "SELECT Z_PK FROM ZBOOK ORDER BY Z_PK") == books && books.count == 20)
    let users = "SELECT DISTINCT ZUSER FROM ZBOOK WHERE Z_PK IN (\(books.joined(separator: ", "))) AND ZUSER > 0"
    #expect(try rows(part, "SELECT Z_PK FROM ZUSER ORDER BY Z_PK") == rows(store, users + " ORDER BY ZUSER"))
    #expect(text.contains("  Book: 20 of ") && text.contains(" only because others lead to "), "\(text)")
    for table in ["ZBOOK", "ZUSER", "Z_METADATA"] {
      let difference = "SELECT * FROM \(table) EXCEPT SELECT * FROM s.\(table)"
      let queue = try DatabaseQueue(path: part)
      let found = try queue.inDatabase { db in
        try db.execute(sql: "ATTACH ? AS s", arguments: [store])
        return try Row.fetchAll(db, sql: difference).count
      }
      try queue.close()
      #expect(found == 0, "\(table)")
    }
  }

  @Test("The same command gives the same bytes, and what it gives migrates as the store does")
  func migrates() throws {
    let store = try folder.sample(rows: 3000)
    let parts = try ["One.sqlite", "Two.sqlite"].map { name in
      let part = folder.newPath(name)
      _ = try expectLook(
        ["sample", store, "--limit", "40", "--models", ExampleFolder.models, "--output", part], in: folder)
      return part
    }
    #expect(try CommandFolder.bytes(parts[0]) == CommandFolder.bytes(parts[1]))
    let output = folder.newPath("New.sqlite")
    let migrated = try folder.run(
      "book-migration", ["migrate", parts[0], "--output", output] + CommandFolder.models)
    #expect(migrated.code == 0, "\(migrated)")
    try expectSound(output, ExampleFolder.models)
  }

  @Test("Rows that are in the log alone are taken, and the store, its log and their times stay as they are")
  func log() throws {
    let store = try folder.sample(rows: 300)
    try folder.keepInLog(store)
    let part = folder.newPath("Part.sqlite")
    _ = try expectLook(["sample", store, "User", "--limit", "5", "--output", part], in: folder)
    #expect(try rows(part, "SELECT DISTINCT ZNAME FROM ZUSER") == ["\"in the log\""])
    try expectSound(part, ExampleFolder.models)
  }

  @Test("A to-one that leads nowhere is told and kept; tables, indexes and triggers that are not the model's are named")
  func strange() throws {
    let store = try folder.sample(rows: 300)
    try change(
      store,
      """
      UPDATE ZBOOK SET ZUSER = 99999 WHERE Z_PK IN (SELECT Z_PK FROM ZBOOK ORDER BY Z_PK LIMIT 1);
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, ZENTITY INTEGER);
      CREATE TABLE OTHER (a TEXT);
      CREATE INDEX PARTIAL ON ZBOOK (ZPAGES) WHERE ZPAGES > 3;
      CREATE TRIGGER KEPT AFTER UPDATE ON ZBOOK BEGIN UPDATE ZBOOK SET Z_OPT = Z_OPT + 1 WHERE Z_PK = OLD.Z_PK; END;
      CREATE TRIGGER GONE AFTER DELETE ON ZBOOK BEGIN INSERT INTO OTHER VALUES ('x'); END;
      """)
    let part = folder.newPath("Part.sqlite")
    let text = try expectLook(["sample", store, "--limit", "5", "--output", part], in: folder)
    for note in [
      "note: 1 to-one leads nowhere, as in the source: the first is Book.user of 1",
      "note: tables that are not the model's are left out: ACHANGE, OTHER\n",
      "note: indexes that are not over plain columns are left out: PARTIAL\n",
      "note: views, and triggers on what is left out are left out: GONE\n",
    ] { #expect(text.contains(note), "\(text)") }
    #expect(try rows(part, "SELECT name FROM sqlite_master WHERE type = 'trigger'") == ["\"KEPT\""])
    #expect(try rows(part, "SELECT ZUSER FROM ZBOOK ORDER BY Z_PK LIMIT 1") == ["99999"])
  }

  @Test("Options of a model and of a store do not go together: usage errors say what does")
  func usage() throws {
    let store = try folder.sample(rows: 20)
    let output = ["--output", folder.file("Part.sqlite")]
    for (words, message) in [
      ([store], "'--rows <count>', which makes up objects of a model, or '--limit <count>'"),
      ([store, "--rows", "3", "--limit", "3"], "use one of them"),
      ([store, "--limit", "3", "--seed", "3"], "--seed goes with --rows"),
      ([store, "--limit", "3", "--wal"], "--wal goes with --rows"),
      ([store, "--limit", "3", "--version", "Library 1"], "--version goes with --rows"),
      ([store, "Book", "--rows", "3"], "an entity goes with --limit"),
      ([store, "--rows", "3", "--models", ExampleFolder.models], "--models goes with --limit"),
      ([store, "--where", "pages > 3", "--limit", "3"], "--where asks about the objects of one entity"),
      ([ExampleFolder.models, "--limit", "3"], "is a model: --rows makes up objects of it"),
    ] {
      let outcome = try folder.run("godwit", ["sample"] + words + output)
      #expect(outcome.code == 64 && outcome.error.contains(message), "\(words): \(outcome)")
    }
    for (words, code) in [
      ([store, "Book", "--where", "nothing = 1", "--limit", "3"], 20), ([store, "Nobody", "--limit", "3"], 20),
      ([folder.file("Nothing.sqlite"), "--limit", "3"], 64),
    ] as [([String], Int32)] {
      let outcome = try folder.run("godwit", ["sample"] + words + output)
      #expect(outcome.code == code, "\(words): \(outcome)")
    }
    #expect(try folder.run("godwit", ["sample", store, "--limit", "3", "--output", store]).code == 20)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Library.sqlite"])
  }

  @Test("godwit.yaml beside a store names the models of a sample of it, and means nothing to made-up objects")
  func project() throws {
    let store = try folder.sample(rows: 60)
    try folder.forgetModel(of: store)
    let words = ["sample", store, "--limit", "3", "--output"]
    let refused = try folder.run("godwit", words + [folder.newPath("Part.sqlite")])
    #expect(refused.code == 20 && refused.error.contains("--models"), "\(refused)")
    try "models: \(ExampleFolder.models)\n".write(
      toFile: folder.file("godwit.yaml"), atomically: true, encoding: .utf8)
    let made = try folder.run("godwit", words + [folder.newPath("Part.sqlite")])
    #expect(made.code == 0 && made.error.contains("gives --models"), "\(made)")
    let rows = ["sample", ExampleFolder.models, "--rows", "3", "--output", folder.newPath("Made.sqlite")]
    let inside = try folder.run("godwit", rows, launcher: ["/usr/bin/env", "-C", folder.path])
    #expect(inside.code == 0 && inside.error.isEmpty, "\(inside)")
  }

  @Test("An application is the place of the model: its sources, or its archive; a wrong name is told")
  func application() throws {
    let store = try folder.sample(rows: 60)
    try folder.forgetModel(of: store)
    let sources = try ApplicationFolder(in: folder).path
    let archive = folder.file("App.ipa")
    try ZipFile(ApplicationFolder.compiled()).write(to: archive)
    let parts = try [["--app", sources, "--bundle", "Library"], ["--app", archive]].map { application in
      let part = folder.newPath("Part.sqlite")
      let words = ["sample", store, "User", "--limit", "2", "--output", part] + application
      let made = try folder.run("godwit", words)
      #expect(made.code == 0 && made.output.contains("  User: 2 of "), "\(made)")
      try expectSound(part, ExampleFolder.models)
      return part
    }
    #expect(try CommandFolder.bytes(parts[0]) == CommandFolder.bytes(parts[1]))
    let part = folder.newPath("Part.sqlite")
    let refused = try folder.run(
      "godwit", ["sample", store, "--limit", "2", "--output", part, "--app", sources, "--bundle", "Nothing"])
    #expect(refused.code == 20 && refused.error.contains("no model is named Nothing"), "\(refused)")
    #expect(refused.error.contains("--app \(sources) --bundle Library`"), "\(refused)")
    #expect(!FileManager.default.fileExists(atPath: part))
  }

  @Test("A signal leaves nothing beside the output")
  func signal() throws {
    let store = try folder.sample(rows: 200_000)
    let part = folder.file("Part.sqlite")
    let process = try CommandProcess("godwit", ["sample", store, "--limit", "200000", "--output", part], in: folder)
    while process.isRunning, !FileManager.default.fileExists(atPath: part + ".excerpt") { usleep(1000) }
    process.send(SIGTERM)
    _ = try process.wait()
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains("excerpt") }
    #expect(left == [])
  }
}
