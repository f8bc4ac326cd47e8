import Foundation
import Testing

@Suite("One of a thing is one, in words")
struct SmallNumberTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder() }

  nonisolated(unsafe) private static let wrong =
    #/(?:^|[^0-9.,])1 (?:more )?(?:bytes|changes|checkpoints|columns|days|entities|fields|files|lines|links|objects|pages|properties|references|rows|steps|stores|tables|tasks|triggers|values|versions)\b/#

  private func expectCounted(
    _ words: [String], code: Int32 = 0, at location: SourceLocation = #_sourceLocation
  ) throws -> String {
    let outcome = try folder.run("book-migration", words)
    let text = outcome.output + outcome.error
    #expect(outcome.code == code, "\(words): \(text)", sourceLocation: location)
    #expect(text.firstMatch(of: Self.wrong)?.0 == nil, "\(words): \(text)", sourceLocation: location)
    return text
  }

  @Test("A store with one object: sample, inspect, plan, migrate, report, status, export and verify count it")
  func store() throws {
    let store = try folder.sample(rows: 1)
    let page = folder.newPath("page.html")
    let models = CommandFolder.models
    _ = try expectCounted(["inspect", store])
    _ = try expectCounted(["plan", store] + models)
    let part = folder.newPath("Part.sqlite")
    _ = try expectCounted(["sample", store, "--limit", "1", "--output", part])
    let log = folder.newPath("log")
    let migrated = try expectCounted(
      ["migrate", store, "--to", "Library 2", "--checkpoint-every", "1GB", "--log-file", log] + models)
    #expect(migrated.contains("1 row read in ") && migrated.contains(": 1 object read, 1 written"), "\(migrated)")
    #expect(migrated.contains(": 1 object (1 carried)"), "\(migrated)")
    let lines = try String(contentsOfFile: log, encoding: .utf8)
    #expect(lines.contains("Library 1 to Library 2, 1 step") && lines.firstMatch(of: Self.wrong) == nil, "\(lines)")
    _ = try expectCounted(["report", store, "--html", page, "--text"])
    #expect(try String(contentsOfFile: page, encoding: .utf8).firstMatch(of: Self.wrong) == nil)
    for words in [["status", store], ["verify", store], ["export", store, "User"]] { _ = try expectCounted(words) }
  }

  @Test("A list of one store, and a fleet of one store and one task")
  func list() throws {
    let store = try folder.sample(rows: 1)
    let list = folder.newPath("list.txt")
    try store.write(toFile: list, atomically: true, encoding: .utf8)
    let models = CommandFolder.models
    let planned = try expectCounted(["fleet", "plan", "--manifest", list, "--tasks", "1"] + models)
    #expect(planned.contains("1 store, ") && planned.contains(", 1 task of "), "\(planned)")
    #expect(try expectCounted(["plan", "--manifest", list] + models).hasPrefix("1 store: "))
    _ = try expectCounted(["migrate", "--manifest", list] + models)
    for verb in ["status", "report"] { _ = try expectCounted([verb, "--manifest", list]) }
  }
}
