import Foundation
import Testing

@testable import Fleets
@testable import SwiftDataModels

private let hasGit = (try? GitCommand.run(["--version"], input: ""))?.code == 0

@Suite(
  "Fleets whose models are sources of SwiftData",
  .enabled(if: SourceParser.isThere && hasGit, "built without SwiftData, or no git"))
struct SwiftFleetTests {
  private let folder: CommandFolder
  private let sources: SchemaSources

  /// A repository with sources on the branch `main`.
  init() throws {
    folder = try CommandFolder(readsSwift: true)
    sources = try SchemaSources(folder.newPath("App"), [SchemaSources.first, SchemaSources.second])
    try git("git init -q -b main .; git config user.name n; git config user.email e; git config commit.gpgsign false")
    try commit()
  }

  private func git(_ script: String) throws {
    let begin = "set -e; cd '\(sources.path)'; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1; "
    let done = try folder.run("godwit", [], launcher: ["/bin/bash", "-c", begin + script])
    try #require(done.code == 0, "\(done)")
  }

  private func commit() throws { try git("git add -A; git commit -qm change --allow-empty") }

  private func fleet(_ models: String) throws -> FleetFolder {
    let made = try folder.run(
      "godwit",
      ["sample", sources.path, "--version", "1.0.0", "--rows", "20", "--output", folder.file("a.store")])
    try #require(made.code == 0, "\(made)")
    try "\(folder.file("a.store"))\n".write(toFile: folder.file("list"), atomically: true, encoding: .utf8)
    return try FleetFolder(folder, list: folder.file("list"), program: "godwit", options: ["--models", models])
  }

  @Test("A branch that moved since the plan was made is refused as changed models; put back, the fleet runs")
  func movedBranch() throws {
    let fleet = try fleet(sources.path + "@main")
    try git("git branch kept")
    try sources.write([SchemaSources.first, SchemaSources.second + "; var extra: Int = 0"])
    try commit()
    let refused = try fleet.run(["run"])
    #expect(refused.code == 20 && refused.error.contains("models or mappings were changed"), "\(refused)")
    try git("git reset -q --hard kept")
    let done = try fleet.run(["run"])
    #expect(done.code == 0, "\(done)")
    #expect(try fleet.end(0)?.outcome == .done)
  }

  @Test("What no model is made of changes nothing: commits of the same files, hidden files, other files")
  func otherFiles() throws {
    let fleet = try fleet(sources.path)
    try commit()
    try "x".write(toFile: sources.path + "/.hidden", atomically: true, encoding: .utf8)
    try "x".write(toFile: sources.path + "/Notes.txt", atomically: true, encoding: .utf8)
    let done = try fleet.run(["run"])
    #expect(done.code == 0, "\(done)")
    try sources.write([SchemaSources.first])
    #expect(try fleet.run(["run"]).code == 20)
  }
}
