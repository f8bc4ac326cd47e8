import Foundation
import GRDB
import Testing

@Suite("What ordinary tables cannot hold")
struct PlainAccountTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder() }

  @Test("What the form changes or lacks is told, by plan before and by the load, with counts")
  func account() throws {
    let (store, model) = try ZooModel.store(folder)
    let plan = try folder.run(
      "godwit", ["plan", store, "--models", model, "--to-sqlite", "plain", "--output", folder.file("no.sqlite")])
    let outcome = try folder.loadPlain(store, model, [], to: folder.file("plain.sqlite"))
    for text in [plan.output, outcome.output] {
      for words in [
        "Keeper.notes (5 objects) stays the archive", "Keeper.elders", "Keeper.height",
        "Animal.keeper (Deny), Keeper.boss (Cascade)", "Keeper.imageURL is named keeper_image_url",
        "url_thing is named url_thing_2", "keeper.\"order\": texts of 1 row have a NUL", "not loaded: Z_OPT",
      ] { #expect(text.contains(words), "\(words): \(text)") }
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("no.sqlite")))
  }

  @Test("Imperfect data are loaded whole: what the rows do not allow is left out of the tables, and told")
  func imperfect() throws {
    let (store, model) = try ZooModel.store(folder)
    let queue = try DatabaseQueue(path: store)
    try queue.write { db in
      try db.execute(
        sql: """
          UPDATE ZKEEPER SET ZBIRTHDATE = NULL WHERE Z_PK IN (1, 5); UPDATE ZKEEPER SET ZBOSS = 77 WHERE Z_PK = 5;
          UPDATE ZKEEPER SET ZSMALL = 70000, ZGROUP = 2 WHERE Z_PK = 3; UPDATE ZKEEPER SET ZBIRTHDATE = 0.0000001 WHERE Z_PK = 2;
          DROP INDEX Z_Tag_UNIQUE_label; UPDATE ZTAG SET ZLABEL = 'same'; UPDATE ZKEEPER SET ZORDER = CAST(x'ff' AS TEXT) WHERE Z_PK = 9
          """)
    }
    try queue.close()
    try FileManager.default.removeItem(atPath: folder.path + "/.Zoo_SUPPORT/_EXTERNAL_DATA/" + ZooModel.photo)
    let output = folder.file("plain.sqlite")
    let outcome = try folder.loadPlain(store, model, ["--verify", "full"], to: output)
    #expect(outcome.code == 0, "\(outcome)")
    for words in [
      "keeper.birth_date may be NULL, because 2 rows", "keeper.boss_id is no foreign key: 1 of its keys",
      "keeper.small: numbers of 1 row", "keeper.\"group\": numbers of 1 row",
      "keeper.birth_date: times are rounded in 1 row",
      "tag_label_key is not created", "keeper.\"order\": texts of 1 row are not UTF-8",
      "keeper.photo is NULL in 1 row, because the files",
    ] { #expect(outcome.output.contains(words), "\(words): \(outcome.output)") }
    #expect(try PlainFile(path: output).check()["keeper"] == 5)
    #expect(
      try ExampleFolder.rows(output, "SELECT boss_id AS b, small AS s FROM keeper WHERE pk IN (3, 5) ORDER BY pk") == [
        "[b:2 s:70000]", "[b:77 s:NULL]",
      ])
  }

  @Test("A value that no column holds ends the load with its object's name, and nothing is written")
  func unfit() throws {
    for (sql, words) in [
      ("UPDATE ZKEEPER SET ZMID = 'seven' WHERE Z_PK = 5", ["Keeper", "5", "mid is a text"]),
      ("UPDATE ZKEEPER SET ZUUID = x'0102' WHERE Z_PK = 5", ["uuid is not the 16 bytes"]),
      ("UPDATE ZKEEPER SET ZBIRTHDATE = 1e300 WHERE Z_PK = 5", ["birthDate is the time", "--dates unix"]),
    ] {
      let (store, model) = try ZooModel.store(folder)
      defer {
        for name in ["Zoo.sqlite", ".Zoo_SUPPORT"] { try? FileManager.default.removeItem(atPath: folder.file(name)) }
      }
      let queue = try DatabaseQueue(path: store)
      try queue.write { try $0.execute(sql: sql) }
      try queue.close()
      let before = try folder.tree().filter { !$0.key.isEmpty }
      let outcome = try folder.loadPlain(store, model, [], to: folder.file("plain.sqlite"))
      #expect(outcome.code == 1 && outcome.error.contains("nothing is at"), "\(outcome)")
      for word in words { #expect(outcome.error.contains(word), "\(word): \(outcome.error)") }
      #expect(try folder.tree().filter { !$0.key.isEmpty } == before)
    }
  }
}
