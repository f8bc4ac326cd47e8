import Foundation
import GRDB
import Testing

@Suite("The import command")
struct ImportCommandTests {
  private let folder: CommandFolder
  private static let library = ExampleFolder.models
  private static let model = ["--models", ExampleFolder.models]

  init() throws { folder = try CommandFolder() }

  private func write(_ name: String, _ text: String) throws -> String {
    let path = folder.newPath("in") + "/" + name
    try FileManager.default.createDirectory(
      atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    return path
  }

  private func importing(_ inputs: [String], _ words: [String] = [], to store: String, version: String = "Library 1")
    throws
    -> CommandProcess.Outcome
  {
    try folder.run("godwit", ["import", Self.library] + inputs + ["--version", version, "--output", store] + words)
  }

  private func export(_ store: String, _ words: [String] = []) throws -> String {
    let outcome = try folder.run("godwit", ["export", store, "--to-many", "--dates", "seconds"] + words)
    #expect(outcome.code == 0, "\(outcome.error)")
    return outcome.output
  }

  @Test("Export, import, export: the same text, the same keys and URIs; the store is verified by SQLite, too")
  func roundTrip() throws {
    for version in ["Library 1", "Library 3"] {
      let store = folder.file("\(version).sqlite")
      let made = try folder.run(
        "godwit", ["sample", Self.library, "--version", version, "--rows", "2000", "--output", store])
      #expect(made.code == 0)
      let text = try export(store)
      let (again, third) = (folder.file("\(version) again.sqlite"), folder.file("\(version) third.sqlite"))
      for path in [again, third] {
        let outcome = try importing([try write("all.jsonl", text)], ["--validate", "none"], to: path, version: version)
        #expect(outcome.code == 0, "\(outcome)")
      }
      #expect(try export(again) == text)
      #expect(try CommandFolder.bytes(again) == CommandFolder.bytes(third))
      let verified = try folder.run("godwit", ["verify", again, "--verify", "full"])
      #expect(verified.code == 0, "\(verified)")
      let difference = try expectLook(["diff", "--contents", store, again], in: folder)
      #expect(difference.contains("no difference"), "\(difference)")
    }
  }

  @Test("A folder of CSV files makes the same store as JSON lines")
  func csv() throws {
    let store = try folder.sample(rows: 900)
    let tables = folder.newPath("tables")
    let outcome = try folder.run(
      "godwit", ["export", store, "--format", "csv", "--to-many", "--dates", "seconds", "--output", tables + "/"])
    #expect(outcome.code == 0)
    let (first, second) = (folder.file("csv.sqlite"), folder.file("lines.sqlite"))
    #expect(try importing([tables], ["--validate", "none"], to: first).code == 0)
    #expect(try importing([try write("all.jsonl", export(store))], ["--validate", "none"], to: second).code == 0)
    #expect(try export(first) == export(store))
    #expect(try export(first) == export(second))
  }

  @Test("Keys are given out above those that are there; defaults fill in; one side of a relationship is enough")
  func byHand() throws {
    let lines = try write(
      "hand.jsonl",
      """
      {"entity":"User","key":40,"attributes":{"name":"Ann","userId":1}}
      {"entity":"User","attributes":{"name":"Bob","userId":2},"relationships":{"books":[7]}}
      {"entity":"User","attributes":{"userId":3}}
      {"entity":"Book","key":7,"attributes":{"title":"A \\"quoted\\" \\u00e9\\ud83d\\ude00","pages":12,"published":"2019-01-01T00:00:00Z"}}
      {"entity":"Book","attributes":{"title":"second"},"relationships":{"user":{"userId":3}}}
      {"entity":"Book","attributes":{"title":"third"},"relationships":{"user":{"entity":"User","key":40}}}
      """)
    let store = folder.file("hand.sqlite")
    let outcome = try importing([lines], ["--validate", "none", "--unique", "User.userId"], to: store)
    #expect(outcome.code == 0 && outcome.output.contains("6 objects"), "\(outcome)")
    let title = #"A "quoted" é😀"#
    let sql = "SELECT Z_PK AS k, ZUSER AS u, ZTITLE IN ('\(title)', 'second', 'third') AS t FROM ZBOOK ORDER BY Z_PK"
    #expect(try ExampleFolder.rows(store, sql) == ["[k:7 u:41 t:1]", "[k:8 u:42 t:1]", "[k:9 u:40 t:1]"])
    #expect(
      try ExampleFolder.rows(store, "SELECT Z_PK AS k, ZNAME AS n FROM ZUSER ORDER BY 1") == [
        "[k:40 n:\"Ann\"]", "[k:41 n:\"Bob\"]", "[k:42 n:NULL]",
      ])
    #expect(try ExampleFolder.rows(store, "SELECT Z_MAX AS m FROM Z_PRIMARYKEY ORDER BY Z_ENT") == ["[m:9]", "[m:42]"])
  }

  @Test("A wrong line is named with its number and reason, and nothing is left")
  func wrong() throws {
    for (line, words) in [
      (#"{"entity":"Bok"}"#, ["no entity Bok, did you mean Book?"]),
      (#"{"entity":"Book","attributes":{"titel":"x"}}"#, ["no property titel, did you mean title?"]),
      (#"{"entity":"Book","attributes":{"pages":"many"}}"#, ["pages", "\"many\" is no such value"]),
      (#"{"entity":"Book","attributes":{"pages":1e99}}"#, ["pages"]),
      (#"{"entity":"Book","key":0}"#, ["not above 0"]), (#"{"entity":"Book""#, ["ends too early"]),
      (#"{"entity":"Book","columns":{}}"#, ["export --raw"]),
      (#"{"entity":"Book","relationships":{"user":[1]}}"#, ["leads to one object"]),
      (#"{"entity":"Book","relationships":{"user":{"name":"Ann"}}}"#, ["--unique User.name"]),
      (#"{"entity":"Book","attributes":{"published":"yesterday"}}"#, ["published"]),
    ] {
      let store = folder.file("wrong.sqlite")
      let path = try write("wrong.jsonl", "{\"entity\":\"User\",\"key\":1}\n\(line)\n")
      let outcome = try importing([path], ["--validate", "none"], to: store)
      #expect(outcome.code == 20 && outcome.error.contains("line 2: "), "\(line): \(outcome)")
      for word in words { #expect(outcome.error.contains(word), "\(outcome.error)") }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
  }

  @Test("Keys that stand twice, lead nowhere or contradict each other end the import")
  func contradictions() throws {
    for (lines, code, words) in [
      ([#"{"entity":"User","key":1}"#, #"{"entity":"User","key":1}"#], 20, ["lines 1 and 2", "the key 1"]),
      (
        [#"{"entity":"Book","key":1,"relationships":{"user":9}}"#], 20,
        ["line 1", "user: there is no User with the key 9"]
      ),
      (
        [#"{"entity":"User","key":1,"relationships":{"books":[3]}}"#], 20,
        ["line 1", "books: there is no Book with the key 3"]
      ),
      (
        [
          #"{"entity":"User","key":1,"relationships":{"books":[3]}}"#,
          #"{"entity":"User","key":2,"relationships":{"books":[3]}}"#, #"{"entity":"Book","key":3}"#,
        ], 20, ["Book 3, relationship user: the two sides", "keys 1 and 2"]
      ),
    ] as [([String], Int32, [String])] {
      let store = folder.file("contradiction.sqlite")
      let outcome = try importing(
        [try write("c.jsonl", lines.joined(separator: "\n"))], ["--validate", "none"], to: store)
      #expect(outcome.code == code && words.allSatisfy(outcome.error.contains), "\(lines): \(outcome)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
  }

  @Test("Wrong lines may be left out up to a number, with a list of them; a missing value is wrong by default")
  func rejects() throws {
    let path = try write(
      "some.jsonl",
      """
      {"entity":"User","key":1,"attributes":{"name":"Ann","userId":1}}
      {"entity":"User","key":2,"attributes":{"userId":"x"}}
      {"entity":"Nobody"}
      """)
    let (store, list) = (folder.file("some.sqlite"), folder.newPath("rejects.csv"))
    #expect(try importing([path], ["--max-rejects", "1"], to: store).code == 11)
    // What a process left that was killed while it copied the list is replaced.
    try "left".write(toFile: list + ".part", atomically: false, encoding: .utf8)
    let outcome = try importing([path], ["--max-rejects", "2", "--rejects", list], to: store)
    #expect(outcome.code == 10 && outcome.output.contains("left out: 2 lines"), "\(outcome)")
    let text = try String(contentsOfFile: list, encoding: .utf8)
    #expect(!FileManager.default.fileExists(atPath: list + ".part"))
    #expect(text.split(separator: "\r\n").count == 3 && text.contains("jsonl\",\"2\",\"") && text.contains("Nobody"))
    #expect(try importing([path], ["--max-rejects", "9"], to: store).code == 20)
  }

  @Test("Killed at any moment, an import leaves no store or a whole one; the same command then gives the same bytes")
  func killed() throws {
    let path = try write("all.jsonl", try export(folder.sample(rows: 30_000)))
    let (whole, store) = (folder.newPath("whole.sqlite"), folder.file("killed.sqlite"))
    let begin = ContinuousClock.now
    #expect(try importing([path], ["--validate", "none"], to: whole).code == 0)
    let seconds = (ContinuousClock.now - begin) / .seconds(1)
    var kills = 0
    for part in 1...8 {
      let words = ["import", Self.library, path, "--version", "Library 1", "--validate", "none", "--output", store]
      let process = try CommandProcess("godwit", words, in: folder)
      usleep(UInt32(seconds * Double(part) / 9 * 1e6))
      guard process.isRunning else { continue }
      process.send(SIGKILL)
      guard try process.wait().code == 128 + SIGKILL else { continue }
      kills += 1
      // The store has its name, and the process had not ended.
      guard !FileManager.default.fileExists(atPath: store) else {
        #expect(try CommandFolder.bytes(store) == CommandFolder.bytes(whole), "\(part)")
        break
      }
    }
    try? FileManager.default.removeItem(atPath: store)
    #expect(try importing([path], ["--validate", "none"], to: store).code == 0)
    #expect(kills > 0)
    #expect(try CommandFolder.bytes(store) == CommandFolder.bytes(whole))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names == ["Library.sqlite", "killed.sqlite"])
  }

  /// Stores that carry their model and are sound.
  static let real = ExampleCorpus.isPresent ? stores() : []

  private static func stores() -> [String] {
    let root = ExampleCorpus.root + "/stores"
    let names = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    return names.filter { name in
      [".sqlite", ".moody", ".wiredatabase", ".storedata"].contains { name.hasSuffix($0) }
    }.sorted()
  }

  @Test(
    "Export, import, export: equal for every store of the corpus that carries its model",
    .enabled(if: ExampleCorpus.isPresent, "set GODWIT_CORPUS to the corpus"), arguments: real)
  func corpus(_ name: String) throws {
    let store = folder.file("Original.sqlite")
    for suffix in ["", "-wal"] {
      let source = ExampleCorpus.root + "/stores/" + name + suffix
      guard FileManager.default.fileExists(atPath: source) else { continue }
      try FileManager.default.copyItem(atPath: source, toPath: store + suffix)
    }
    let words = ["--to-many", "--dates", "seconds"]
    let exported = try folder.run("godwit", ["export", store] + words)
    // Some carry no model, and keys of some lead nowhere.
    guard exported.code == 0 else { return }
    let isDamaged = try folder.run("godwit", ["verify", store]).output.contains("leads to no row")
    let path = try write("all.jsonl", exported.output)
    let again = folder.file("Again.sqlite")
    let outcome = try folder.run(
      "godwit",
      ["import", store, path, "--validate", "none", "--output", again] + (isDamaged ? ["--allow-dangling"] : []))
    #expect(outcome.code == 0, "\(name): \(outcome.error)")
    guard outcome.code == 0 else { return }
    let second = try folder.run("godwit", ["export", again] + words)
    #expect(second.output == exported.output, "\(name)")
  }
}
