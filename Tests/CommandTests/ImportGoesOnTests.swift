import Foundation
import GRDB
import Testing

@Suite("Imports that go on as they were begun", .serialized, .enabled(if: StopLibrary.isPossible, StopLibrary.needed))
struct ImportGoesOnTests {
  private let imports: ImportFolder
  private var folder: CommandFolder { imports.folder }
  private var store: String { imports.store }

  init() throws { imports = try ImportFolder() }

  private func wanted(_ words: [String]) throws -> Data {
    let outcome = try folder.run("godwit", words)
    try #require(outcome.code == 10, "\(outcome)")
    let bytes = try CommandFolder.bytes(store)
    try FileManager.default.removeItem(atPath: store)
    return bytes
  }

  @Test("An interrupted import stays when its checkpoint cannot be read for now")
  func unreadable() throws {
    let inputs = try imports.linked()
    let bytes = try wanted(imports.words(inputs))
    try imports.interrupt(inputs)
    let newest = try #require(CommandFolder.checkpoints(imports.scratch + "/.import.godwit").last)
    try FileManager.default.moveItem(atPath: newest, toPath: newest + ".away")
    try FileManager.default.createDirectory(atPath: newest, withIntermediateDirectories: false)
    let refused = try folder.run("godwit", ["resume", store])
    #expect(refused.code != 0 && refused.code != 10, "\(refused)")
    #expect(ImportFolder.commands(refused.error).first == "godwit resume \(store)", "\(refused)")
    try FileManager.default.removeItem(atPath: newest)
    try FileManager.default.moveItem(atPath: newest + ".away", toPath: newest)
    let resumed = try folder.paste(try #require(ImportFolder.commands(refused.error).first))
    #expect(resumed.code == 10, "\(resumed)")
    #expect(try CommandFolder.bytes(store) == bytes)
  }

  @Test("resume goes on with the import of the path that it is given, though its folder was copied")
  func copied() throws {
    let inputs = try imports.linked()
    let bytes = try wanted(imports.words(inputs))
    try imports.interrupt(inputs)
    let copy = folder.newPath("copy")
    try FileManager.default.copyItem(atPath: folder.path, toPath: copy)
    let resumed = try folder.run("godwit", ["resume", copy + "/New.sqlite"])
    #expect(resumed.code == 10, "\(resumed)")
    #expect(try CommandFolder.bytes(copy + "/New.sqlite") == bytes)
    #expect(FileManager.default.fileExists(atPath: imports.scratch))
  }

  @Test("resume takes no option that the import was not begun with, and another --memory is another import")
  func options() throws {
    let inputs = try imports.linked()
    try imports.interrupt(inputs)
    for words in [["--memory", "128M"], ["--throttle", "1MB/s"], ["--json"]] {
      let refused = try folder.run("godwit", ["resume", store] + words)
      #expect(refused.code == 64 && refused.error.contains("\(words[0]) does not go with an import"), "\(refused)")
    }
    let refused = try folder.run("godwit", imports.words(inputs, ["--memory", "128M"]))
    #expect(refused.code == 20 && refused.error.contains("with other options"), "\(refused)")
    #expect(try folder.paste(try #require(ImportFolder.commands(refused.error).first)).code == 10)
  }

  @Test("A file that came to the folder is named, and moved away it is no matter")
  func newFile() throws {
    let inputs = try imports.linked()
    let inside = URL(fileURLWithPath: inputs[0]).deletingLastPathComponent().path
    let other = inside + "/Tag.csv"
    try FileManager.default.copyItem(atPath: inputs[1], toPath: other)
    try imports.interrupt([inside])
    let new = inside + "/z.jsonl"
    try "".write(toFile: new, atomically: false, encoding: .utf8)
    let refused = try folder.run("godwit", ["resume", store])
    #expect(refused.code == 20 && refused.error.contains("\(new) came to the files"), "\(refused)")
    #expect(refused.error.contains("Move it away, and go on with `godwit resume \(store)`"), "\(refused)")
    try FileManager.default.removeItem(atPath: new)
    try FileManager.default.moveItem(atPath: other, toPath: other + ".away")
    let gone = try folder.run("godwit", ["resume", store])
    #expect(gone.code == 20 && gone.error.contains("\(other) is no longer among the files"), "\(gone)")
    try FileManager.default.moveItem(atPath: other + ".away", toPath: other)
    #expect(try folder.paste(try #require(ImportFolder.commands(gone.error).first)).code == 10)
  }

  @Test("A store that has its name is done, though an application has written to it since")
  func named() throws {
    let inputs = try imports.linked()
    let killed = try folder.run(
      "godwit", imports.words(inputs),
      launcher: imports.launcher(try imports.stop, "STOP_ONLY=unlink plan.json", "STOP_AT=1", "STOP_WITH=KILL"))
    try #require(killed.code == 128 + SIGKILL, "\(killed)")
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: "CREATE TABLE MINE (A); INSERT INTO MINE VALUES (zeroblob(100000))") }
    try queue.close()
    let bytes = try CommandFolder.bytes(store)
    let status = try folder.run("godwit", ["status", store])
    let resumed = try folder.paste(try #require(ImportFolder.commands(status.output).first))
    #expect(resumed.code == 10, "\(resumed)")
    #expect(try CommandFolder.bytes(store) == bytes && !FileManager.default.fileExists(atPath: imports.scratch))
  }

  @Test("A line that refers to an object by null is left out as a whole")
  func nullValue() throws {
    let input = try imports.write(
      "a.jsonl",
      """
      {"entity":"Keeper","key":1,"attributes":{"birthDate":0}}
      {"entity":"Keeper","key":9,"attributes":{"birthDate":0},"relationships":{"boss":1,"tags":[{"label":null}]}}
      {"entity":"Keeper","key":2,"attributes":{"birthDate":0},"relationships":{"boss":1}}
      """)
    let outcome = try imports.importing([input], ["--max-rejects", "5"])
    #expect(
      outcome.code == 10 && outcome.error.contains("line 2: tags leads to the object whose label is null"), "\(outcome)"
    )
    let keys = try DatabaseQueue(path: store).read {
      try Int.fetchAll($0, sql: "SELECT Z_PK FROM ZKEEPER ORDER BY Z_PK")
    }
    #expect(keys == [1, 2])
  }
}
