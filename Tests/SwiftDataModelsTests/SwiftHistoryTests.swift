import CoreDataModel
import Testing

@testable import SwiftDataModels

@Suite("Versions of several commits", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftHistoryTests {
  /// Sources with these versions, by their numbers and members; a stage with code leads from one to another.
  private func schema(_ versions: [(Int, String)], stage: (Int, Int)? = nil) throws -> SwiftDataSchema {
    let types = versions.map { number, members in
      """
      enum V\(number): VersionedSchema {
        static let versionIdentifier = Schema.Version(\(number), 0, 0)
        static var models: [any PersistentModel.Type] { [A.self] }
        @Model class A { \(members) }
      }

      """
    }
    let stages = stage.map { from, to in
      ".custom(fromVersion: V\(from).self, toVersion: V\(to).self, willMigrate: nil, didMigrate: { _ in })"
    }
    let plan = """
      enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [\(versions.map { "V\($0.0).self" }.joined(separator: ", "))] }
        static var stages: [MigrationStage] { [\(stages ?? "")] }
      }
      """
    return try SwiftText(types.joined() + plan).schema()
  }

  /// The versions in their order, and why the step between two of them cannot be inferred.
  private struct History {
    let versions: [ManagedObjectModel]
    let migrations: DeclaredMigrations
    var names: [String] { versions.map(\.name) }

    init(_ parts: [(SwiftDataSchema, String?)]) {
      var (history, migrations) = (VersionHistory(), DeclaredMigrations())
      for (schema, revision) in parts {
        history.add(schema.versions, revision: revision)
        schema.declare(&migrations)
      }
      migrations.places = history.places
      (versions, self.migrations) = (history.versions, migrations)
    }

    func refusal(_ from: String, _ to: String) throws -> String? {
      let ends = try [from, to].map { name in try #require(versions.first { $0.name == name }).versionChecksum }
      return migrations.refusal(from: ends[0], to: ends[1], order: versions.map(\.versionChecksum))
    }
  }

  private let one = "var a: Int"
  private let two = "var a: Int; var b: Int"
  private let three = "var c: Int"

  @Test("A version of a commit comes before that of its name, and another one where its number says")
  func order() throws {
    let edited = try schema([(1, one), (2, two)])
    let files = try schema([(1, "var a: Int?"), (2, two), (3, three)])
    #expect(History([(edited, "1.0"), (files, nil)]).names == ["1.0.0@1.0", "1.0.0", "2.0.0", "3.0.0"])
    let late = try schema([(2, one), (3, three)])
    #expect(History([(late, "2.0"), (edited, "1.0")]).names == ["1.0.0", "2.0.0@2.0", "2.0.0@1.0", "3.0.0"])
    #expect(try History([(late, "2.0"), (schema([(1, one)]), "1.0")]).names == ["1.0.0", "2.0.0", "3.0.0"])
    // The plan's own order counts, not the numbers.
    #expect(try History([(schema([(3, three), (1, one)]), nil)]).names == ["3.0.0", "1.0.0"])
  }

  @Test("A step from an edited version passes over a stage with code; one to the version of its name does not")
  func stages() throws {
    let shipped = try schema([(1, one), (2, two)])
    let files = try schema([(1, "var a: Int?"), (2, two), (3, three)], stage: (1, 2))
    let first = History([(shipped, "1.0"), (files, nil)])
    #expect(try first.refusal("1.0.0@1.0", "2.0.0")?.hasPrefix("its stage runs code") == true)
    #expect(try first.refusal("1.0.0@1.0", "3.0.0")?.hasPrefix("it passes over a stage that runs code") == true)
    #expect(try first.refusal("1.0.0", "3.0.0")?.hasPrefix("it passes over a stage that runs code") == true)
    #expect(try first.refusal("1.0.0@1.0", "1.0.0") == nil)
    // What is at the second version has been through the stage already.
    let second = try History([
      (schema([(1, one), (2, "var b: Int")], stage: (1, 2)), "1.0"),
      (schema([(1, one), (2, two)], stage: (1, 2)), nil),
    ])
    #expect(second.names == ["1.0.0", "2.0.0@1.0", "2.0.0"])
    #expect(try second.refusal("2.0.0@1.0", "2.0.0") == nil)
    #expect(try second.refusal("1.0.0", "2.0.0@1.0")?.hasPrefix("its stage runs code") == true)
  }

  @Test("A version that came back under another number lets no step pass over a stage with code")
  func again() throws {
    let files = try schema([(1, two), (2, one), (3, three)], stage: (1, 2))
    let history = try History([(schema([(1, one)]), "1.0"), (files, nil)])
    #expect(try history.refusal("1.0.0", "2.0.0") != nil)
    #expect(try history.refusal("1.0.0", "3.0.0") != nil)
    #expect(try history.refusal("1.0.0@1.0", "3.0.0") != nil)
  }
}
