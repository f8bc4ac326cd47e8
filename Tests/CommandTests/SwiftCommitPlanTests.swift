import Foundation
import Testing

@testable import SwiftDataModels

@Suite(
  "A version that was edited after it shipped, by its tag",
  .enabled(
    if: SourceParser.isThere && (try? GitCommand.run(["--version"], input: ""))?.code == 0,
    "built without SwiftData, or no git"))
struct SwiftCommitPlanTests: StagedSources {
  let folder: CommandFolder

  init() throws { folder = try CommandFolder(readsSwift: true) }

  /// Sources whose first version was edited since the tag 1.0; the stage from it to the second runs code.
  private func edited() throws -> (sources: String, store: String) {
    let sources = folder.newPath("App")
    try FileManager.default.createDirectory(atPath: sources, withIntermediateDirectories: true)
    func write(_ first: String) throws {
      let versions = [first, "var text: String; var words = 0"].enumerated().map { place, members in
        """
        enum V\(place + 1): VersionedSchema {
          static let versionIdentifier = Schema.Version(\(place + 1), 0, 0)
          static var models: [any PersistentModel.Type] { [Note.self] }
          @Model class Note { \(members) }
        }

        """
      }
      let plan = """
        enum Plan: SchemaMigrationPlan {
          static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
          static let stages = [MigrationStage.custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: run)]
        }
        """
      try (versions.joined() + plan).write(toFile: sources + "/S.swift", atomically: true, encoding: .utf8)
    }
    try write("var text: String")
    let identity = ["user.name=n", "user.email=e", "commit.gpgsign=false", "tag.gpgsign=false"].flatMap { ["-c", $0] }
    for words in [["init", "-q", "."], ["add", "-A"], ["commit", "-q", "-m", "1"], ["tag", "1.0"]] {
      try #require(try GitCommand.run(["-C", sources] + identity + words, input: "").code == 0)
    }
    let store = try store(sources)
    try write("var text: String?")
    return (sources, store)
  }

  @Test("In whatever order the paths are, and by --versions, no step is inferred past its stage with code")
  func order() throws {
    let (sources, store) = try edited()
    let tag = sources + "@1.0"
    for paths in [[sources, tag], [tag, sources]] {
      let refused = try folder.run("godwit", ["plan", store, "--models"] + paths)
      #expect(
        refused.code == 20 && refused.error.contains("the step 1.0.0 to 2.0.0 needs a mapping model"), "\(refused)")
      let advice = "mapping init 1.0.0 2.0.0 --models \(paths.joined(separator: " "))"
      #expect(refused.error.contains("its stage runs code") && refused.error.contains(advice), "\(refused)")
      let words = ["migrate", store, "--models"] + paths + ["--versions", "1.0.0@1.0,2.0.0"]
      let passed = try folder.run("godwit", words)
      #expect(passed.code == 20 && passed.error.contains("its stage runs code of the application"), "\(passed)")
    }
    // Up to the version before the stage nothing is in the way.
    #expect(try folder.run("godwit", ["plan", store, "--models", sources, tag, "--to", "1.0.0"]).code == 0)
  }
}
