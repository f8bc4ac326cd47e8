import Foundation
import Testing

@testable import SwiftDataModels

@Suite("Migration plans of SwiftData in the command", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftPlanCommandTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder() }

  /// Three versions; `stage` leads from the second to the third. The second one's title is of the type `title`.
  private func sources(_ stage: String, title: String = "String") throws -> String {
    func version(_ number: Int, _ members: String) -> String {
      """
      enum V\(number): VersionedSchema {
        static let versionIdentifier = Schema.Version(\(number), 0, 0)
        static var models: [any PersistentModel.Type] { [Book.self] }
        @Model class Book { var title: \(number == 2 ? title : "String")\(members) }
      }

      """
    }
    let text =
      version(1, "") + version(2, "; var id: UUID = UUID(); var at = Date()")
      + version(3, "; var id: UUID = UUID(); var at = Date(); var shout: String = \"\"") + """
        enum Plan: SchemaMigrationPlan {
          static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self, V3.self] }
          static var stages: [MigrationStage] { [.lightweight(fromVersion: V1.self, toVersion: V2.self), last] }
          static let last = \(stage)
        }

        """
    let path = folder.newPath("App")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try text.write(toFile: path + "/Schema.swift", atomically: true, encoding: .utf8)
    return path
  }

  private static let custom =
    "MigrationStage.custom(fromVersion: V2.self, toVersion: V3.self, willMigrate: nil, didMigrate: { _ in })"
  private static let empty =
    "MigrationStage.custom(fromVersion: V2.self, toVersion: V3.self, willMigrate: nil, didMigrate: nil)"

  private func store(_ sources: String) throws -> String {
    let store = folder.file("Books.store")
    try? FileManager.default.removeItem(atPath: store)
    let made = try folder.run("godwit", ["sample", sources, "--version", "1.0.0", "--rows", "500", "--output", store])
    try #require(made.code == 0, "\(made)")
    return store
  }

  @Test("Lightweight stages, and custom ones without closures, are inferred")
  func inferred() throws {
    let sources = try sources(Self.empty)
    let done = try folder.run("godwit", ["migrate", try store(sources), "--models", sources])
    #expect(done.code == 0, "\(done)")
    #expect(try folder.run("godwit", ["models", sources]).output.contains("2.0.0 to 3.0.0: can be inferred"))
  }

  @Test("A stage with a closure is refused with file and line; the command of the advice begins its mapping file")
  func custom() throws {
    let sources = try sources(Self.custom)
    let store = try store(sources)
    let place = "its stage runs code of the application (\(sources)/Schema.swift:"
    for command in ["plan", "migrate"] {
      let refused = try folder.run("godwit", [command, store, "--models", sources])
      #expect(
        refused.code == 20 && refused.error.contains("the step 2.0.0 to 3.0.0 needs a mapping model: "), "\(refused)")
      #expect(refused.error.contains(place) && refused.error.contains("mapping init \(sources):2.0.0 \(sources):3.0.0"))
    }
    #expect(try folder.run("godwit", ["models", sources]).output.contains("needs a mapping model: " + place))
    // Up to the version before it, nothing is in the way.
    #expect(try folder.run("godwit", ["plan", store, "--models", sources, "--to", "2.0.0"]).code == 0)
    let begun = try folder.run("godwit", ["mapping", "init", sources + ":2.0.0", sources + ":3.0.0"])
    #expect(begun.code == 0, "\(begun)")
    let file = folder.newPath("Stage.yaml")
    let text = "from: 2.0.0\nto: 3.0.0\nentities:\n  - from: Book\n    attributes: { shout: $source.title }\n"
    for mapping in [begun.output, text] {
      try mapping.write(toFile: file, atomically: true, encoding: .utf8)
      let plan = try folder.run("godwit", ["plan", store, "--models", sources, "--mappings", file])
      #expect(plan.code == 0, "\(plan)")
    }
    let done = try folder.run("godwit", ["migrate", store, "--models", sources, "--mappings", file])
    #expect(done.code == 0, "\(done)")
    let rows = try ExampleFolder.rows(store, "SELECT count(*) AS n FROM ZBOOK WHERE ZSHOUT = ZTITLE")
    #expect(rows == ["[n:500]"])
  }

  @Test(
    "An inferred step does not pass over a stage with a closure, by --versions or past versions; a mapping file does")
  func passedOver() throws {
    let sources = try sources(Self.custom)
    let store = try store(sources)
    let words = ["plan", store, "--models", sources, "--versions", "1.0.0,3.0.0"]
    let message =
      "the step 1.0.0 to 3.0.0 needs a mapping model: it passes over a stage that runs code of the application"
    let refused = try folder.run("godwit", words)
    #expect(refused.code == 20 && refused.error.contains("\(message) (\(sources)/Schema.swift:"), "\(refused)")
    #expect(refused.error.contains("mapping init \(sources):1.0.0 \(sources):3.0.0"), "\(refused)")
    let begun = try folder.run("godwit", ["mapping", "init", sources + ":1.0.0", sources + ":3.0.0"])
    let file = folder.newPath("Both.yaml")
    try begun.output.write(toFile: file, atomically: true, encoding: .utf8)
    let plan = try folder.run("godwit", words + ["--mappings", file])
    #expect(plan.code == 0, "\(plan)")
    // The first step cannot be inferred, so that the only way is one past the version between.
    let past = try folder.run("godwit", ["plan", store, "--models", try self.sources(Self.custom, title: "Int")])
    #expect(past.code == 20 && past.error.contains(message), "\(past)")
    let free = try self.sources(Self.empty, title: "Int")
    #expect(try folder.run("godwit", ["plan", store, "--models", free]).code == 0)
  }

  @Test(
    "A default of UUID() or Date() is one value for all objects of a store, said in a note, and the same after a resume"
  )
  func evaluatedOnce() throws {
    let sources = try sources(Self.empty)
    let store = try store(sources)
    let note = "Book.id, Book.at: new in 2.0.0, with a default that is evaluated once"
    let plan = try folder.run("godwit", ["plan", store, "--models", sources, "--to", "2.0.0"])
    #expect(plan.output.contains(note) && plan.output.contains("uuid: per-row in a mapping file"), "\(plan)")
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

  @Test("Two stores of one version, and its sources, do not differ by what each evaluated for itself")
  func differences() throws {
    let sources = try sources(Self.empty)
    let (first, second) = (try store(sources), folder.file("Other.store"))
    let other = folder.file("Third.store")
    for output in [second, other] {
      let source = folder.newPath("Old.store")
      let made = try folder.run("godwit", ["sample", sources, "--version", "1.0.0", "--rows", "5", "--output", source])
      #expect(made.code == 0, "\(made)")
      let words = ["--models", sources, "--to", "2.0.0", "--output", output]
      #expect(try folder.run("godwit", ["migrate", source] + words).code == 0)
    }
    #expect(try folder.run("godwit", ["migrate", first, "--models", sources, "--to", "2.0.0"]).code == 0)
    for side in [second, other, sources + ":2.0.0"] {
      let diff = try folder.run("godwit", ["diff", first, side])
      #expect(diff.code == 0 && diff.output.contains("no difference"), "\(diff)")
    }
  }

  @Test("uuid: per-row gives each object a UUID of its own, the same in each run; other types refuse it")
  func perRow() throws {
    let sources = try sources(Self.empty)
    let store = try store(sources)
    let file = folder.newPath("Stage.yaml")
    func mapping(_ attributes: String) throws {
      let text = "from: 1.0.0\nto: 2.0.0\nentities:\n  - from: Book\n    attributes: { \(attributes) }\n"
      try text.write(toFile: file, atomically: true, encoding: .utf8)
    }
    func migrated(_ output: String) throws -> [String] {
      let path = folder.newPath(output)
      let done = try folder.run(
        "godwit",
        ["migrate", store, "--models", sources, "--mappings", file, "--to", "2.0.0", "--output", path])
      #expect(done.code == 0, "\(done)")
      return try ExampleFolder.rows(path, "SELECT hex(ZID) AS id FROM ZBOOK ORDER BY Z_PK")
    }
    try mapping("id: { uuid: per-row }")
    let begun = try folder.run("godwit", ["mapping", "init", sources + ":1.0.0", sources + ":2.0.0"])
    #expect(
      begun.output.contains("# All objects get the same Book.id. For one each: attributes: { id: { uuid: per-row } }"))
    let first = try migrated("One.store")
    #expect(Set(first).count == 500 && first[0].dropFirst(5 + 12).hasPrefix("4"), "\(first[0])")
    #expect(try migrated("Two.store") == first)
    for (attributes, message) in [
      ("at: { uuid: per-row }", "has uuid: per-row, and its type is date"),
      ("id: { uuid: once }", "uuid has one value: per-row"),
    ] {
      try mapping(attributes)
      let refused = try folder.run("godwit", ["plan", store, "--models", sources, "--mappings", file, "--to", "2.0.0"])
      #expect(refused.code == 20 && refused.error.contains(message), "\(refused)")
    }
  }
}
