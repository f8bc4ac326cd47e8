import Foundation
import GRDB
import Testing

@Suite("The export command")
struct ExportCommandTests {
  private let folder: CommandFolder
  private let store: String
  private static let models = ["--models", ExampleFolder.models]

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 3000)
  }

  @Test("Lines on standard output, one an object, and nothing else; the store stays as it is")
  func lines() throws {
    let text = try expectLook(["export", store] + Self.models, in: folder)
    let lines = text.split(separator: "\n")
    #expect(lines.count == 3000)
    let entities = try lines.map { try document(String($0))["entity"] as? String }
    let counts = try ["ZBOOK", "ZUSER"].map { try ExampleFolder.rows(store, "SELECT count(*) AS n FROM \($0)") }
    #expect(
      counts == [["[n:\(entities.filter { $0 == "Book" }.count)]"], ["[n:\(entities.filter { $0 == "User" }.count)]"]])
    #expect(
      try expectLook(["export", store, "User", "--limit", "7"] + Self.models, in: folder).split(separator: "\n").count
        == 7)
  }

  @Test("An entity after a list of models is the entity; after a list of columns it is an error with the whole line")
  func place() throws {
    let first = try expectLook(["export", store, "User", "--limit", "9"] + Self.models, in: folder)
    #expect(try expectLook(["export", store, "--limit", "9"] + Self.models + ["User"], in: folder) == first)
    let words = ["export", store, "--columns", "name", "User"]
    let refused = try folder.run("godwit", words)
    let line = "`godwit export \(store) User --columns name`"
    #expect(refused.code == 64 && refused.error.contains("--columns took it for a property. Name it before: \(line)"))
    #expect(try folder.run("godwit", ["export", store, "User", "--columns", "name"]).code == 0)
  }

  @Test("A file gets its name when it is whole, and one that exists is left alone")
  func output() throws {
    let path = folder.file("out.csv")
    let arguments = ["export", store, "Book", "--format", "csv", "--output", path] + Self.models
    let outcome = try folder.run("godwit", arguments)
    #expect(outcome.code == 0 && outcome.output.contains("out.csv: ") && outcome.output.contains("  Book: "))
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.hasPrefix("@entity,@key,@uri,authorName,fileURL,isbn,pages,published,rating,title,user\r\n"))
    try expectRefusal(20, [path, "exists already"], arguments, in: folder, program: "godwit")
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: "UPDATE ZBOOK SET Z_ENT = 77 WHERE Z_PK = 2500") }
    try queue.close()
    let other = folder.file("other.jsonl")
    let damaged = try folder.run("godwit", ["export", store, "--output", other] + Self.models)
    #expect(damaged.code == 30 && damaged.error.contains("Book 2500: ") && damaged.error.contains("77"), "\(damaged)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["Library.sqlite", "out.csv"])
  }

  @Test("/dev/null counts the objects, /dev/stdout has them, and another device or a pipe is refused for what it is")
  func devices() throws {
    let words = ["export", store, "User", "--limit", "5"] + Self.models
    let lines = try folder.run("godwit", words).output
    let null = try folder.run("godwit", words + ["--output", "/dev/null"])
    #expect(null.code == 0 && null.output.hasPrefix("/dev/null: 5 objects, ") && null.error.isEmpty, "\(null)")
    let printed = try folder.run("godwit", words + ["--output", "/dev/stdout"])
    #expect(printed.code == 0 && printed.output == lines && printed.error.isEmpty, "\(printed)")
    let pipe = folder.newPath("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    for path in [pipe, "/dev/zero"] {
      let refused = try folder.run("godwit", words + ["--output", path])
      #expect(
        refused.code == 20 && refused.error.contains("\(path): the output is no file, but a device"), "\(refused)")
      #expect(refused.error.contains("Choose another path;") && !refused.error.contains("remove"), "\(refused)")
    }
  }

  @Test("To-many relationships are sorted in the temporary directory, where nothing stays")
  func toMany() throws {
    let temporary = folder.newPath("temporary")
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    let outcome = try folder.run(
      "godwit", ["export", store, "User", "--to-many"] + Self.models, launcher: ["/usr/bin/env", "TMPDIR=\(temporary)"])
    #expect(outcome.code == 0 && outcome.output.contains(#""relationships":{"books":["#))
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
  }

  @Test("Texts that are not UTF-8 are counted on standard error")
  func repaired() throws {
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: "UPDATE ZBOOK SET ZTITLE = CAST(x'FF' AS TEXT) WHERE Z_PK <= 3") }
    try queue.close()
    let outcome = try folder.run("godwit", ["export", store] + Self.models)
    #expect(outcome.code == 0 && outcome.error == "note: 3 texts were not UTF-8, and have replacement characters\n")
  }

  @Test("A store in WAL mode that is open elsewhere is refused: its log may change under the export")
  func openElsewhere() throws {
    let queue = try DatabaseQueue(path: store)
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA journal_mode = WAL")
      try database.execute(sql: "UPDATE ZBOOK SET ZTITLE = 'in the log' WHERE Z_PK = 1")
    }
    // No look at the tree: a file that this process reads and closes takes the locks of its own connection with it.
    let outcome = try folder.run("godwit", ["export", store] + Self.models)
    #expect(outcome.code == 20 && outcome.output.isEmpty && outcome.error.contains("another program"), "\(outcome)")
    try queue.close()
    #expect(try expectLook(["export", store] + Self.models, in: folder).contains("in the log"))
  }

  @Test("Wrong arguments, no model, and no such entity")
  func usage() throws {
    for arguments in [["--format", "csv"], ["--format", "xml"], ["--limit", "x"]] {
      #expect(try folder.run("godwit", ["export", store] + arguments).code == 64, "\(arguments)")
    }
    #expect(try folder.run("godwit", ["export", store]).code == 0)
    try folder.forgetModel(of: store)
    try expectRefusal(20, ["model is not known", "--models"], ["export", store], in: folder, program: "godwit")
    try expectRefusal(
      20, ["no entity Nobody", "Book, User"], ["export", store, "Nobody"] + Self.models, in: folder, program: "godwit")
    try expectRefusal(
      20, ["no version of the model fits"],
      ["export", store, "--models", ExampleFolder.models + "/Library 2.xcdatamodel"],
      in: folder, program: "godwit")
  }
}
