import Foundation
import Testing

@testable import SwiftDataModels

@Suite("Defaults of SwiftData in the command", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftDefaultCommandTests: StagedSources {
  let folder: CommandFolder

  init() throws { folder = try CommandFolder(readsSwift: true) }

  @Test(
    "A default of UUID() or Date() is one value for all objects of a store, said in a note, and the same after a resume"
  )
  func evaluatedOnce() throws {
    let sources = try sources(Self.empty)
    let store = try store(sources)
    let note = "Book.id, Book.at: new in 2.0.0, with a default that is evaluated once"
    let plan = try folder.run("godwit", ["plan", store, "--models", sources, "--to", "2.0.0"])
    #expect(
      plan.output.contains(note) && plan.output.contains("with uuid: per-row or date: per-row in a mapping file"),
      "\(plan)")
    let stopped = try folder.run(
      "godwit", ["migrate", store, "--models", sources, "--to", "2.0.0", "--max-runtime", "1ms"])
    let done = stopped.code == 75 ? try folder.run("godwit", ["resume", store]) : stopped
    #expect(done.code == 0, "\(stopped) \(done)")
    let counts =
      "SELECT count(DISTINCT ZID) AS n, count(DISTINCT ZAT) AS d, min(length(ZID)) AS l, count(ZID) AS c FROM ZBOOK"
    #expect(try ExampleFolder.rows(store, counts) == ["[n:1 d:1 l:16 c:500]"])
    // It stays through the next version.
    let id = try ExampleFolder.rows(store, "SELECT DISTINCT hex(ZID) AS id, ZAT FROM ZBOOK")
    #expect(try folder.run("godwit", ["migrate", store, "--models", sources]).code == 0)
    #expect(try ExampleFolder.rows(store, "SELECT DISTINCT hex(ZID) AS id, ZAT FROM ZBOOK") == id)
  }

  @Test(
    "A default that is computed is refused with file and line if objects would get it, and a mapping file gives one")
  func computed() throws {
    let sources = try sources(Self.empty)
    let store = try store(sources)
    let text = try String(contentsOfFile: sources + "/Schema.swift", encoding: .utf8)
    let file = folder.newPath("Stage.yaml")
    for type in ["Date", "Date?"] {
      try text.replacing("var at = Date()", with: "\n  var at: \(type) = Calendar.current.startOfDay(for: .now)").write(
        toFile: sources + "/Schema.swift", atomically: true, encoding: .utf8)
      #expect(try folder.run("godwit", ["hash", sources]).code == 0)
      let words = ["plan", store, "--models", sources, "--to", "2.0.0"]
      let refused = try folder.run("godwit", words)
      let message = "the attribute at of 2.0.0 would have no value in 500 objects: its default is no literal"
      #expect(refused.code == 20 && refused.error.contains("\(message) (\(sources)/Schema.swift:10)"), "\(refused)")
      let begun = try folder.run("godwit", ["mapping", "init", sources + ":1.0.0", sources + ":2.0.0"])
      #expect(begun.output.contains("To do: Book.at has a default that is no literal (\(sources)/Schema.swift:10)"))
      try write("at: 0", to: file)
      let plan = try folder.run("godwit", words + ["--mappings", file])
      #expect(plan.code == 0, "\(plan)")
    }
  }

  @Test("The default of an enumeration is refused with its place, and a mapping file gives it one")
  func enumeration() throws {
    let sources = try sources(Self.empty)
    let (store, file) = (try store(sources), folder.newPath("Stage.yaml"))
    let text = try String(contentsOfFile: sources + "/Schema.swift", encoding: .utf8)
    let kind = "enum Kind: String, Codable { case short, long }\n"
    try (text.replacing("var at = Date()", with: "\n  var at: Kind = Kind.short") + kind).write(
      toFile: sources + "/Schema.swift", atomically: true, encoding: .utf8)
    let words = ["plan", store, "--models", sources, "--to", "2.0.0"]
    let refused = try folder.run("godwit", words)
    #expect(refused.code == 20 && refused.error.contains("its default is no literal (\(sources)/Schema.swift:10)"))
    try write("at: { date: per-row }", to: file)
    let moment = try folder.run("godwit", words + ["--mappings", file])
    #expect(moment.code == 20, "\(moment)")
    for value in ["{ value: short }", "'\"short\"'"] {
      try write("at: \(value)", to: file)
      let output = folder.newPath("New.store")
      let mapped = try folder.run("godwit", ["migrate"] + words[1...] + ["--mappings", file, "--output", output])
      #expect(mapped.code == 0, "\(mapped)")
      #expect(try ExampleFolder.rows(output, "SELECT DISTINCT ZAT FROM ZBOOK") == ["[ZAT:\"short\"]"])
    }
  }

  private func write(_ attributes: String, to file: String) throws {
    let text = "from: 1.0.0\nto: 2.0.0\nentities:\n  - from: Book\n    attributes: { \(attributes) }\n"
    try text.write(toFile: file, atomically: true, encoding: .utf8)
  }

  @Test(
    "uuid: per-row and date: per-row give each object its own, the UUIDs the same in each run, the moments in order")
  func perRow() throws {
    let sources = try sources(Self.empty)
    let (store, file) = (try store(sources), folder.newPath("Stage.yaml"))
    let begun = try folder.run("godwit", ["mapping", "init", sources + ":1.0.0", sources + ":2.0.0"])
    for (name, kind) in [("id", "uuid"), ("at", "date")] {
      let rule = "attributes: { \(name): { \(kind): per-row } }"
      #expect(begun.output.contains("# All objects get the same Book.\(name). For one each: \(rule)"), "\(begun)")
    }
    try write("id: { uuid: per-row }, at: { date: per-row }", to: file)
    let found = try [[], ["--max-runtime", "1ms"]].map { more in
      let path = folder.newPath("New.store")
      let words = ["migrate", store, "--output", path, "--models", sources, "--mappings", file, "--to", "2.0.0"]
      var done = try folder.run("godwit", words + more)
      if done.code == 75 { done = try folder.run("godwit", ["resume", path]) }
      #expect(done.code == 0, "\(done)")
      let early = "SELECT 1 FROM ZBOOK AS other WHERE other.Z_PK < ZBOOK.Z_PK AND other.ZAT >= ZBOOK.ZAT"
      #expect(try ExampleFolder.rows(path, "SELECT count(*) AS n FROM ZBOOK WHERE EXISTS (\(early))") == ["[n:0]"])
      return try ExampleFolder.rows(path, "SELECT hex(ZID) AS id FROM ZBOOK ORDER BY Z_PK")
    }
    #expect(Set(found[0]).count == 500 && found[0][0].dropFirst(5 + 12).hasPrefix("4"), "\(found[0][0])")
    #expect(found[0] == found[1])
  }

  @Test(
    "Rules for each row that cannot be are refused with what is wrong",
    arguments: [
      ("at: { uuid: per-row }", "has uuid: per-row, and its type is date"),
      ("id: { date: per-row }", "has date: per-row, and its type is uuid"),
      ("id: { uuid: once }", "uuid has to be repeatable, random, per-row"),
      ("at: { date: per-row, format: yyyy }", "takes neither format nor zone"),
    ])
  func refused(_ attributes: String, _ message: String) throws {
    let sources = try sources(Self.empty)
    let (store, file) = (try store(sources), folder.newPath("Stage.yaml"))
    try write(attributes, to: file)
    let words = ["plan", store, "--models", sources, "--mappings", file, "--to", "2.0.0"]
    let refused = try folder.run("godwit", words)
    #expect(refused.code == 20 && refused.error.contains(message), "\(refused)")
  }
}
